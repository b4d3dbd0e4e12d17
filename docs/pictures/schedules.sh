#!/usr/bin/env bash
# Makes the pictures of docs/bounds.md and alg/packing/README.md: schedules.sh [PROGRAM [FOLDER]].
set -euo pipefail
cd "$(dirname "$0")/../.."
program=${1:-build/release/espalier}
folder=${2:-docs/pictures}
[ $# -gt 0 ] || sims/build.sh release espalier

"$program" schedule configs/lab.yaml -s collective.op=all_gather -s collective.algorithm=forest -s collective.size=100MB \
  --format tree-svg -o "$folder/forest_tree.svg"
"$program" schedule configs/planned/mesh_rounds.yaml --format slots-svg -o "$folder/mesh_rounds.svg"
