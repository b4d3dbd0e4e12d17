#!/usr/bin/env bash
# The questions with which new users came, each as the command that they would try first, and what the answer must say:
# questions.sh ESPALIER
set -euo pipefail
. "$(dirname "$0")/ask.sh"

# Which collective is best on my irregular network of two link speeds? A graph file and a size are enough; links of 50 GB/s need no key.
ask 0 compare "$configs/graphs/lab.yaml" -s collective.size=1MB -- "Best: forest" "No algorithm can be faster than" "Not compared:" \
  "hdrm: " "of the time is decided by link"
ask 0 explain "$configs/lab.yaml" -s collective.algorithm=multitree -s system.ni.lockstep=off -- "12.5 GB/s where most links run at 50 GB/s"
# The algorithms of a list that do not suit are skipped.
ask 0 run "$configs/lab.yaml" -s 'collective.algorithm=[multitree, 2d_ring, bcube]' -s collective.size=60kB -- "multitree" "2D-RING needs a 2D torus"
ask 0 run "$configs/lab.yaml" -s collective.algorithm=all -s collective.size=60kB -- "halving_doubling" "dbtree"
# Does lockstep matter?
ask 0 explain "$configs/lab.yaml" -s collective.algorithm=multitree -- "of the time is decided by link" "ithout lockstep" "!Slack"
# A planted slow link and a late NI are both named.
cat >faults.yaml <<'YAML'
system: {topology: {type: mesh, dims: [6, 6]}, ni: {lockstep: off}}
collective: {op: all_reduce, algorithm: multitree, size: 1MiB}
faults: {slow_links: [{from: r_2_2, to: r_2_3, bandwidth: 4GB/s}], late_nis: [{node: 7, cycles: 3000}]}
YAML
ask 0 explain faults.yaml --waves run.vcd -- "link r_2_2 -> r_2_3, which runs at 4 GB/s (faults.slow_links) where most links run at 16 GB/s" "late start"
[ -s run.vcd.gtkw ] && grep -q 'ni_2_2' run.vcd.gtkw || { echo "no save file for GTKWave"; failures=$((failures + 1)); }
# Does another order of ranks help? Both orders are simulated.
ask 0 reorder "$configs/lab.yaml" -s collective.algorithm=bidirectional_ring -s collective.size=60kB -- "The model predicts" "the simulation"
# Themis can lose, and says so.
ask 0 run "$configs/themis/3d_balanced.yaml" -s collective.size=10MB -- "warning: collective.algorithm: the plan of themis" "hint: "
# Two programs of my own beside a built-in algorithm, in a list and in an axis.
python3 -m espalier.library by_levels servers=3 per_server=4 >one.trace
sed 's/^name .*/name second/' one.trace >two.trace
ask 0 compare "$configs/lab.yaml" one.trace two.trace -s collective.size=60kB -s 'collective.algorithm=[ring]' -- "(one.trace)" "second (two.trace)"
cat >programs.yaml <<YAML
title: Own programs
config: {system: {topology: {type: file, file: $configs/graphs/lab.yaml}, router: {flit_bytes: 64}}, collective: {op: all_reduce, algorithm: ring, size: 60kB}}
axes: [{key: collective.algorithm, values: [multitree, one.trace, two.trace]}]
YAML
ask 0 sweep run programs.yaml -- "3 points: 3 finished"
# Everything wrong about sizes is one error, with values that do.
ask 2 run "$configs/lab.yaml" -s system.router.flit_bytes=16 -- "error: " "hint: "
[ "$(grep -c 'error: ' printed)" -eq 1 ] || { words=(flit_bytes); complain "more than one error"; }
# How much load does it take?
ask 0 latency "$configs/latency/mesh_8x8.yaml" --loads 0.1,0.3 -- "mean latency" "p99" "accepted"
# What is lost? Nothing: an output that cannot be written is refused before the simulation.
ask 2 run "$configs/mesh_8x8.yaml" --json /nonexistent/x.json -- "/nonexistent/x.json" "!verified"
# What does my system cost, and does it reach its clock?
ask 0 run "$configs/mesh_8x8.yaml" -s collective.size=64KiB -- "energy uJ" "leaves out: links" "faster than the cost model allows"
# Which program is this, and what did I mistype?
ask 0 --version -- "espalier 0." "build type" "waveforms in FST"
ask 2 runn -- "did you mean 'run'"
ask 0 help run -- "Usage: espalier run"
ask 0 completion bash -- "complete -o default"

end_of_questions
