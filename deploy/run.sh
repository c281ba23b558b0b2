#!/usr/bin/env bash
# Installs what is missing, builds a release, and serves the page on http://127.0.0.1:8080.
# Arguments go to `timersync serve`: ./deploy/run.sh --port 9000 --data /srv/timers
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/deploy/install.sh" run
cd "$root"
swift build -c release --product timersync --explicit-target-dependency-import-check error >&2
exec "$(swift build -c release --show-bin-path)/timersync" serve "$@"
