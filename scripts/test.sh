#!/usr/bin/env bash
# Runs every suite, prints how long each took, and ends with the line "N passed, N failed".
#
#   scripts/test.sh [SUITE...]   all suites, or only those named
#
#   unit      crates, kernel and host tools, on the host
#   system    whole systems under QEMU: package cofferdam-tests in host/tests
#
# A suite that does not build, or that ends without a summary of its own, counts as one failure. Exit code 0 only when
# nothing failed and something passed.
set -uo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
cofferdam_find_rust
SYSTEM_PACKAGE=cofferdam-tests
LOGS="$COFFERDAM_TARGET/test-logs"
mkdir -p "$LOGS"
PASSED=0 FAILED=0 TIMES=()
# What the terminal need not show; the log holds everything.
NOISE='^(test .* \.\.\. ok|running [0-9]+ tests?|test result: ok\. 0 passed.*| +Downloaded .*|)$'

# Adds up the lines "test result: ok. 3 passed; 0 failed; ..." that Rust's test runner ends each binary with.
count() { # log, field
    awk -v field="$2" '/^test result: / { for (i = 2; i <= NF; i++) if ($i ~ "^" field) sum += $(i - 1) } END { print sum + 0 }' "$1"
}

suite() { # name, command...
    local name="$1" log="$LOGS/$1.log" start="$SECONDS" code=0 passed failed
    shift
    echo "== $name"
    "$@" 2>&1 | tee "$log" | grep --line-buffered -vE "$NOISE" || true
    code="${PIPESTATUS[0]}"
    passed="$(count "$log" passed)" failed="$(count "$log" failed)"
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then
        echo "$name: ended with exit code $code and no failed test: counted as one failure"
        failed=1
    elif [ "$passed" = 0 ] && [ "$failed" = 0 ]; then
        echo "$name: no test ran: counted as one failure"
        failed=1
    fi
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed))
    TIMES+=("$(printf '%-8s %4d s  %5d passed  %3d failed  (%s)' "$name" $((SECONDS - start)) "$passed" "$failed" "${log#"$ROOT"/}")")
}

cargo_test() { "$COFFERDAM_HOST_CARGO" test --no-fail-fast --target-dir "$COFFERDAM_TARGET" "$@"; }

unit() {
    local without=()
    [ -f host/tests/Cargo.toml ] && without=(--exclude "$SYSTEM_PACKAGE")
    while read -r name; do without+=(--exclude "$name"); done < <(cofferdam_chip_packages)
    suite unit cargo_test --workspace "${without[@]}"
}

# The tool is built through its wrapper, so that the tests use what users use.
system_tests() {
    ./cofferdam --version || return 1
    cargo_test --release -p "$SYSTEM_PACKAGE" -- --test-threads=2
}

if [ -z "$COFFERDAM_HOST_CARGO" ]; then
    echo "test: no usable Rust compiler; run scripts/setup.sh" >&2
    echo "0 passed, 1 failed"
    exit 1
fi
for name in "${@:-all}"; do
    case "$name" in
        all) unit; suite system system_tests ;;
        unit) unit ;;
        system) suite system system_tests ;;
        *) echo "test: unknown suite '$name'" >&2; exit 2 ;;
    esac
done
echo
printf '%s\n' "${TIMES[@]}"
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
