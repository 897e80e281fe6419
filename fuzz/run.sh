#!/bin/sh
# Builds the fuzz target with coverage counters and runs it.   fuzz/run.sh [SECONDS]   (default 60)
# A stable compiler will do: the counters come from LLVM's pass, without a sanitizer. `cargo fuzz run calls` works as well, with
# a nightly compiler. An input that breaks is left in fuzz/artifacts; run it again with   fuzz/run.sh FILE
set -eu
cd "$(dirname "$0")"
TARGET="${CARGO_TARGET_DIR:-$PWD/../target}/fuzz"
HOST="$(rustc -vV | sed -n 's/^host: //p')"
mkdir -p corpus artifacts
FLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
FLAGS="$FLAGS -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1"
RUSTFLAGS="$FLAGS --cfg fuzzing" cargo build --release --target "$HOST" --target-dir "$TARGET"
PROGRAM="$TARGET/$HOST/release/calls"
if [ -f "${1:-}" ]; then exec "$PROGRAM" "$1"; fi
exec "$PROGRAM" -max_total_time="${1:-60}" -max_len=4096 -timeout=20 -artifact_prefix=artifacts/ corpus
