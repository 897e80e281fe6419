#!/usr/bin/env bash
# Bring a machine to the point where `make demo`, `make test` and `make bench` can run.
#
#   scripts/setup.sh            install what is missing, skip what is present
#   scripts/setup.sh --check    install nothing; list what is missing; exit 1 if something is
#   scripts/setup.sh --lint     also what only `make lint` needs (C formatter, rustfmt and clippy are checked)
#   scripts/setup.sh --cpp      also the library of C++ for domains (1.6 GB on the disk, 0.3 GB to fetch)
#   scripts/setup.sh --rtl      also what the soft core needs (compilers and a library of C for it, and simulator, prover and core as Python packages)
#   scripts/setup.sh --quiet    say nothing about what is already present
#
# Root is needed only while a Debian package is missing. Exit codes: 0 ready, 1 something is missing and could not be
# installed (the text says what), 2 wrong usage, 3 this system is not one the script can install packages on.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"

CHECK_ONLY=0 WANT_LINT=0 WANT_CPP=0 WANT_RTL=0 QUIET=0
usage() { sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
for arg in "$@"; do
    case "$arg" in
        --check) CHECK_ONLY=1 ;;
        --lint) WANT_LINT=1 ;;
        --cpp) WANT_CPP=1 ;;
        --rtl) WANT_RTL=1 ;;
        --quiet) QUIET=1 ;;
        -h | --help) usage; exit 0 ;;
        *) echo "setup: unknown option '$arg'" >&2; usage >&2; exit 2 ;;
    esac
done

say() { printf 'setup: %s\n' "$*"; }
present() { [ "$QUIET" = 1 ] || printf 'setup:   have     %s\n' "$*"; }
MISSING=()          # Debian packages to install from the machine's own release
MISSING_WHY=()      # one line for each thing that is missing, whatever installs it
NEED_QEMU=0 NEED_RUST=0
absent() { MISSING_WHY+=("$1"); printf 'setup:   missing  %s\n' "$1"; }

# --- what has to be there ------------------------------------------------------------------------------------------

# command, Debian package, what it is for
TOOLS='gcc|gcc libc6-dev|host C compiler (build scripts of crates, host tests of C sources)
make|make|the targets of the Makefile
arm-none-eabi-gcc|gcc-arm-none-eabi|C compiler and linker for Cortex-M domains
gdb-multiarch|gdb-multiarch|cofferdam debug
sqlite3|sqlite3|the independent results that the store domain is compared with
chromium|chromium|the test that opens the report page
python3|python3|tests that compute results with numpy
timeout|coreutils|every QEMU run has a time limit'
RTL_TOOLS='riscv64-unknown-elf-gcc|gcc-riscv64-unknown-elf|programs for the soft core
g++|g++|the simulator compiles the soft core as C++
perl|perl|the simulator begins as a script'

check_tools() { # list
    local cmd pkg why
    while IFS='|' read -r cmd pkg why; do
        if command -v "$cmd" > /dev/null 2>&1; then present "$cmd"; else
            absent "$cmd ($why)"
            # shellcheck disable=SC2206 # a list of package names
            MISSING+=($pkg)
        fi
    done <<< "$1"
}

# A library for a chip, which only its compiler finds.
check_library() { # compiler with flags, file, name, what for, package
    local compiler
    read -ra compiler <<< "$1"
    if command -v "${compiler[0]}" > /dev/null 2>&1 && [ -e "$("${compiler[@]}" "-print-file-name=$2")" ]; then
        present "$3"
    else
        absent "$3 ($4)"
        MISSING+=("$5")
    fi
}

# Parts that no command on PATH shows.
check_libraries() {
    local m7="-mcpu=cortex-m7 -mthumb -mfloat-abi=hard"
    check_library "arm-none-eabi-gcc $m7" libc.a "newlib for Cortex-M7" "C library of domains" libnewlib-arm-none-eabi
    if [ "$WANT_CPP" = 1 ]; then
        check_library "arm-none-eabi-g++ $m7" libstdc++.a "libstdc++ for Cortex-M7" "library of domains in C++" \
            libstdc++-arm-none-eabi-newlib
    fi
    if [ "$WANT_RTL" = 1 ]; then
        check_library riscv64-unknown-elf-gcc picolibc.specs "picolibc for the soft core" "C library of domains" \
            picolibc-riscv64-unknown-elf
        check_library g++ libz.so "zlib for waveforms" "models of the soft core that write them" zlib1g-dev
        check_library g++ liblz4.so "lz4 for waveforms" "models of the soft core that write them" liblz4-dev
    fi
    if [ -x "$COFFERDAM_VENV/bin/python" ] || python3 -c 'import ensurepip, venv' > /dev/null 2>&1; then
        present "python3 venv"
    else
        absent "python3 venv (project-local Python packages)"
        MISSING+=(python3-venv)
    fi
    if [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -n "${SSL_CERT_FILE:-}" ]; then
        present "certificates"
    else
        absent "ca-certificates (to fetch crates and wheels)"
        MISSING+=(ca-certificates)
    fi
}

