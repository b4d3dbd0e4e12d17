#!/usr/bin/env bash
# Real jobs from the first command to the last number, small: jobs.sh ESPALIER pod|program|student|batch|failures
# Exit code 77 (skipped) where a job needs a Python package that is not installed.
set -euo pipefail
. "$(dirname "$0")/ask.sh"

# A pod architect has a torus whose columns are slower than its rows: what is best, what does its table cost, and where is the picture?
pod() {
  python3 - >pod.yaml <<'PYTHON'
print("name: pod\nnodes: [" + ", ".join(f"n{y}{x}" for y in range(4) for x in range(4)) + "]\nlinks:")
for y in range(4):
    for x in range(4):
        print(f"  - {{between: [n{y}{x}, n{y}{(x + 1) % 4}], bandwidth: 16GB/s, latency: 100ns}}")
        print(f"  - {{between: [n{y}{x}, n{(y + 1) % 4}{x}], bandwidth: 8GB/s, latency: 200ns}}")
PYTHON
  ask 0 compare pod.yaml -s collective.size=1MB --json best.json -- "all_reduce of 1 MB on pod, 16 nodes" "Best: forest" "!KiB" "!e+0"
  expect 'all(r["time_ns"] >= f["time_ns"] for f in a if f["algorithm"] == "forest" for r in a if r.get("time_ns")) and any(f["algorithm"] == "forest" and f["verified"] and 0.7 < f["bound_ratio"] <= 1 for f in a)' best.json
  # The table that area prices is the table that the winner needs.
  ask 0 area pod.yaml -s collective.size=1MB -s collective.algorithm=forest --csv area.csv -- "tables of NIs as needed by forest of 1 MB"
  python3 - <<'PYTHON' || failures=$((failures + 1))
import csv, json
priced = [row for row in csv.DictReader(open("area.csv")) if row["block"] == "ni.schedule_table"]
best = next(row for row in json.load(open("best.json"))["results"] if row["algorithm"] == "forest")
needed = [block for block in best["area"]["blocks"] if block["block"] == "ni.schedule_table"]
assert len(priced) == len(needed) == 1 and float(priced[0]["um2"]) == needed[0]["um2"], (priced, needed)
PYTHON
  # The slide: the report draws the winner's tree.
  ask 0 report best.json -o best.html --
  grep -q 'forest, pod, 1 MB, all_reduce' best.html || { echo "the report does not draw the winner"; failures=$((failures + 1)); }
}

# A researcher writes an algorithm of her own in Python, proves it, compares it, and hands it on as MSCCL XML.
program() {
  cat >author.py <<'PYTHON'
import sys
from espalier.program import Program, chunk

# Boxes of four: a chunk is added up in each box, then over the boxes, and goes back the same way.
with Program("boxes", "all_reduce", ranks=12, chunks=4, in_place=True) as program:
    for c in range(4):
        mates = [r for r in range(4) if r != c]
        for box in range(3):
            for r in mates:
                chunk(4 * box + c, "input", c).reduce(chunk(4 * box + r, "input", c))
        for box in (1, 2):
            chunk(c, "input", c).reduce(chunk(4 * box + c, "input", c))
        for box in (1, 2):
            chunk(c, "input", c).copy(4 * box + c)
        for box in range(3):
            for r in mates:
                chunk(4 * box + c, "input", c).copy(4 * box + r)
sys.stdout.write(program.text())
PYTHON
  python3 author.py >mine.trace
  ask 0 check mine.trace -- "boxes all_reduce on 12 ranks" "certified"
  # 4 chunks x (3 boxes x 3 + 2) messages there, and as many back.
  grep -q " 88 messages " printed || complain "not 88 messages"
  ask 0 schedule mine.trace -f msccl-xml -o mine.xml --
  ask 0 check mine.xml -- "boxes all_reduce on 12 ranks" "certified" " 88 messages "
  ask 0 run "$configs/lab.yaml" mine.trace mine.xml -s collective.algorithm=ring -s collective.size=60kB --json three.json -- "boxes (mine.trace)" "boxes (mine.xml)"
  expect 'len(a) == 3 and all(r["verified"] for r in a) and a[1]["cycles"] == a[2]["cycles"] != a[0]["cycles"]' three.json
  ask 0 compare "$configs/lab.yaml" mine.trace -s collective.algorithm=[ring] -s collective.size=60kB -- "boxes (mine.trace)" "Best: "
  # Mistakes have their place: XML that is not well formed, and a message that is left out.
  sed '0,/type=/s/type="\([a-z]*\)"/type="\1" type="x"/' mine.xml >twice.xml
  ask 2 check twice.xml -- "twice.xml:4:" "'type' is given twice" "^"
  grep -v 'copy .* rank 5 ' mine.trace >less.trace
  ask 2 check less.trace -- "less.trace:2:1: error: " "out[1] must hold"
}

