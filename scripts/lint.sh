#!/usr/bin/env bash
# Every check that needs no run: formatting, clippy, the layer rule, file sizes, features, portable code for further targets.
#
#   scripts/lint.sh [STEP...]   all steps, or only those named; the last lines of a run list them
#
# All steps run even when one fails. Exit code 0 only when all are clean.
set -uo pipefail
WANTED=" $* "

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT" || exit 1
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
cofferdam_find_rust
BARE_DIR="$COFFERDAM_TARGET/lint"
RESULTS=() BAD=0

step() { # name, command...
    local name="$1" start="$SECONDS" word=clean
    shift
    case "$WANTED" in '  ' | *" $name "*) ;; *) return ;; esac
    echo "== $name"
    "$@" || { word=FAILED; BAD=$((BAD + 1)); }
    RESULTS+=("$(printf '%-12s %-7s %4d s' "$name" "$word" $((SECONDS - start)))")
}

as_options() { sed 's/^/-p /' | tr '\n' ' '; }

host_cargo() { "$COFFERDAM_HOST_CARGO" "$@"; }
bare_cargo() {
    if [ "$COFFERDAM_BARE_KIND" = build-std ]; then
        RUSTC_BOOTSTRAP=1 RUSTC="$COFFERDAM_BARE_RUSTC" "$COFFERDAM_BARE_CARGO" "$@" -Zbuild-std=core,alloc --target-dir "$BARE_DIR"
    else
        RUSTC="$COFFERDAM_BARE_RUSTC" "$COFFERDAM_BARE_CARGO" "$@" --target-dir "$BARE_DIR"
    fi
}

format_rust() { host_cargo fmt --all --check; }

# Whatever runs on the host. The rest is checked by `bare`, with warnings denied too: clippy comes with rustup's compiler,
# which need not be the one that has a library for the chip.
clippy() {
    local others
    others="$(cofferdam_chip_packages | sed 's/^/--exclude /' | tr '\n' ' ')"
    # shellcheck disable=SC2086 # a list of options
    host_cargo clippy --quiet --workspace $others --all-targets --keep-going --target-dir "$COFFERDAM_TARGET" -- -D warnings
}

rules() { host_cargo run --quiet --target-dir "$COFFERDAM_TARGET" -p cofferdam-lint -- .; }

# Generated headers are not reformatted; they say so in their first lines. Nor are the inputs of golden texts, which are wrong on
# purpose.
c_sources() {
    find . \( -name target -o -name .git -o -name node_modules -o -path ./tests/golden \) -prune -o \( -name '*.c' -o -name '*.h' \) -print |
        while read -r file; do head -5 "$file" | grep -qE '@generated|Generated (by|from)' || echo "$file"; done
}
format_c() {
    local files
    files="$(c_sources)"
    [ -n "$files" ] || { echo "no C sources yet"; return 0; }
    # shellcheck disable=SC2086 # file names of this repository hold no blanks
    "$COFFERDAM_VENV/bin/clang-format" --dry-run -Werror $files
}

portable() {
    local target packages
    packages="$(for manifest in crates/*/Cargo.toml kernel/Cargo.toml tests/conformance/rows/Cargo.toml; do cofferdam_package_name "$manifest"; done | as_options)"
    for target in $COFFERDAM_LINT_TARGETS; do
        # shellcheck disable=SC2086 # a list of options
        RUSTFLAGS="-D warnings" bare_cargo build --quiet --lib --target "$target" $packages || return 1
        echo "crates and kernel build for $target"
    done
}

bare() {
    local target packages
    for target in $COFFERDAM_BARE_TARGETS; do
        packages="$(cofferdam_bare_packages "$target" | as_options)"
        [ -n "$packages" ] || continue
        # shellcheck disable=SC2086 # a list of options
        RUSTFLAGS="-D warnings" bare_cargo check --quiet --profile bare --target "$target" $packages || return 1
        # shellcheck disable=SC2086 # a list of options
        RUSTFLAGS="-D warnings" bare_cargo check --quiet --profile bare --target "$target" --examples $packages || return 1
        echo "$(printf '%s\n' "$packages" | grep -o -- '-p' | wc -l) packages for $target"
    done
}

# Rules of the repository's text: no address of a package registry, no path of one machine.
texts() {
    local found
    found="$(grep -rnIE '/(work|root|home)/[a-z]|(crates|pypi|npmjs|debian|rustup|rust-lang)\.(io|org)/|files\.pythonhosted' \
        --exclude-dir=target --exclude-dir=.git --exclude=.git --exclude-dir=node_modules --exclude=Cargo.lock --exclude=LICENSE --exclude=lint.sh . || true)"
    [ -z "$found" ] || { printf '%s\n' "$found"; return 1; }
}

# The tool, the tests of all packages, the hunt and the system tests are built one after the other. A package that one of them has with other
# features would be built again, and with it all that stands on it: tools/features asks for those features everywhere.
selected() { # option...
    host_cargo tree --quiet --prefix none --edges normal,build,dev --format '{p} [{f}]' "$@" |
        sed -E 's/ \((\*|proc-macro|\/[^)]*)\)//g' | sort -u
}
features() {
    local tool other others package differ
    tool="$(selected -p cofferdam -p cofferdam-plugin)" || return 1
    others="$(cofferdam_chip_packages | sed 's/^/--exclude /' | tr '\n' ' ')"
    for package in '-p cofferdam-hunt' '-p cofferdam-tests' "--workspace --exclude cofferdam-tests $others"; do
        # shellcheck disable=SC2086 # a list of options
        other="$(selected $package)" || return 1
        # A library that the other has in a further way, too, such as in its own code beside macros, is no second of the tool's.
        differ="$(awk '{ name = $1 " " $2 } NR == FNR { tool[name] = tool[name] $3; next } { of[name] = of[name] $3 }
            END { for (name in of) if (name in tool && !index(of[name], tool[name])) print name ": " tool[name] ", " of[name] }' \
            <(printf '%s\n' "$tool") <(printf '%s\n' "$other"))"
        [ -z "$differ" ] || { printf 'built twice, for the tool and %s:\n%s\n' "$package" "$differ"; return 1; }
    done
}

# History is read by people, in lists of one line each. Older ones stay as they are.
subjects() {
    local first=6b7b2676
    git cat-file -e "$first" 2> /dev/null || { echo "the history is not here"; return 0; }
    ! git log --format='%h %s' "$first..HEAD" | awk '{ subject = substr($0, index($0, " ") + 1) } length(subject) > 72' | grep .
}

step rustfmt format_rust
step features features
step rules rules
step texts texts
step subjects subjects
step c-format format_c
step clippy clippy
step portable portable
step bare bare
step rtl make --no-print-directory -C rtl lint
echo
[ "${#RESULTS[@]}" -gt 0 ] || { echo "lint: no such step:$WANTED" >&2; exit 2; }
printf '%s\n' "${RESULTS[@]}"
[ "$BAD" = 0 ]
