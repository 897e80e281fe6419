#!/usr/bin/env bash
# Runs what takes too long for every change, part by part, and notes what came of each: a part that has a result for this revision is not run again, so
# that the whole can be interrupted and goes on. Ends with the line "N passed, N failed", which counts parts.
#
#   scripts/test-long.sh [PART...]   all parts, or those named
#   scripts/test-long.sh --list      the parts
#   scripts/test-long.sh --table     results of this revision as the table of docs/hunt.md
#
# A part is a suite of `scripts/test.sh long`, `costs-BOARD` (the kernel's longest paths against what admission assumes), `hunt-BOARD` (300
# random systems; it resumes by itself, too), `bench` (the figures) or `bench-traces`. Results are in target/long/REVISION.
set -uo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
BOARDS=(mps2-an500 mps2-an505 xilinx-zynq-a9 ibex-rtmmu)
SYSTEMS=300
SEED=2
REVISION="$(git rev-parse --short HEAD)"
[ -z "$(git status --porcelain --untracked-files=no)" ] || REVISION="$REVISION-changed"
RESULTS="$COFFERDAM_TARGET/long/$REVISION"
TIMEFORMAT='%R %U %S'

parts() {
    scripts/test.sh --list-long
    printf 'costs-%s\n' "${BOARDS[@]}"
    printf 'hunt-%s\n' "${BOARDS[@]}"
    printf '%s\n' bench bench-traces
}

run_part() { # part
    case "$1" in
        costs-*) ./cofferdam costs --board "${1#costs-}" ;;
        hunt-*) scripts/hunt.sh --board "${1#hunt-}" --systems "$SYSTEMS" --seed "$SEED" --resume ;;
        bench) make --no-print-directory -C rtl models MODELS='rtmmu direct sv32 sv32tlb' && ./cofferdam bench ;;
        bench-traces) make --no-print-directory -C rtl models MODELS='rtmmu direct sv32 sv32tlb' && ./cofferdam bench --only traces ;;
        *) scripts/test.sh "$1" ;;
    esac
}

# What a part's log says at its end, on one line.
told() { # part
    case "$1" in
        costs-* | bench*) tail -n 1 "$RESULTS/$1.log" ;;
        hunt-*) grep -E 'harmed|systems' "$RESULTS/$1.log" | tail -n 1 ;;
        *) grep -E '^[0-9]+ passed, [0-9]+ failed$' "$RESULTS/$1.log" | tail -n 1 ;;
    esac
}

one() { # part: runs it, unless it has a result
    local part="$1" code=0
    [ -f "$RESULTS/$part.result" ] && return
    echo "== $part"
    { time run_part "$part" > "$RESULTS/$part.log" 2>&1; } 2> "$RESULTS/$part.time" || code=$?
    # Interrupted: no result, and the next call begins it again.
    [ "$code" -lt 128 ] || exit "$code"
    echo "$code" > "$RESULTS/$part.result"
    echo "$part: exit code $code; $(told "$part")"
}

table() {
    echo "| part, at $REVISION | result | seconds, of processors |"
    echo '| --- | --- | --- |'
    for part in "${PARTS[@]}"; do
        [ -f "$RESULTS/$part.result" ] || { echo "| $part | not run | |"; continue; }
        awk -v part="$part" -v code="$(cat "$RESULTS/$part.result")" -v told="$(told "$part")" \
            '{ gsub(/\|/, "", told); printf "| %s | %s%s | %d, %d |\n", part, code == 0 ? "" : "FAILED: ", told, $1, $2 + $3 }' "$RESULTS/$part.time"
    done
}

mapfile -t PARTS < <(parts)
case "${1:-}" in
    --list) printf '%s\n' "${PARTS[@]}"; exit ;;
    --table) table; exit ;;
esac
for part in "$@"; do
    case " ${PARTS[*]} " in *" $part "*) ;; *) echo "test-long: unknown part '$part'" >&2; exit 2 ;; esac
done
[ "$#" = 0 ] || PARTS=("$@")
mkdir -p "$RESULTS"
PASSED=0 FAILED=0
for part in "${PARTS[@]}"; do
    one "$part"
    if [ "$(cat "$RESULTS/$part.result")" = 0 ]; then PASSED=$((PASSED + 1)); else FAILED=$((FAILED + 1)); fi
done
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ]
