#!/usr/bin/env bash
# All tests, from a fresh clone on Debian 12: installs what is missing, builds everything, runs ctest.
# Arguments go to ctest: tests/run.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-release}
command -v gnuplot >/dev/null || sims/install-packages.sh gnuplot-nox
sims/build.sh "$preset"
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
