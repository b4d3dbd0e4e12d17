#!/usr/bin/env bash
# The main job, from a fresh clone on Debian 12: installs what is missing, builds, and compares rings and MULTITREE
# on an 8x8 torus. Give it another configuration to run that instead: sims/quickstart.sh configs/mesh_8x8.yaml
set -euo pipefail
cd "$(dirname "$0")/.."
sims/build.sh release espalier
config=${1:-configs/torus_8x8.yaml}
echo "build/release/espalier run $config"
exec build/release/espalier run "$config"
