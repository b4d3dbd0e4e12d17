#!/usr/bin/env bash
# Configures and builds one preset: build.sh PRESET [TARGET...]. Installs what the build needs and is missing. On a terminal
# the build shows its progress; elsewhere it is silent unless it fails.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?usage: build.sh PRESET [TARGET...]}
shift

# verilator: the sources of the FST writer, and what ESPALIER_RTL needs.
packages=(g++ cmake ninja-build pkg-config libsystemc-dev libcli11-dev libyaml-cpp-dev
  nlohmann-json3-dev libfmt-dev libpugixml-dev libjs-chart.js verilator zlib1g-dev
  libprotobuf-dev protobuf-compiler)
options=()
# A folder that was configured before keeps its generator, and tests that it has.
if [ "$*" != espalier ]; then
  packages+=(catch2)
  options+=(-DESPALIER_TESTS=ON)
elif [ ! -f "build/$preset/CMakeCache.txt" ]; then
  options+=(-DESPALIER_TESTS=OFF)
fi
[ -f "build/$preset/CMakeCache.txt" ] || options+=(-G Ninja)
sims/install-packages.sh "${packages[@]}"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_quietly() { "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }
run_quietly cmake --preset "$preset" "${options[@]}" ${CMAKE_OPTIONS:-}
echo "building ($preset) ..."
build=(cmake --build "build/$preset" ${*:+--target "$@"})
if [ -t 1 ]; then
  NINJA_STATUS='[%f/%t, %e s] ' "${build[@]}"
else
  run_quietly "${build[@]}"
fi
