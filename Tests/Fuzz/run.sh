#!/usr/bin/env bash
# Fuzzes the way of a message through the server's middle for so many seconds: decoded, carried out, encoded.
#
#   Tests/Fuzz/run.sh SECONDS [libFuzzer's own options]
#
# Starts from the scripts in Tests/Fuzz/seeds and goes on with what earlier runs found, in .build/fuzzer/corpus.
# An input that ends the server is kept in Tests/Fuzz/seeds as crash-…, timeout-… or slow-…: from then on a test
# plays it. Ends with 0 when there was none. An input has a minute: one that hangs takes longer, a machine that stands
# still does not.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:?how many seconds?}
shift
cd "$root"
build=${TIMERSYNC_FUZZER_BUILD:-.build/fuzzer}
corpus="$build/corpus"
mkdir -p "$corpus"

export TIMERSYNC_FUZZER=1
options=(-c release --scratch-path "$build" -Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing -Xswiftc -use-ld=lld)
swift build "${options[@]}" --product MessageFuzzer >&2
fuzzer="$(swift build "${options[@]}" --show-bin-path)/MessageFuzzer"

# Swift's own report of a crash would come before libFuzzer's, which names the input.
SWIFT_BACKTRACE=enable=no exec "$fuzzer" \
  -max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 -max_len=2048 -print_final_stats=1 \
  -dict=Tests/Fuzz/messages.dict -artifact_prefix=Tests/Fuzz/seeds/ "$@" "$corpus" Tests/Fuzz/seeds
