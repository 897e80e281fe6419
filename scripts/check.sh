#!/usr/bin/env bash
# What a change must pass before others see it, in minutes: formats, clippy and the rules of the sources, the tests on the host, and one small system on each kind
# of processor. `make test` is everything.
set -uo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1
PASSED=0 FAILED=()
TIMEFORMAT='%U %S'

# Runs one part; prints its output only if it fails, and what it took of the processors.
part() { # name, command...
    local name="$1" log took
    shift
    log="$(mktemp)" took="$(mktemp)"
    if { time "$@" > "$log" 2>&1; } 2> "$took"; then PASSED=$((PASSED + 1)); else
        FAILED+=("$name")
        cat "$log"
    fi
    printf '%-24s %4d s of processors\n' "$name" "$(awk 'END { print int($1 + $2 + 0.5) }' "$took")"
    rm -f "$log" "$took"
}

part "formats, rules, clippy" scripts/lint.sh rustfmt rules texts c-format clippy
part "the tool" ./cofferdam --version
part "tests on the host" scripts/test.sh unit
part "a model of the soft core" make --no-print-directory -C rtl models MODELS=rtmmu
for board in mps2-an500 mps2-an505 xilinx-zynq-a9 ibex-rtmmu; do
    part "hello on $board" ./cofferdam run examples/hello/system.toml --board "$board"
done
[ "${#FAILED[@]}" = 0 ] || printf 'failed: %s\n' "${FAILED[@]}"
echo "$PASSED passed, ${#FAILED[@]} failed"
[ "${#FAILED[@]}" = 0 ]
