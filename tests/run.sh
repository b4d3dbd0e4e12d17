#!/usr/bin/env bash
# All tests, from a fresh clone on Debian 12: installs what is missing, builds everything, runs ctest.
# Arguments go to ctest: tests/run.sh -L unit
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${PRESET:-release}
command -v gnuplot >/dev/null || sims/install-packages.sh gnuplot-nox
# What some tests look with, and are skipped by name without: reports in a browser, waveforms in their viewer, a cluster of
# one node, RTL by synthesis and simulation, recipes of the documentation.
optional() { [ "$(id -u)" -ne 0 ] || sims/install-packages.sh "${@:2}" || echo "not installed: $1" >&2; }
command -v chromium >/dev/null || optional "a browser for reports" chromium python3
optional "GTKWave for waveforms" gtkwave xvfb imagemagick
optional "Slurm for job arrays" slurm-wlm munge
optional "yosys and Icarus Verilog for RTL" yosys qflow-tech-osu018 iverilog
optional "make and GNU parallel for recipes" make parallel
sims/build.sh "$preset"
exec ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@"