# A PhD student changes one parameter of a figure, reads its numbers, and draws latency against load.
student() {
  ask 0 latency "$configs/latency/mesh_8x8.yaml" -s system.topology.dims=[4,4] -s system.router.vcs=[1,2] --loads 0.1,0.3,0.5 -o curve.html --csv curve.csv -- "vcs"
  python3 - <<'PYTHON' || failures=$((failures + 1))
import csv
rows = list(csv.DictReader(open("curve.csv")))
curves = [[row for row in rows if row["system.router.vcs"] == vcs] for vcs in "12"]
for curve in curves:
    means = [float(row["message_latency_mean_cycles"]) for row in curve]
    assert len(means) == 3 and means == sorted(means), means
assert "Latency against load" in open("curve.html").read()
PYTHON
  /usr/bin/python3 -c 'import matplotlib, pandas, yaml' 2>/dev/null || { echo "skipped: python3-matplotlib, python3-pandas or python3-yaml"; [ $failures -ne 0 ] || exit 77; finish; }
  ESPALIER=$program /usr/bin/python3 -m espalier.figures "$configs/figures/link_latency.yaml" -o figs --format svg -s system.router.pipeline_cycles=4 \
    -s 'system.link.latency=[40ns, 150ns]' -s simulation.check=true >printed 2>&1 || { words=(figures); complain "exit code $?"; }
  printf 'system: {preset: papers, topology: {type: torus, dims: [4, 4]}, router: {pipeline_cycles: 4}, link: {latency: 40ns}}\ncollective: {op: all_reduce, algorithm: ring, size: 64KiB}\n' >point.yaml
  ask 0 run point.yaml --json point.json -- "true"
  /usr/bin/python3 - <<'PYTHON' || failures=$((failures + 1))
import json, pandas
table = pandas.read_csv("figs/link_latency.csv")
assert list(table.columns[:4]) == ["panel", "series", "x", "y"] and len(table) == 12, table
point = table[(table.panel == "64 KiB") & (table.series == "RING") & (table.x == 40)]
assert abs(point.y.iloc[0] - json.load(open("point.json"))["results"][0]["bound_ratio"]) < 1e-9, point
PYTHON
  [ -s figs/link_latency.svg ] || { echo "no picture"; failures=$((failures + 1)); }
}

# A sweep goes to Slurm by the script of docs/sweeps.md, is cancelled and submitted again, and equals a local run that was stopped, too.
batch() {
  mkdir bin
  ln -s "$program" bin/espalier
  sed -n '/^#!.bin.bash$/,/^```$/p' "$docs/sweeps.md" | grep -v '^```$' >sweep.sbatch
  # sbatch on this machine: the tasks of the array one after the other, in a process group that can be cancelled; then what depends on them.
  cat >bin/sbatch <<'SBATCH'
#!/usr/bin/env bash
if [ "$1" = --parsable ]; then
  shift
  export SLURM_ARRAY_TASK_COUNT=8 SLURM_CPUS_PER_TASK=1
  setsid bash -c 'for task in 1 2 3 4 5 6 7 8; do SLURM_ARRAY_TASK_ID=$task bash "$@"; done' array "$@" >array.log 2>&1 &
  echo $! >array.pid
  echo 7
elif [ "$1" = --dependency=afterany:7 ] && [ "$2" = --wrap ]; then
  tail --pid="$(cat array.pid)" -f /dev/null
  sh -c "$3"
else
  exit 2
fi
SBATCH
  chmod +x bin/sbatch
  PATH=$work/bin:$PATH
  cat >sweep.yaml <<'YAML'
title: Twenty-four points
config: {system: {topology: {type: torus, dims: [4, 4]}}, traffic: {warmup_cycles: 0, measure_cycles: 30000, drain_cycles: 0}, simulation: {fidelity: cycle}}
axes: [{key: traffic.injection_rate, from: 0.05, to: 0.2, step: 0.05}]
seeds: 6
YAML
  count_points() { find "$1/points" -name '*.json' 2>/dev/null | wc -l; }
  wait_for_points() { for _ in $(seq 600); do [ "$(count_points "$1")" -lt 3 ] || return 0; sleep 0.05; done; }
  words=(batch)
  bash sweep.sbatch sweep.yaml -o out >printed 2>&1 &
  submitted=$!
  wait_for_points out
  kill -KILL -- "-$(cat array.pid)"
  wait $submitted || true
  cancelled=$(count_points out)
  [ "$cancelled" -ge 3 ] && [ "$cancelled" -lt 24 ] || complain "$cancelled of 24 points when it was cancelled"
  grep -q "of 24" printed || complain "the partial table says nothing of missing points"
  [ -z "$(find out/points -type f ! -name '*.json')" ] || complain "unfinished files are left"
  bash sweep.sbatch sweep.yaml -o out >printed 2>&1 || complain "submitting again: exit code $?"
  [ "$(count_points out)" -eq 24 ] || complain "$(count_points out) of 24 points"
  "$program" sweep run sweep.yaml -o local -j 1 >printed 2>&1 &
  wait_for_points local
  kill -TERM $!
  code=0
  wait $! || code=$?
  [ $code -eq 143 ] || complain "stopped by SIGTERM: exit code $code"
  [ "$(count_points local)" -lt 24 ] || complain "it was over before it could be stopped"
  ask 0 sweep run sweep.yaml -o local -- "24 points: 24 finished"
  ask 0 sweep gather sweep.yaml -o local --
  for file in results.csv results.jsonl; do cmp out/$file local/$file || failures=$((failures + 1)); done
}