qemu_version() { qemu-system-arm --version 2> /dev/null | sed -n '1s/.*version \([0-9.]*\).*/\1/p'; }

check_qemu() {
    local have
    have="$(qemu_version || true)"
    case "$have" in
        "$COFFERDAM_QEMU".*) present "qemu-system-arm $have" ;;
        *)
            absent "qemu-system-arm $COFFERDAM_QEMU (found: ${have:-none})"
            NEED_QEMU=1
            ;;
    esac
}

# Bare-metal code needs either a rustup that holds the targets or a compiler that comes with its library source.
check_rust() {
    if [ -n "$COFFERDAM_HOST_CARGO" ]; then present "host cargo: $COFFERDAM_HOST_CARGO"; else
        absent "a Rust compiler of at least $COFFERDAM_RUST_MIN for host code"
        NEED_RUST=1
    fi
    if [ -n "$COFFERDAM_BARE_KIND" ]; then present "bare-metal Rust: $COFFERDAM_BARE_KIND"; else
        absent "a Rust compiler with its library source or with the bare-metal targets"
        NEED_RUST=1
    fi
}

# A rustup that can fetch the targets is preferred to a second compiler; where its server cannot be reached this fails
# within the time limit and Debian's compiler is used.
try_rustup() {
    [ -z "$COFFERDAM_BARE_KIND" ] && command -v rustup > /dev/null 2>&1 || return 0
    say "asking rustup for $COFFERDAM_BARE_TARGETS"
    # shellcheck disable=SC2086 # a list of targets
    if timeout 120 rustup target add $COFFERDAM_BARE_TARGETS $COFFERDAM_LINT_TARGETS > /dev/null 2>&1; then
        cofferdam_find_rust
    else
        say "rustup cannot fetch it here"
    fi
}

# --- Debian --------------------------------------------------------------------------------------------------------

os_field() { sed -n "s/^$1=//p" /etc/os-release 2> /dev/null | tr -d '"' | head -1; }
apt_quiet() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" > "$APT_LOG" 2>&1 || {
        echo "setup: apt-get $* failed; the end of its output:" >&2
        tail -n 25 "$APT_LOG" >&2
        return 1
    }
}

