# Places of the tools. Sourced by the other scripts and by ./cofferdam; the one place that chooses a compiler.
# Plain POSIX sh. Sets, after `cofferdam_find_rust`:
#   COFFERDAM_HOST_CARGO   cargo for host code (rustup's when usable, otherwise Debian's); empty if there is none
#   COFFERDAM_BARE_CARGO, COFFERDAM_BARE_RUSTC, COFFERDAM_BARE_KIND
#                          compiler for bare-metal code; KIND is `rustup` (the targets can be added) or
#                          `build-std` (the library is compiled from source); empty if there is none
# Set beforehand, COFFERDAM_HOST_CARGO and COFFERDAM_BARE_CARGO win over detection.

COFFERDAM_QEMU=10.0
COFFERDAM_RUST_MIN=1.90
COFFERDAM_ROOT="${COFFERDAM_ROOT:-${ROOT:-$(pwd)}}"
COFFERDAM_TARGET="${CARGO_TARGET_DIR:-$COFFERDAM_ROOT/target}"
COFFERDAM_VENV="${COFFERDAM_VENV:-$COFFERDAM_ROOT/target/venv}"
COFFERDAM_DATA="${COFFERDAM_DATA:-$COFFERDAM_ROOT/target/data}"
# Target triples of the cores' kernels and domains, and the one for which a package of no board in particular is checked.
cofferdam_triples() { # key, board files...
    cofferdam_key="$1"
    shift
    sed -n -E "s/^($cofferdam_key) *= *\"([a-z0-9._-]*)\"\$/\2/p" "$@"
}
COFFERDAM_BARE_TARGETS="$(cofferdam_triples 'domain|kernel' "$COFFERDAM_ROOT"/cores/*.toml | sort -u | tr '\n' ' ')"
COFFERDAM_BARE_TARGET="$(cofferdam_triples domain "$COFFERDAM_ROOT/cores/cortex-m7.toml")"
COFFERDAM_LINT_TARGETS='riscv32imc-unknown-none-elf aarch64-unknown-none'

# rustc prints "rustc 1.96.0 (...)"; true when that is at least COFFERDAM_RUST_MIN.
cofferdam_rust_new_enough() { # rustc
    cofferdam_minor="$("$1" --version 2> /dev/null | sed -n 's/^rustc 1\.\([0-9]*\)\..*/\1/p')"
    [ -n "$cofferdam_minor" ] && [ "$cofferdam_minor" -ge "${COFFERDAM_RUST_MIN#1.}" ]
}

# True when this rustc's installation holds the library source, which -Zbuild-std compiles.
cofferdam_has_src() { # rustc
    [ -e "$("$1" --print sysroot 2> /dev/null)/lib/rustlib/src/rust/library/core/Cargo.toml" ]
}

# True when this rustc's installation holds a compiled library for every bare-metal target.
cofferdam_has_targets() { # rustc
    cofferdam_lib="$("$1" --print sysroot 2> /dev/null)/lib/rustlib"
    for cofferdam_triple in $COFFERDAM_BARE_TARGETS; do
        [ -d "$cofferdam_lib/$cofferdam_triple/lib" ] || return 1
    done
}

# Directories that may hold cargo and rustc: PATH first, then the places a shell without a login profile misses.
cofferdam_rust_dirs() {
    (
        IFS=:
        for cofferdam_dir in $PATH; do printf '%s\n' "$cofferdam_dir"; done
    )
    printf '%s\n' "${CARGO_HOME:-${HOME:-/nonexistent}/.cargo}/bin" /usr/bin
}

