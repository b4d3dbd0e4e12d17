#!/usr/bin/env bash
# Planned schedules against the proven bound, as a report. tests/perf/planned.sh [NETWORK ...]
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier
exec python3 tests/perf/planned.py build/release "$@"
