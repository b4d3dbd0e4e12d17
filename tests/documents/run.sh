#!/usr/bin/env bash
# Calls claims.py, or says what is missing: run.sh ARGUMENT...
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
exec python3 "$(dirname "$0")/claims.py" "$@"
