#!/usr/bin/env bash
# Configures and builds one preset: build.sh PRESET [TARGET...]. Installs what the build needs and is missing. On a terminal
# the build shows its progress; elsewhere it is silent unless it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: build.sh PRESET [TARGET...]}
shift

sims/install-packages.sh g++ cmake ninja-build ccache pkg-config libsystemc-dev libboost-dev \
  libcli11-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libpugixml-dev catch2
# The sources of the FST writer; without them waveforms are VCD only.
sims/install-packages.sh verilator zlib1g-dev || echo "no verilator: waveforms as VCD only" >&2

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
# A folder that was configured before keeps its generator.
generator=()
[ -f "build/$preset/CMakeCache.txt" ] || generator=(-G Ninja)
run_quietly cmake --preset "$preset" "${generator[@]}" ${CMAKE_OPTIONS:-}
echo "building ($preset) ..."
build=(cmake --build "build/$preset" ${*:+--target "$@"})
if [ -t 1 ]; then
  NINJA_STATUS='[%f/%t, %e s] ' "${build[@]}"
else
  run_quietly "${build[@]}"
fi
