#!/usr/bin/env bash
# Runs every suite, prints how long each took and how much of the processors, and ends with the line "N passed, N failed".
#
#   scripts/test.sh [SUITE...]   all suites, or only those named
#   scripts/test.sh --list-long  the suites of `long`
#   scripts/test.sh --changed    those that docs/contributing.md names for what differs from the last commit, or else for that commit
#
#   unit      crates, kernel and host tools, on the host
#   system    whole systems under QEMU: package cofferdam-tests in tests/suites; each of its test programs is a suite, and
#             `attacks`, `mutants` and so on run one alone
#   virtual   the kernel in virtual time, 200 000 random systems drawn (COFFERDAM_TIME_SYSTEMS); only when named
#   fuzz      instructions, frames, stack pointers of two hostile domains, 100 000 cases on each board (COFFERDAM_FUZZ_LIVES of each
#             domain, COFFERDAM_FUZZ_SEED, COFFERDAM_FUZZ_FIRST); only when named
#   gateway, gateway_a9, gateway_m33   the gateway on each board; only when named
#   NAME_long the tests of a suite, `unit` among them, that take too long for every change: those marked `#[ignore]`; only when named
#   long      all that runs only when named
#
# Everything is built first, then as many suites run at a time as there are processors (COFFERDAM_LANES, if set), the
# longest first. A suite that does not build, that ends without a summary of its own, or that passes with more runs
# under a simulator than tests/suites/runs.txt has, counts as one failure. Exit code 0 only
# when nothing failed and something passed.
set -uo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
cofferdam_find_rust
SYSTEM_PACKAGE=cofferdam-tests
# The longest, longest first: what begins last should not take long. Others follow in any order.
LONGEST=(mutants unit direct conformance gateway gateway_a9 endurance)
LANES="${COFFERDAM_LANES:-$(nproc)}"
LOGS="$COFFERDAM_TARGET/test-logs"
mkdir -p "$LOGS"
PASSED=0 FAILED=0 TIMES=() PROCESSOR=0
# Bash's `time` prints seconds of the processors: for programs, and in the kernel for them.
TIMEFORMAT='%U %S'
# Lines that the terminal need not show; the log holds everything.
NOISE='^(without .* succeeds \(.*|test .* \.\.\. ok|running [0-9]+ tests?|test result: ok\. 0 passed.*| +Downloaded .*| +Running .*| +Doc-tests .*|)$'

cargo_test() { "$COFFERDAM_HOST_CARGO" test --no-fail-fast --target-dir "$COFFERDAM_TARGET" "$@"; }

# With the profile of the tool, which checks overflows and assertions, too: what the tool is built from is not built a second time.
unit_test() { CARGO_INCREMENTAL=0 cargo_test --release "$@" "${UNIT[@]}"; }

# Every package with tests on the host, but for the system tests and what does not build here.
unit_packages() {
    printf '%s\n' --workspace --exclude "$SYSTEM_PACKAGE"
    cofferdam_chip_packages | sed 's/^/--exclude\n/'
}

system_suites() { (cd tests/suites/tests && printf '%s\n' *.rs) | sed 's/\.rs$//'; }

build() {
    # The soft core first, because its compilers and simulators are installed with it, and the systems below need them.
    local models=()
    case " ${SUITES[*]} " in *' rtl '* | *' rtl_long '*) make --no-print-directory -C rtl setup || return 1 ;; esac
    case " ${SUITES[*]} " in *' soft_core'* | *' c_programs '* | *' faults '* | *' attacks '* | *' mutants'* | *' conformance_long '* | *' services_long '*) models+=(rtmmu) ;; esac
    case " ${SUITES[*]} " in *' soft_core '* | *' soft_core_long '* | *' attacks_long '* | *' services_long '*) models+=(direct) ;; esac
    case " ${SUITES[*]} " in *' soft_core_long '* | *' attacks_long '* | *' services_long '*) models+=(sv32 sv32tlb) ;; esac
    [ "${#models[@]}" = 0 ] || make --no-print-directory -C rtl models MODELS="${models[*]}" || return 1
    # The tool is built through its wrapper, so that the tests use what users use.
    ./cofferdam --version || return 1
    case " ${SUITES[*]} " in *' unit '*) unit_test --no-run || return 1 ;; esac
    cargo_test --release --no-run -p "$SYSTEM_PACKAGE" || return 1
    # Mutants take over what their kernels share with these (tests/suites/src/attacks/mutants.rs).
    case " ${SUITES[*]} " in *' mutants '* | *' mutants_long '* | *' conformance_long '*)
        printf 'tests/%s.toml\n' attacks/system attacks/a9 attacks/m33 attacks/rv32 direct/hostile |
            xargs -P "$LANES" -n 1 env COFFERDAM_BUILT=1 ./cofferdam build --quiet || return 1 ;;
    esac
}

