#!/usr/bin/env bash
# Installs the Debian packages of deploy/packages.txt that are missing.
#   deploy/install.sh run     what the server needs
#   deploy/install.sh test    what the server and its tests need
#   deploy/install.sh bench   what the server and its benchmarks need
# What would start as a service when it is installed (nginx, caddy, haproxy, redis-server) is not started.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
parts=${1:-run}
case $parts in run | test | bench) ;; *) echo "usage: deploy/install.sh run|test|bench" >&2; exit 64 ;; esac

wanted() {
  awk -v parts="$parts" '
    { sub(/#.*/, "") }
    /^\[/ { part = substr($1, 2, length($1) - 2); next }
    NF && (part == "run" || part == parts) { print $1 }' "$here/packages.txt"
}

missing=()
for package in $(wanted); do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  echo "installing: ${missing[*]}" >&2
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq >&2
  # Debian asks this program whether a service may start; where the machine has one of its own, that one is asked.
  policy=/usr/sbin/policy-rc.d
  if [ ! -e "$policy" ]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

command -v swift >/dev/null || {
  echo "the Swift toolchain (6.2 or later) is missing: https://www.swift.org/install/linux/" >&2
  exit 69
}
