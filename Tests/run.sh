#!/usr/bin/env bash
# Installs what is missing, runs the checks and the tests, and closes with `N passed, N failed`. It takes less than a
# quarter of an hour on two cores.
#   Tests/run.sh          all but the long tests
#   Tests/run.sh --all    those too, after the others, one suite at a time
set -uo pipefail
case "$*" in "" | --all) ;; *) echo "usage: Tests/run.sh [--all]" >&2; exit 64 ;; esac
runs_long=$([ "$*" = --all ] && echo yes || echo no)
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
work="$root/.build/test-run"
rm -rf "$work" && mkdir -p "$work"
passed=0
failed=0

# One check that either holds or not.
check() {
  local name=$1
  shift
  echo "== $name"
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

# Adds what a test runner wrote as JUnit XML; a runner that wrote none has failed as a whole.
tally() {
  local name=$1 status=$2 report=$3 counts
  if ! counts=$(python3 "$root/Tests/count_junit.py" "$report" 2>/dev/null); then
    failed=$((failed + 1)); echo "FAILED: $name wrote no report"; return
  fi
  read -r good bad <<<"$counts"
  passed=$((passed + good)); failed=$((failed + bad))
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    failed=$((failed + 1)); echo "FAILED: $name ended with $status"
  fi
}

close() {
  echo
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

check "packages are installed" "$root/deploy/install.sh" test || true
check "sources are formatted" swift format lint --strict --recursive Package.swift Sources Tests
check "the page's scripts pass eslint" \
  env NODE_PATH=/usr/share/nodejs eslint --format unix --max-warnings 0 web

check "everything builds without a warning" \
  swift build --build-tests --explicit-target-dependency-import-check error
[ "$failed" -eq 0 ] || { close; exit 1; }

check "every public name of the libraries says what it is" \
  python3 Tests/check_documentation.py "$(swift build --show-bin-path)/Modules"

echo "== unit tests"
swift test --skip-build --parallel --xunit-output "$work/swift.xml" >"$work/swift.log" 2>&1
status=$?
tail -n 30 "$work/swift.log"
tally "swift test" "$status" "$work/swift-swift-testing.xml"

python="$root/.build/venv/bin/python"
cmp -s Tests/requirements.txt "$root/.build/venv/requirements.txt" || {
  rm -rf "$root/.build/venv"
  /usr/bin/python3 -m venv "$root/.build/venv" &&
    "$python" -m pip install -q --disable-pip-version-check -r Tests/requirements.txt &&
    cp Tests/requirements.txt "$root/.build/venv/requirements.txt"
}
check "the Python sources pass ruff" "$python" -m ruff check --quiet Tests

bin=$(swift build --show-bin-path)
export TIMERSYNC_SERVER="$bin/timersync" TIMERSYNC_ECHO="$bin/WebSocketEcho"
# A suite without its long tests, or what more arguments pick of it, as NAME; its output and status go to files, so that
# two can run side by side.
run_suite() { run_part "$1" "$1" -m "not long"; }

run_part() {
  local name=$1 suite=$2
  shift 2
  (cd "Tests/System/$suite" && "$python" -m pytest -q -rA --show-capture=no -p no:cacheprovider \
    --junitxml "$work/$name.xml" "$@" .) >"$work/$name.log" 2>&1
  echo $? >"$work/$name.status"
}

tell_suite() {
  echo "== $1"
  grep -vE '^PASSED ' "$work/$1.log" | tail -n 60
  tally "$1" "$(cat "$work/$1.status")" "$work/$1.xml"
}

# A check that runs beside others; told like a suite, at the end.
run_logged() {
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1
  echo $? >"$work/$name.status"
}

tell_check() {
  check "$2" test "$(cat "$work/$1.status")" = 0
  tail -n "$([ "$(cat "$work/$1.status")" = 0 ] && echo 12 || echo 60)" "$work/$1.log"
}

conformance=("$python" Tests/System/Conformance/run.py --echo "$TIMERSYNC_ECHO")
# The fuzzer is built and run in what the others leave. First come those that mind to be late; then those that keep the
# disk busy, for which ticks would wait, beside what does not mind; then the browsers, three of which want both cores; and
# those of their tests that are held to their milliseconds are alone at the end.
run_logged fuzz nice -n 19 Tests/Fuzz/run.sh 120 &
fuzz=$!
beside=()
run_part BlackBox BlackBox -n 2 --dist worksteal -m "not long" & beside+=($!)
run_suite Transport & beside+=($!)
wait "${beside[@]}"
beside=()
run_part Durability Durability -n 3 --dist worksteal -m "not long" & beside+=($!)
(run_logged conformance "${conformance[@]}"; run_suite Hostile) & beside+=($!)
wait "${beside[@]}"
run_part Browser Browser -n 3 --dist worksteal -m "not measured and not long"
wait "$fuzz"
run_part Browser-measured Browser -m "measured and not long"
for suite in BlackBox Durability Transport Hostile Browser Browser-measured; do tell_suite "$suite"; done
tell_check conformance "the transport conforms to RFC 6455"
tell_check fuzz "two minutes of the fuzzer find nothing"

if [ "$runs_long" = yes ]; then
  for suite in BlackBox Durability Transport Hostile Browser; do
    run_part "$suite-long" "$suite" -m long
    # pytest ends with 5 when a suite has no such test.
    [ "$(cat "$work/$suite-long.status")" = 5 ] || tell_suite "$suite-long"
  done
fi

close