run_suite() { # name
    case "$1" in
        unit) unit_test ;;
        virtual)
            export COFFERDAM_TIME_SYSTEMS="${COFFERDAM_TIME_SYSTEMS:-200000}" COFFERDAM_TIME_SEED="${COFFERDAM_TIME_SEED:-100000}"
            cargo_test --release -p cofferdam-kernel no_response_is_above -- --nocapture ;;
        fuzz)
            export COFFERDAM_FUZZ_LIVES="${COFFERDAM_FUZZ_LIVES:-38000}"
            cargo_test --release -p "$SYSTEM_PACKAGE" --test endurance fuzz_beyond_calls -- --nocapture --test-threads=1 ;;
        mutants) cargo_test --release -p "$SYSTEM_PACKAGE" --test mutants -- --nocapture ;;
        # The kernel's ignored test is conformance's, which has an image for it.
        unit_long) cargo_test --release -p cofferdam-bench -p cofferdam-capi -- --ignored --nocapture ;;
        *_long) cargo_test --release -p "$SYSTEM_PACKAGE" --test "${1%_long}" -- --ignored --nocapture --test-threads=2 ;;
        lib) cargo_test --release -p "$SYSTEM_PACKAGE" --lib ;;
        *) cargo_test --release -p "$SYSTEM_PACKAGE" --test "$1" -- --test-threads=2 ;;
    esac
}

# Adds up the lines "test result: ok. 3 passed; 0 failed; ..." that Rust's test runner ends each binary with.
count() { # log, field
    awk -v field="$2" '/^test result: / { for (i = 2; i <= NF; i++) if ($i ~ "^" field) sum += $(i - 1) } END { print sum + 0 }' "$1"
}

ended() { # name, exit code
    local name="$1" code="$2" log="$LOGS/$1.log" passed failed runs may cycles
    echo "== $name"
    grep -vE "$NOISE" "$log" || true
    passed="$(count "$log" passed)" failed="$(count "$log" failed)"
    if [ "$code" != 0 ] && [ "$failed" = 0 ]; then
        echo "$name: ended with exit code $code and no failed test: counted as one failure"
        failed=1
    elif [ "$passed" = 0 ] && [ "$failed" = 0 ]; then
        echo "$name: no test ran: counted as one failure"
        failed=1
    fi
    runs="$(wc -l < "$LOGS/$name.runs")"
    may="$(awk -v name="$name" '$1 == name { print $2 }' tests/suites/runs.txt)"
    if [ "$failed" = 0 ] && [ "$runs" -gt "${may:-$runs}" ]; then
        echo "$name: $runs runs of systems, and tests/suites/runs.txt has $may: counted as one failure. Each run takes seconds of every \`make test\`: make room, or change that line in the same commit"
        failed=1
    fi
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed))
    processor_of "$name"
    cycles="$(awk '{ sum += $2 } END { printf "%d", sum / 1e6 }' "$LOGS/$name.runs")"
    TIMES+=("$(printf '%-15s %4d s, of processors %4d s  %5d passed  %3d failed  %4d runs, %6d million cycles  (%s)' "$name" $((SECONDS - BEGAN[$name])) "$TOOK" "$passed" "$failed" "$runs" "$cycles" "${log#"$ROOT"/}")")
}

# Seconds of processors that a step took, in TOOK; all are added up in PROCESSOR.
processor_of() { # name
    TOOK="$(awk 'END { print int($1 + $2 + 0.5) }' "$LOGS/$1.time")"
    PROCESSOR=$((PROCESSOR + TOOK))
}

if [ -z "$COFFERDAM_HOST_CARGO" ]; then
    echo "test: no usable Rust compiler; run scripts/setup.sh" >&2
    echo "0 passed, 1 failed"
    exit 1
fi
mapfile -t UNIT < <(unit_packages)
mapfile -t SYSTEM < <(system_suites)
SYSTEM+=(lib)
# Those that run only when named, and the others.
LONG=(virtual fuzz gateway gateway_a9 gateway_m33 stand_alone unit_long)
mapfile -t -O "${#LONG[@]}" LONG < <(cd tests/suites/tests && grep -l '^#\[ignore' -- *.rs | sed 's/\.rs$/_long/')
USUAL=()
for name in "${SYSTEM[@]}"; do case " ${LONG[*]} " in *" $name "*) ;; *) USUAL+=("$name") ;; esac; done
# Suites that the table of docs/contributing.md has for changed files: the row with the longest beginning of the path.
suites_for_changes() {
    { git diff --name-only HEAD; git ls-files --others --exclude-standard; } | sort -u > "$LOGS/changed"
    [ -s "$LOGS/changed" ] || git diff --name-only HEAD~1 HEAD > "$LOGS/changed"
    awk -F '`' 'NR == FNR { if (/^\| `/) suites[$2] = $4; next }
        match($0, "^tests/suites/tests/[a-z0-9_]+[.]rs$") { gsub("^tests/suites/tests/|[.]rs$", ""); print; next }
        { best = ""; for (path in suites) if (index($0, path) == 1 && length(path) > length(best)) best = path; if (best != "") print suites[best] }' \
        docs/contributing.md "$LOGS/changed" | tr ' ' '\n' | sort -u
}
if [ "${1:-}" = --changed ]; then
    mapfile -t CHANGED < <(suites_for_changes)
    [ "${#CHANGED[@]}" -gt 0 ] || { echo "nothing that a suite tests has changed"; exit 0; }
    echo "suites for what has changed: ${CHANGED[*]}"
    set -- "${CHANGED[@]}"
