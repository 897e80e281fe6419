#!/usr/bin/env bash
# Makes the picture of the README from the report of a real run.
#
#   tests/browser/screenshot.sh REPORT.html [PICTURE.png]     (default: docs/images/report.png)
#
# CHROMIUM names the browser when it is not called `chromium`; WIDTH and HEIGHT (1280, 1420) the size in pixels.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
REPORT="$(realpath -e "$1")"
PICTURE="${2:-$ROOT/docs/images/report.png}"
mkdir -p "$(dirname "$PICTURE")"
PICTURE="$(realpath "$PICTURE")"
PROFILE="$(mktemp -d)"
trap 'rm -rf "$PROFILE"' EXIT
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$PROFILE" \
    --virtual-time-budget=5000 --window-size="${WIDTH:-1280},${HEIGHT:-1420}" \
    --screenshot="$PROFILE/picture.png" "file://$REPORT" > "$PROFILE/log" 2>&1 || { cat "$PROFILE/log" >&2; exit 1; }
mv "$PROFILE/picture.png" "$PICTURE"
echo "$PICTURE"
