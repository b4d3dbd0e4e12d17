#!/usr/bin/env python3
"""`auto` against TE-CCL's solved all_gathers.

teccl.py BUILD [NAME ...] simulates each of them, certified and with real data, and prints TE-CCL's time, ours, our share of the bound and
seconds: of CPU until there is a schedule, of simulating the candidates, and of the whole run. It fails if TE-CCL is faster on one by more than the grain of its time: 1 %. Networks and times: configs/published. There a
chunk takes whole epochs and links have no flits; in epochs longer than a link's latency, that latency is 0.
"""
import csv
import sys
import tempfile
import time
from pathlib import Path

from one_run import RunFailed, one_run

PUBLISHED = Path(__file__).resolve().parents[2] / "configs" / "published"
# Graph file, GB/s of the fastest link.
NETWORKS = {"NDv2 x 2": ("ndv2_2.yaml", 50), "NDv2 x 4": ("ndv2_4.yaml", 50), "DGX2 x 2": ("dgx2_2.yaml", 125)}
TOLERANCE = 1.01
MOST_PLANNING_S = 1


def published(tool):
    """The rows of configs/published/times.csv: network, size in bytes, time in us."""
    lines = [line for line in (PUBLISHED / "times.csv").read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        if row["tool"] == tool:
            yield row["network"], int(row["size"].removesuffix("B")), float(row["time"].removesuffix("us"))


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    missed = []
    slow = []
    print("| case | bytes | TE-CCL, us | ours, us | of the bound, % | planning, s | choosing, s | run, s |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, size, theirs in published("TE-CCL"):
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            graph, flit = NETWORKS[name]
            start = time.monotonic()
            try:
                result = one_run(espalier, folder, PUBLISHED / "graphs" / graph, flit, "all_gather", "auto", f"{size}B", vc_depth=5400)
            except RunFailed as failed:
                sys.exit(f"{name}, {size} B: {failed}")
            seconds = time.monotonic() - start
            ours = result["time_ns"] / 1e3
            host = result["host"]
            print(f"| {name} | {size} | {theirs:.2f} | {ours:.2f} | {100 * result['bound_ratio']:.2f} | {host['planning_cpu_s']:.2f} | "
                  f"{host['choosing_s']:.2f} | {seconds:.1f} |", flush=True)
            if host["planning_cpu_s"] > MOST_PLANNING_S:
                slow.append(f"{name} of {size} B")
            if ours > TOLERANCE * theirs:
                missed.append(f"{name} of {size} B")
    if slow:
        print(f"planned in over {MOST_PLANNING_S} s: {', '.join(slow)}")
    if missed:
        sys.exit(f"TE-CCL is faster: {', '.join(missed)}")


if __name__ == "__main__":
    main()