# Prints the machine's own Debian source entries with the suite changed to the backports of this release. Both forms
# are understood: stanzas (*.sources) and one-line entries (*.list). Nothing but the suite is altered, so mirrors,
# proxies and keys stay what the machine uses already.
backports_stanzas() { # codename
    local f
    for f in /etc/apt/sources.list.d/*.sources; do
        [ -e "$f" ] || continue
        awk -v code="$1" 'BEGIN { RS = ""; FS = "\n" }
            {
                own = 0; text = ""
                for (i = 1; i <= NF; i++) {
                    line = $i
                    if (line ~ /^#/) continue
                    if (line ~ /^Suites:/) {
                        n = split(line, word, /[ \t]+/)
                        for (j = 2; j <= n; j++) if (word[j] == code) own = 1
                        line = "Suites: " code "-backports"
                    }
                    if (line ~ /^Enabled:[ \t]*no/) { own = 0; break }
                    text = text line "\n"
                }
                if (own && text ~ /Types:[^\n]*deb/) { print text; exit }
            }' "$f"
    done
}
backports_lines() { # codename
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2> /dev/null || true; } |
        awk -v code="$1" '$1 == "deb" {
            for (i = 2; i <= NF; i++) if ($i == code) { $i = code "-backports"; print; exit }
        }'
}

add_backports() { # codename
    local text target
    text="$(backports_stanzas "$1")" target=/etc/apt/sources.list.d/cofferdam-backports.sources
    if [ -z "$text" ]; then
        text="$(backports_lines "$1")" target=/etc/apt/sources.list.d/cofferdam-backports.list
    fi
    if [ -z "$text" ]; then
        echo "setup: no Debian source entry for '$1' found under /etc/apt; add $1-backports by hand" >&2
        return 1
    fi
    say "adding $1-backports to the package sources ($target)"
    printf '%s\n' "$text" > "$target"
    apt_quiet update
}

qemu_candidates() { apt-cache madison qemu-system-arm 2> /dev/null | awk '{ print $3 }'; }

install_qemu() { # codename
    if ! qemu_candidates | grep -q "^1:$COFFERDAM_QEMU\."; then add_backports "$1"; fi
    local version
    version="$(qemu_candidates | grep "^1:$COFFERDAM_QEMU\." | head -1 || true)"
    if [ -z "$version" ]; then
        echo "setup: the package sources hold no QEMU $COFFERDAM_QEMU (they hold: $(qemu_candidates | tr '\n' ' '))." >&2
        echo "setup: install QEMU $COFFERDAM_QEMU.x with plug-in support yourself and put it on PATH." >&2
        return 1
    fi
    say "installing qemu-system-arm and qemu-system-misc $version"
    case "$version" in
        *~bpo*) apt_quiet install -y --no-install-recommends -t "$1-backports" qemu-system-arm qemu-system-misc ;;
        *) apt_quiet install -y --no-install-recommends qemu-system-arm qemu-system-misc ;;
    esac
}

# `rustc-web` is the newer compiler that Debian 12 carries; a later release's own `rustc` is new enough.
rust_packages() {
    if apt-cache show rustc-web > /dev/null 2>&1; then echo rustc-web cargo-web rust-web-src; else echo rustc cargo rust-src; fi
}

# A library may be backported already (an earlier QEMU): packages that depend on it in that very version have to follow.
install_packages() { # codename, package...
    local code="$1"
    shift
    DEBIAN_FRONTEND=noninteractive apt-get -qq -s install --no-install-recommends "$@" > /dev/null 2>&1 ||
        set -- -t "$code-backports" "$@"
    apt_quiet install -y --no-install-recommends "$@"
}

install_debian() {
    local code
    code="$(os_field VERSION_CODENAME)"
    APT_LOG="$(mktemp)"
    trap 'rm -f "$APT_LOG"' EXIT
    say "reading the package lists"
    apt_quiet update
    if [ "$NEED_RUST" = 1 ]; then
        local rust
        rust="$(rust_packages)"
        say "installing $rust"
        # shellcheck disable=SC2086 # a list of package names
        install_packages "$code" $rust
    fi
    if [ "${#MISSING[@]}" -gt 0 ]; then
        say "installing ${MISSING[*]}"
        install_packages "$code" "${MISSING[@]}"
    fi
    # Last, because it may raise libraries to their backported version, which the packages above then follow.
    if [ "$NEED_QEMU" = 1 ]; then install_qemu "$code"; fi
}

other_system() {
    cat >&2 << TEXT
setup: this is not a Debian system, so nothing can be installed for you. Install these, then run the script again:
    QEMU $COFFERDAM_QEMU.x (qemu-system-arm, with plug-ins enabled)
    Rust >= $COFFERDAM_RUST_MIN by rustup, with the targets $COFFERDAM_BARE_TARGETS(or with rust-src)
    arm-none-eabi-gcc with newlib, a host gcc, make, gdb-multiarch (or a gdb that knows arm)
    python3 with venv, sqlite3, chromium (for the report test)
TEXT
}

# --- project-local Python ------------------------------------------------------------------------------------------

python_ready() { # requirements file
    [ -f "$COFFERDAM_VENV/.$(basename "$1")" ] && cmp -s "$1" "$COFFERDAM_VENV/.$(basename "$1")"
}
install_python() { # requirements file
    if python_ready "$1"; then
        present "Python packages of $(basename "$1")"
        return
    fi
    if [ "$CHECK_ONLY" = 1 ]; then
        absent "Python packages of $(basename "$1")"
        return
    fi
    say "installing the Python packages of scripts/$(basename "$1") under target/venv"
    [ -x "$COFFERDAM_VENV/bin/python" ] || python3 -m venv "$COFFERDAM_VENV"
    "$COFFERDAM_VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1"
    cp "$1" "$COFFERDAM_VENV/.$(basename "$1")"
}

check_lint_tools() {
    if cargo_has_fmt_and_clippy; then present "rustfmt and clippy"; else
        absent "rustfmt and clippy (rustup component add rustfmt clippy; Debian's rustc-web has neither)"
        return 1
    fi
}

# --- the run -------------------------------------------------------------------------------------------------------

run_checks() {
    MISSING=() MISSING_WHY=() NEED_QEMU=0 NEED_RUST=0
    cofferdam_find_rust
    check_tools "$TOOLS"
    [ "$WANT_RTL" = 0 ] || check_tools "$RTL_TOOLS"
    check_libraries
    check_qemu
    check_rust
}

install_system() {
    case " $(os_field ID) $(os_field ID_LIKE) " in
        *" debian "*) ;;
        *) other_system; exit 3 ;;
    esac
    if [ "$(id -u)" != 0 ]; then
        echo "setup: root is needed once, to install the above: sudo scripts/setup.sh" >&2
        exit 1
    fi
    install_debian
    local quiet_before="$QUIET"
    QUIET=1
    run_checks
    QUIET="$quiet_before"
    if [ "${#MISSING_WHY[@]}" -gt 0 ]; then
        echo "setup: installed what could be installed, but the above is still missing" >&2
        exit 1
    fi
}

main() {
    local lint_short=0
    [ "$QUIET" = 1 ] || say "looking at what is installed"
    if [ "$CHECK_ONLY" = 0 ]; then
        cofferdam_find_rust
        try_rustup
    fi
    run_checks
    if [ "${#MISSING_WHY[@]}" -gt 0 ] && [ "$CHECK_ONLY" = 0 ]; then install_system; fi
    install_python "$ROOT/scripts/requirements.txt"
    if [ "$WANT_LINT" = 1 ]; then
        install_python "$ROOT/scripts/requirements-lint.txt"
        check_lint_tools || lint_short=1
    fi
    if [ "$WANT_RTL" = 1 ]; then install_python "$ROOT/scripts/requirements-rtl.txt"; fi
    if [ "$lint_short" = 1 ] || [ "${#MISSING_WHY[@]}" -gt 0 ]; then exit 1; fi
    [ "$QUIET" = 1 ] || say "ready"
}
main
