#!/usr/bin/env bash
# Makes reports of small runs and opens them in headless Chromium: browser.sh ESPALIER [FOLDER]
# FOLDER: for the pages and pictures of them.
# Exit code 77 (ctest: skipped) where chromium or python3 is missing.
set -euo pipefail
espalier=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
shots=()
[ $# -lt 2 ] || shots=(--screenshots "$(realpath -m "$2")")
for program in chromium python3; do
  command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
run() { "$espalier" run "$@" >/dev/null; }

cat >curves.yaml <<'YAML'
system: {topology: {type: torus, dims: [8, 8]}}
collective: {op: all_reduce, algorithm: [ring, 2d_ring, multitree], size: [64KiB, 1MiB, 16MiB]}
simulation: {link_utilization: true}
YAML
run curves.yaml -s 'system.flow_control.mode=[message, packet]' --json curves.json
"$espalier" report curves.json -o curves.html --title 'All-reduce on an 8x8 torus'

# Everything that is no grid, and small grids.
for topology in 'type: fat_tree, nodes_per_switch: 4, switches: 4, spines: 4' \
    'type: bigraph, nodes_per_switch: 2, switches: 8' 'type: dragonfly, nodes_per_switch: 2, group_size: 2, groups: 3' \
    'type: switch, nodes: 8' 'type: dgx2, nodes_per_switch: 4' 'type: fully_connected, nodes: 9' 'type: torus, dims: [3, 3, 3]' \
    'type: mesh, dims: [2, 2]' 'type: torus, dims: [2, 4]'; do
  n=$((${n:-0} + 1))
  printf '%s\n' "system: {topology: {$topology}}" 'collective: {op: all_gather, algorithm: ring, size: 64KiB}' \
    'simulation: {link_utilization: true}' >"topology_$n.yaml"
  run "topology_$n.yaml" --json "topology_$n.json"
done
"$espalier" report topology_*.json -o topologies.html --title 'A <long> title, about & "everything" that is_not_a_grid_at_all_and_does_not_break'

python3 "$here/make_sweep.py" curves.json sweep
"$espalier" report sweep -o sweep.html

cat >themis.yaml <<'YAML'
system:
  topology: {type: dimensions}
  dimensions: {shape: [ring, switch], size: [4, 4], links: [2, 1], bandwidth: [200Gb/s, 100Gb/s], latency: [700ns, 1700ns]}
collective: {algorithm: [baseline, themis], size: 4MB}
YAML
run themis.yaml --json themis.json
"$espalier" report themis.json -o themis.html

# Names that would be markup if a page did not escape them.
python3 - <<'PYTHON'
import json
document = json.load(open("curves.json"))
for result in document["results"]:
    result["algorithm"] = "</script><img src=x onerror=alert(1)><!--" + result["algorithm"]
    result["topology"] = "<b>\"&' torus"
json.dump(document, open("hostile.json", "w"))
PYTHON
"$espalier" report hostile.json -o hostile.html

[ $# -lt 2 ] || { mkdir -p "${shots[1]}"; cp ./*.html "${shots[1]}"; }
# With the number of pictures that each must have at least.
python3 "$here/browser_check.py" chromium curves.html=13 topologies.html=20 sweep.html=8 themis.html=3 hostile.html=9 --use curves.html --widths 1280,900,390 "${shots[@]}"
