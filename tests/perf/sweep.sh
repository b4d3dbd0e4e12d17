#!/usr/bin/env bash
# What a sweep costs beside its points, as a report: 1000 points of some milliseconds, by one worker, by two, and by a bare
# loop over the same worker processes, all in one run.
# tests/perf/sweep.sh [ROUNDS [POINTS]]: of ROUNDS (default 1) the best ratio and the least overhead count.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier
exec python3 tests/perf/sweep.py build/release/espalier "$@"