fi
[ "${1:-}" != --list-long ] || { printf '%s\n' "${LONG[@]}"; exit; }
WANTED=()
for name in "${@:-all}"; do
    case " unit ${SYSTEM[*]} ${LONG[*]} " in *" $name "*) WANTED+=("$name"); continue ;; esac
    case "$name" in
        all) WANTED+=(unit "${USUAL[@]}") ;;
        long) WANTED+=("${LONG[@]}") ;;
        system) WANTED+=("${USUAL[@]}") ;;
        *) echo "test: unknown suite '$name'" >&2; exit 2 ;;
    esac
done
SUITES=()
for name in "${LONGEST[@]}" "${WANTED[@]}"; do
    case " ${SUITES[*]} " in *" $name "*) continue ;; esac
    case " ${WANTED[*]} " in *" $name "*) SUITES+=("$name") ;; esac
done

echo "== build"
if ! { time build > "$LOGS/build.log" 2>&1; } 2> "$LOGS/build.time"; then
    cat "$LOGS/build.log"
    echo "0 passed, 1 failed"
    exit 1
fi
processor_of build
echo "built in $SECONDS s, of processors $TOOK s (${LOGS#"$ROOT"/}/build.log)"
# From here on ./cofferdam runs what is built.
export COFFERDAM_BUILT=1
# Each suite is a process group of its own, so that an interrupt ends all of it.
set -m
declare -A BEGAN NAME_OF
trap 'for job in "${!NAME_OF[@]}"; do kill -INT -- "-$job" 2> /dev/null; done; exit 130' INT TERM
running=0
one_ended() {
    local job code=0
    wait -n -p job || code=$?
    running=$((running - 1))
    ended "${NAME_OF[$job]}" "$code"
    unset "NAME_OF[$job]"
}
for name in "${SUITES[@]}"; do
    [ "$running" -lt "$LANES" ] || one_ended
    BEGAN[$name]=$SECONDS
    : > "$LOGS/$name.runs"
    # Each simulator that ends adds a line (sim/runner/src/run.rs).
    { time COFFERDAM_RUNS="$LOGS/$name.runs" run_suite "$name" > "$LOGS/$name.log" 2>&1; } 2> "$LOGS/$name.time" &
    NAME_OF[$!]="$name"
    running=$((running + 1))
done
while [ "$running" -gt 0 ]; do one_ended; done
echo
printf '%s\n' "${TIMES[@]}"
echo "all in $SECONDS s, of processors $PROCESSOR s"
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" = 0 ] && [ "$PASSED" -gt 0 ]
