#!/usr/bin/env bash
# Configures and builds one preset: build.sh PRESET [TARGET...]. Installs what the build needs and is missing. Quiet where
# all goes well.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: build.sh PRESET [TARGET...]}
shift

sims/install-packages.sh g++ cmake ninja-build ccache pkg-config libsystemc-dev libboost-dev libboost-filesystem-dev \
  libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libpugixml-dev catch2
# Sources of the FST writer; without them waveforms are VCD alone.
sims/install-packages.sh verilator zlib1g-dev || echo "no verilator: waveforms as VCD alone" >&2

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
# A folder that was configured before keeps its generator.
generator=()
[ -f "build/$preset/CMakeCache.txt" ] || generator=(-G Ninja)
run_quietly cmake --preset "$preset" "${generator[@]}" ${CMAKE_OPTIONS:-}
echo "building ($preset) ..."
run_quietly cmake --build "build/$preset" ${*:+--target "$@"}
