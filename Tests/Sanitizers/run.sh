#!/usr/bin/env bash
# Runs `swift test` under the thread and the address sanitizer; ends with 0 when neither told of anything.
#
#   Tests/Sanitizers/run.sh [thread|address]...     both, when none is named
#
# Each has a build of its own below .build/sanitized ($SANITIZED puts it elsewhere); the first takes some minutes.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
builds=${SANITIZED:-"$root/.build/sanitized"}
mkdir -p "$builds"

# The sanitizer is not to tell of a mutex that was waited for, and is to tell of a race beside one.
see_mutexes() {
  clang -O1 -g -Wall -Werror -shared -fPIC Tests/Sanitizers/seen_mutex.c -o "$builds/seen_mutex.so" -ldl || return 1
  swiftc -swift-version 6 -sanitize=thread -Onone Tests/Sanitizers/Races.swift -o "$builds/races" &&
    LD_PRELOAD="$builds/seen_mutex.so" "$builds/races" quiet || return 1
  if LD_PRELOAD="$builds/seen_mutex.so" "$builds/races" loud >"$builds/races.log" 2>&1; then
    echo "the thread sanitizer does not see a race"
    return 1
  fi
}

# Of `swift test` itself: what the sanitizer tells ends the tests with an error, and stands in a log that is looked
# through all the same.
sanitize() {
  local kind=$1 log="$builds/$1.log"
  swift build --build-tests --sanitize="$kind" --scratch-path "$builds/$kind" >"$log" 2>&1 ||
    { tail -n 40 "$log"; return 1; }
  local test=(swift test --skip-build --sanitize="$kind" --scratch-path "$builds/$kind")
  case $kind in
    thread)
      see_mutexes &&
        LD_PRELOAD="$builds/seen_mutex.so" "${test[@]}" >"$log" 2>&1
      ;;
    # The runtime of Swift keeps what it made until the end: that is not told of.
    address) ASAN_OPTIONS=detect_leaks=0 "${test[@]}" >"$log" 2>&1 ;;
    *) echo "no such sanitizer: $kind"; return 2 ;;
  esac || { tail -n 40 "$log"; echo "FAILED under the $kind sanitizer: see $log"; return 1; }
  if grep -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:' "$log"; then
    echo "FAILED under the $kind sanitizer: see $log"
    return 1
  fi
  grep -E 'Test run with' "$log"
  echo "nothing told by the $kind sanitizer"
}

[ $# -gt 0 ] || set -- thread address
for kind in "$@"; do sanitize "$kind"; done
