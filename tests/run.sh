#!/usr/bin/env bash
# The tests, from a fresh clone on Debian 12: installs what is missing, builds, runs ctest.
#   tests/run.sh              everything that a change can break within minutes
#   tests/run.sh --all        the long tests, too: fuzz hunts, killed sweeps, every documented command, and what needs
#                             programs of its own (a browser, GTKWave, Slurm, yosys, GNU parallel)
#   PRESET=asan tests/run.sh  unit and model tests under address and undefined-behaviour sanitizers
# Other arguments go to ctest: tests/run.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-release}
selection=(-LE slow)
if [ "${1:-}" = --all ]; then
  shift
  selection=()
  all=slow_tests
  # As a user without root's rights you see these tests skipped, by name.
  optional() { [ "$(id -u)" -ne 0 ] || sims/install-packages.sh "${@:2}" || echo "not installed: $1" >&2; }
  command -v chromium >/dev/null || optional "a browser for reports" chromium python3
  optional "GTKWave for waveforms" gtkwave xvfb imagemagick
  optional "Slurm for job arrays" slurm-wlm munge
  optional "yosys and Icarus Verilog for RTL" yosys qflow-tech-osu018 iverilog
  optional "pandas, matplotlib, scipy and jsonschema for Python" python3-scipy python3-pandas python3-matplotlib python3-jsonschema python3-yaml
  optional "make and GNU parallel for recipes" make parallel
fi
targets=(all)
if [ "$preset" = asan ]; then
  sims/install-packages.sh clang-14 libclang-rt-14-dev
  targets=(unit_tests model_tests fidelity_fuzz)
  selection+=(-L 'unit|model')
fi
sims/build.sh "$preset" "${targets[@]}" ${all:-}
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "${selection[@]}" "$@"
