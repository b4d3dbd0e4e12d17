#!/usr/bin/env bash
# All tests, from a fresh clone on Debian 12: installs what is missing, builds everything, runs ctest.
# Arguments go to ctest: tests/run.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-release}
command -v gnuplot >/dev/null || sims/install-packages.sh gnuplot-nox
# For reports in a browser; without it that test is skipped by name.
if ! command -v chromium >/dev/null && [ "$(id -u)" -eq 0 ]; then
  sims/install-packages.sh chromium python3 || echo "no chromium: reports are not looked at in a browser"
fi
# For waveforms in their viewer; without it those tests are skipped by name.
if [ "$(id -u)" -eq 0 ]; then
  sims/install-packages.sh gtkwave xvfb imagemagick || echo "no GTKWave: waveforms are not looked at" >&2
fi
# A cluster of one node for the tests labelled slurm; without it they are skipped by name.
[ "$(id -u)" -ne 0 ] || sims/install-packages.sh slurm-wlm munge || echo "no Slurm: its tests are skipped" >&2
sims/build.sh "$preset"
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
