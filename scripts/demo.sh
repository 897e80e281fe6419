#!/usr/bin/env bash
# Runs the gateway example and ends by printing where its report is.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
MANIFEST=examples/gateway/system.toml
if [ ! -f "$MANIFEST" ]; then
    echo "demo: $MANIFEST is not in this checkout" >&2
    exit 1
fi
STAMP="$(mktemp)"
trap 'rm -f "$STAMP"' EXIT
./cofferdam run "$MANIFEST"
REPORT="$(find target examples/gateway -name report.html -newer "$STAMP" -not -path '*/venv/*' 2> /dev/null | head -1)"
if [ -z "$REPORT" ]; then
    echo "demo: the run wrote no report.html" >&2
    exit 1
fi
echo "report: $ROOT/$REPORT"
