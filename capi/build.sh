#!/bin/sh
# Builds libcofferdam_mem.a and puts it, with its header, into a directory.
#
#   capi/build.sh TARGET DIRECTORY    TARGET: thumbv7em-none-eabihf (Cortex-M4F, M7), thumbv7em-none-eabi, thumbv7m-none-eabi
#                                     (Cortex-M3), or `host` for tests on this computer
#
# A library for a chip needs `cfm_panic` from the program that it is linked with. COFFERDAM_CPU names a processor to tune for, as -mcpu
# of GCC does.
set -eu

HERE="$(cd "$(dirname "$(readlink -f "$0")")" && pwd)"
ROOT="$(dirname "$HERE")"
[ $# = 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
. "$ROOT/scripts/env.sh"
cofferdam_find_rust
mkdir -p "$2"
OUT="$(cd "$2" && pwd)"
BUILD="$COFFERDAM_TARGET/capi"
cd "$ROOT"

if [ "$1" = host ]; then
    [ -n "$COFFERDAM_HOST_CARGO" ] || { echo "build.sh: no Rust compiler found; run 'make setup'" >&2; exit 1; }
    "$COFFERDAM_HOST_CARGO" rustc --quiet --release -p cofferdam-capi --lib --crate-type staticlib --features hosted \
        --target-dir "$BUILD"
    LIBRARY="$BUILD/release/libcofferdam_mem.a"
else
    [ -n "$COFFERDAM_BARE_KIND" ] || { echo "build.sh: no bare-metal Rust compiler found; run 'make setup'" >&2; exit 1; }
    export RUSTC="$COFFERDAM_BARE_RUSTC" RUSTFLAGS="${COFFERDAM_CPU:+-C target-cpu=$COFFERDAM_CPU}"
    STD=
    if [ "$COFFERDAM_BARE_KIND" = build-std ]; then
        export RUSTC_BOOTSTRAP=1
        STD=-Zbuild-std=core
    fi
    # shellcheck disable=SC2086 # one option or none
    "$COFFERDAM_BARE_CARGO" rustc --quiet --profile bare -p cofferdam-capi --lib --crate-type staticlib --features firmware \
        --target "$1" --target-dir "$BUILD" $STD
    LIBRARY="$BUILD/$1/bare/libcofferdam_mem.a"
fi
cp "$LIBRARY" "$HERE/include/cofferdam_mem.h" "$OUT/"
