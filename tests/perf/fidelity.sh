#!/usr/bin/env bash
# Train fidelity against cycle fidelity, as a report: both measured in one run.
# tests/perf/fidelity.sh [RUNS]: short cases are run that many times (default 3) and the median counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier generator_speed
exec python3 tests/perf/fidelity.py build/release "${1:-3}"
