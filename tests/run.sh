#!/usr/bin/env bash
# The tests, from a fresh clone on Debian 12: installs what is missing, builds, runs ctest.
#   tests/run.sh              everything that a change can break within minutes
#   tests/run.sh --all        the long tests, too: fuzz hunts, killed sweeps, every documented command, and what needs
#                             programs of its own (a browser, GTKWave, Slurm, yosys, GNU parallel, verilator)
#   PRESET=asan tests/run.sh  unit and model tests under address and undefined-behaviour sanitizers
# Other arguments go to ctest: tests/run.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-release}
selection=(-LE slow)
packages=()
if [ "${1:-}" = --all ]; then
  shift
  selection=()
  all=slow_tests
  rtl=-DESPALIER_RTL=ON
  command -v chromium >/dev/null || packages+=(chromium)
  packages+=(gtkwave xvfb imagemagick slurm-wlm munge yosys qflow-tech-osu018 iverilog make parallel dpkg-dev
    python3-pandas python3-matplotlib python3-scipy python3-jsonschema python3-yaml)
fi
targets=(all)
if [ "$preset" = asan ]; then
  packages+=(clang-14 libclang-rt-14-dev)
  targets=(unit_tests model_tests fidelity_fuzz)
  rtl=-DESPALIER_RTL=ON
  selection+=(-L 'unit|model')
fi
# As a user without root's rights you see tests skipped that need one of them, by name.
sims/install-packages.sh "${packages[@]}" || echo "not all installed: ${packages[*]}" >&2
# With Verilog that decides inside of the simulation, except where minutes count.
CMAKE_OPTIONS="${CMAKE_OPTIONS:-} ${rtl:-}" sims/build.sh "$preset" "${targets[@]}" ${all:-}
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "${selection[@]}" "$@"
