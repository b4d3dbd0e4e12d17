#!/usr/bin/env bash
# The questions of engineers who bring a router, an NI or Verilog of their own, or look for one that is late: hardware.sh ESPALIER
# Programs that attach modules: tests/install/plug_in.sh. Verilog of one block: tests/journeys/own_verilog.sh.
set -euo pipefail
. "$(dirname "$0")/ask.sh"

cat >late.yaml <<'YAML'
system: {topology: {type: torus, dims: [4, 4]}}
collective: {op: all_reduce, algorithm: multitree, size: 64KiB}
faults: {clock_skew: [{node: 13, cycles: 40, per_step: 25}]}
YAML
# What does NI 13 do? Its number and its name are the same scope; a scope that does not exist has a near name and makes no table.
ask 0 run late.yaml --waves number.vcd --wave-scope net.ni_13 -- "true"
ask 0 run late.yaml --waves name.vcd --wave-scope ni_3_1 -- "true"
cmp number.vcd name.vcd || { words=(ni_13); complain "the number and the name of an NI show other signals"; }
ask 2 run late.yaml --waves w.vcd --wave-scope net.ni_13 --wave-scope net.ni_3_1.timestp -- "did you mean 'net.ni_3_1.timestep'" "!verified"
[ ! -e w.vcd ] || { words=(w.vcd); complain "a wrong scope leaves a file"; }
# One NPU stands for all of a Themis system.
ask 2 run "$configs/themis/3d_fc_ring_sw.yaml" -s collective.algorithm=baseline --waves w.vcd --wave-scope 3 -- "simulation.fold: off"

# My router is external: the tables and the proof need no module, a simulation does.
sed 's/dims: \[4, 4\]/&, external: {routers: [r_1_1]}/' late.yaml >mine.yaml
ask 0 check mine.yaml -- "certified"
for command in run explain compare reorder; do
  ask 2 $command mine.yaml -- "mine.yaml:1:" "a program that links the library (docs/plug_in.md)" "!verified"
done
printf 'system: {topology: {type: torus, dims: [4, 4]}}\ntraffic: {pattern: sockets}\n' >sockets.yaml
ask 2 run sockets.yaml -- "sockets.yaml:2:" "a program that links the library" "!verified"
# My Verilog of one block.
ask 2 run late.yaml -s 'simulation.rtl=[my.v]' -- "ESPALIER_OWN_VERILOG (docs/plug_in.md#verilog-of-your-own)"
grep -q '^### Verilog of your own$' "$configs/../docs/plug_in.md" || { words=(plug_in.md); complain "has no such section"; }

# My graph's names.
printf 'nodes: [a, r_a, b]\nlinks: [{between: [a, r_a]}, {between: [a, b]}]\n' >graph.yaml
ask 2 compare graph.yaml -s collective.size=1MB -- "graph.yaml:1:12" "a module named 'ni_a'" "!W505"

# A stopped run leaves nothing beside its configuration.
mkdir stopped
cat >stopped/long.yaml <<'YAML'
system: {topology: {type: mesh, dims: [2, 2]}}
simulation: {fidelity: cycle}
collective: {op: all_reduce, algorithm: ring, size: 8GiB}
YAML
(cd stopped && timeout -s INT 1 "$program" run long.yaml --waves w.vcd --messages m.csv --timeline t.json >../printed 2>&1) || true
[ "$(ls stopped)" = long.yaml ] || { words=(SIGINT); complain "leaves $(ls stopped)"; }
finish
