#!/usr/bin/env bash
# Speed of cycle fidelity: flit-hops (one flit through one router) per CPU second, as a report.
# tests/perf/run.sh [RUNS]: the median of that many runs of each case (default 3).
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-3}
sims/install-packages.sh python3
sims/build.sh release espalier
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
printf '%-20s %12s %14s %12s %12s\n' case cycles flit-hops 'M hops/s' 'memory MiB'
for config in tests/perf/flit_speed/*.yaml; do
  name=$(basename "$config" .yaml)
  for ((i = 0; i < runs; ++i)); do
    build/release/espalier run "$config" -s simulation.fidelity=cycle --json "$results/$name.$i.json" >/dev/null
  done
  python3 - "$name" "$results/$name".*.json <<'P'
import json, statistics, sys
name, files = sys.argv[1], sys.argv[2:]
results = [json.load(open(f))["results"][0] for f in files]
speed = statistics.median(r["host"]["flit_hops_per_cpu_s"] for r in results) / 1e6
r = results[0]
print(f"{name:<20} {r['cycles']:>12} {r['flit_hops']:>14} {speed:>12.1f} {r['host']['peak_rss_MiB']:>12.0f}")
P
done
