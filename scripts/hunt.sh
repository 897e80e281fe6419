#!/usr/bin/env bash
# Hunts for missed deadlines; arguments as `scripts/hunt.sh --help` says. Without any: 20 systems on each board.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
# shellcheck source=scripts/env.sh
. "$ROOT/scripts/env.sh"
cofferdam_find_rust
export COFFERDAM_ROOT="$ROOT"
# The plug-in that the runs need is built with the command.
[ "${COFFERDAM_BUILT:-}" = 1 ] || ./cofferdam --version > /dev/null
case " $* " in *" ibex-rtmmu "*) make --no-print-directory -C rtl models MODELS=rtmmu > /dev/null ;; esac
"$COFFERDAM_HOST_CARGO" build --quiet --release --target-dir "$COFFERDAM_TARGET" -p cofferdam-hunt
HUNT="$COFFERDAM_TARGET/release/cofferdam-hunt"
[ $# = 0 ] || exec "$HUNT" "$@"
CODE=0
for board in mps2-an500 mps2-an505 xilinx-zynq-a9; do "$HUNT" --board "$board" || CODE=1; done
exit "$CODE"