# Which link may fail? Each failure under each algorithm, a node that is gone, a link that is very slow.
failures() {
  cat >failures.yaml <<YAML
title: Each cable fails
config:
  system: {topology: {type: file, file: $configs/graphs/lab.yaml}, router: {flit_bytes: 64}}
  collective: {op: all_reduce, algorithm: forest, size: 60kB}
axes:
  - {key: system.topology.without, values: [none, [link a3-b0], [link b3-c0], [link c3-a0], [link a2-b1], [link b2-c1], [node b1]]}
  - {key: collective.algorithm, values: [forest, multitree, ring]}
YAML
  ask 0 sweep run failures.yaml -o out -- "21 points: 21 finished"
  ask 0 sweep gather failures.yaml -o out --
  python3 - <<'PYTHON' || failures=$((failures + 1))
import csv
rows = list(csv.DictReader(open("out/results.csv")))
assert len(rows) == 21 and all(row["verified"] == "true" for row in rows)
time = {(row["system.topology.without"], row["collective.algorithm"]): float(row["time_ns"]) for row in rows}
bound = {row["system.topology.without"]: float(row["bound_ns"]) for row in rows if row["collective.algorithm"] == "forest"}
for part in bound:
    assert time[part, "forest"] < time[part, "multitree"] and time[part, "forest"] < time[part, "ring"], part
    if part.startswith("[link"):
        assert bound[part] > bound["none"] and time[part, "forest"] > time["none", "forest"], part
assert {row["nodes"] for row in rows if "node" in row["system.topology.without"]} == {"11"}
PYTHON
  # auto plans for the network that is left.
  ask 0 compare "$configs/graphs/lab.yaml" -s collective.size=60kB -s 'system.topology.without=[link a3-b0]' -s 'collective.algorithm=[forest, ring]' -- \
    "on lab less link a3-b0, 12 nodes" "Best: forest"
  ask 2 run "$configs/lab.yaml" -s 'system.topology.without=[link a3-b0, link a2-b1, link c3-a0]' -- "is cut off from" "hint: if it may be cut off, take 'node b0' out too"
  ask 2 run "$configs/lab.yaml" -s 'system.topology.without=[link a0-b3]' -- "no link leads from a0 to b3"
  # A flapping link: much slower than its neighbours. Trees that know nothing of it wait, a ring that does not use it does not.
  ask 0 run "$configs/lab.yaml" -s 'faults.slow_links=[{from: a3, to: b0, bandwidth: 1MB/s}]' -s collective.size=6kB --json slow.json -- "true"
  ask 0 run "$configs/lab.yaml" -s collective.size=6kB --json healthy.json -- "true"
  expect 'a[0]["time_ns"] > 100 * b[0]["time_ns"] and a[1]["time_ns"] == b[1]["time_ns"]' slow.json healthy.json
  ask 2 run "$configs/lab.yaml" -s 'faults.slow_links=[{from: a3, to: b0, bandwidth: 0GB/s}]' -- "0GB/s is out of range" "hint: bandwidth, 1kB/s to 1000TB/s"
}

case ${2:-} in
  pod | program | student | batch | failures) "$2";;
  *) echo "usage: $0 ESPALIER pod|program|student|batch|failures" >&2; exit 2;;
esac
finish
