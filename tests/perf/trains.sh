#!/usr/bin/env bash
# What link rates, buffers and contention cost in fidelity train, as ratios of engine CPU times of one run. A report.
# tests/perf/trains.sh [RUNS]: each case is run that many times (default 5) and the shortest counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier
exec python3 tests/perf/trains.py build/release/espalier "${1:-5}"