cofferdam_find_rust() {
    : "${COFFERDAM_HOST_CARGO:=}" "${COFFERDAM_BARE_CARGO:=}" "${COFFERDAM_BARE_RUSTC:=}" "${COFFERDAM_BARE_KIND:=}"
    for cofferdam_dir in $(cofferdam_rust_dirs); do
        [ -x "$cofferdam_dir/cargo" ] && [ -x "$cofferdam_dir/rustc" ] || continue
        cofferdam_rust_new_enough "$cofferdam_dir/rustc" || continue
        [ -n "$COFFERDAM_HOST_CARGO" ] || COFFERDAM_HOST_CARGO="$cofferdam_dir/cargo"
        [ -z "$COFFERDAM_BARE_KIND" ] || continue
        if cofferdam_has_targets "$cofferdam_dir/rustc"; then COFFERDAM_BARE_KIND=rustup; else
            cofferdam_has_src "$cofferdam_dir/rustc" && COFFERDAM_BARE_KIND=build-std
        fi
        if [ -n "$COFFERDAM_BARE_KIND" ]; then
            COFFERDAM_BARE_CARGO="${COFFERDAM_BARE_CARGO:-$cofferdam_dir/cargo}"
            COFFERDAM_BARE_RUSTC="${COFFERDAM_BARE_RUSTC:-$cofferdam_dir/rustc}"
        fi
    done
    export COFFERDAM_HOST_CARGO COFFERDAM_BARE_CARGO COFFERDAM_BARE_RUSTC COFFERDAM_BARE_KIND
}

cargo_has_fmt_and_clippy() {
    "$COFFERDAM_HOST_CARGO" fmt --version > /dev/null 2>&1 && "$COFFERDAM_HOST_CARGO" clippy --version > /dev/null 2>&1
}

cofferdam_package_name() { # manifest
    sed -n '/^\[package\]/,/^\[/s/^name *= *"\(.*\)"/\1/p' "$1"
}

# Manifests of the packages outside crates/ and kernel/ that do not run on the host (capi/ is for both chip and host).
cofferdam_outer_manifests() {
    for cofferdam_manifest in capi/Cargo.toml arch/*/Cargo.toml images/*/Cargo.toml user/*/Cargo.toml services/*/Cargo.toml \
        drivers/Cargo.toml examples/*/*/Cargo.toml eval/systems/*/*/Cargo.toml tests/*/*/Cargo.toml; do
        [ ! -f "$cofferdam_manifest" ] || echo "$cofferdam_manifest"
    done
}

# The core that a package outside crates/ is for: that of an image, of a package of arch/ on which an image depends, or of the way into the kernel that
# only one core has. Empty: any.
cofferdam_core_of() { # manifest
    cofferdam_core="$(grep -lxF "entry = \"${1%/Cargo.toml}\"" cores/*.toml)"
    [ "$(printf '%s\n' "$cofferdam_core" | grep -c .)" != 1 ] || { echo "$cofferdam_core"; return; }
    for cofferdam_core in cores/*.toml; do
        cofferdam_image="$(sed -n 's/^package = "\(.*\)"$/\1/p' "$cofferdam_core")"
        case "$1" in
            "$cofferdam_image/Cargo.toml") ;;
            arch/*) grep -qs "path = \"\.\./\.\./${1%/Cargo.toml}\"" "$cofferdam_image/Cargo.toml" || continue ;;
            *) continue ;;
        esac
        echo "$cofferdam_core"
        return
    done
}

# The target triple that such a package is checked for: of a core's, the kernel's.
cofferdam_target_of() { # manifest
    cofferdam_core="$(cofferdam_core_of "$1")"
    [ -n "$cofferdam_core" ] || { echo "$COFFERDAM_BARE_TARGET"; return; }
    cofferdam_triples kernel "$cofferdam_core"
}

# Names of those that need no standard library and so have to build for a chip with that target.
cofferdam_bare_packages() { # target
    cofferdam_outer_manifests | while read -r cofferdam_manifest; do
        cofferdam_dir="${cofferdam_manifest%/Cargo.toml}"
        if grep -qs '^#!\[.*no_std' "$cofferdam_dir/src/main.rs" "$cofferdam_dir/src/lib.rs" "$cofferdam_dir/lib.rs" &&
            [ "$(cofferdam_target_of "$cofferdam_manifest")" = "$1" ]; then
            cofferdam_package_name "$cofferdam_manifest"
        fi
    done
}

# Names of those that do not build for the host: the chip's own code, and what depends on it directly.
cofferdam_chip_packages() {
    cofferdam_outer_manifests | while read -r cofferdam_manifest; do
        case "$cofferdam_manifest" in
            arch/* | images/* | user/* | drivers/*) ;;
            *) grep -qE 'path = "[./]*/(arch|user|drivers)(/|")' "$cofferdam_manifest" || continue ;;
        esac
        cofferdam_package_name "$cofferdam_manifest"
    done
}
