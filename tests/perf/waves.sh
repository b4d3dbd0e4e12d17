#!/usr/bin/env bash
# Time and size of waveforms, as a report: the writers by themselves, then the NI signals of runs in both fidelities
# beside their targets. tests/perf/waves.sh [RUNS]: runs of each short case (default 40), interleaved.
set -euo pipefail
cd "$(dirname "$0")/../.."
sims/install-packages.sh python3
sims/build.sh release espalier wave_speed
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build/release/tests/wave_speed "$folder" 2>/dev/null
python3 tests/perf/waves.py build/release "${1:-40}"
