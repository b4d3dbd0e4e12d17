#!/usr/bin/env python3
"""`auto` against TE-CCL's solved all_gathers.

teccl.py BUILD [NAME ...] simulates each of them, certified and with real data, and prints TE-CCL's time, ours, our share of the bound and
seconds: of CPU until there is a schedule, of simulating the candidates, and of the whole run. Networks and times: configs/published.

TE-CCL's model: a chunk takes whole epochs, links have no flits, in epochs longer than ten times a link's latency that latency is 0, routers
and interfaces take no time, and a switch copies a chunk to all of its links. Here a message has a head flit, passes interfaces and routers, and
is sent by its node once for every receiver. Where TE-CCL is faster by more than the grain of its time, 1 %, the last column has the time that
this machine needs at least: the proven bound of the network whose link latencies include what interfaces, routers and head flits add. No
schedule for this machine has TE-CCL's time if it is below. The script fails if TE-CCL is faster and its time is not below that bound.
"""
import csv
import re
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
# In cycles of 1 ns, as the default keys of system.ni and system.router say (docs/timing.md).
DMA_AND_INJECTION = 4
PIPELINE = 2
EJECTION_AND_DELIVERY = 4


def published(tool):
    """The rows of configs/published/times.csv: network, size in bytes, time in us."""
    lines = [line for line in (PUBLISHED / "times.csv").read_text().splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        if row["tool"] == tool:
            yield row["network"], int(row["size"].removesuffix("B")), float(row["time"].removesuffix("us"))


def machine_graph(text, flit):
    """The graph with link latencies that include what a message takes at both ends. A message's head flit comes before its data, also where it leaves
    its node; a link carries `flit` bytes per flit."""
    switches = set(re.search(r"^switches: \[(.*)\]", text, re.M).group(1).split(", ")) if "switches:" in text else set()

    def directed(a, b, rate, latency):
        more = PIPELINE + (0 if a in switches else DMA_AND_INJECTION + PIPELINE + flit / rate) + (0 if b in switches else EJECTION_AND_DELIVERY)
        return f"  - {{from: {a}, to: {b}, bandwidth: {rate:g}GB/s, latency: {int(latency + more)}ns}}"

    lines = []
    for line in text.splitlines():
        link = re.search(r"\{(?:between: \[|from: )(\w+),(?: to:)? (\w+)\]?, bandwidth: ([\d.]+)GB/s, latency: (\d+)ns\}", line)
        if not link:
            lines.append(line)
            continue
        a, b, rate, latency = link.group(1), link.group(2), float(link.group(3)), int(link.group(4))
        lines.append(directed(a, b, rate, latency))
        if "between" in line:
            lines.append(directed(b, a, rate, latency))
    return "\n".join(lines) + "\n"


def least_us(espalier, folder, graph, flit, size):
    """The time that this machine needs at least. The last message is visible a cycle before the next one could leave."""
    text = machine_graph((PUBLISHED / "graphs" / graph).read_text(), flit)
    result = one_run(espalier, folder, text, flit, "all_gather", "forest", f"{size}B", vc_depth=5400)
    return (result["bound_ns"] - 1) / 1e3


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    missed = []
    slow = []
    below = []
    print("| case | bytes | TE-CCL, us | ours, us | of the bound, % | planning, s | choosing, s | run, s | needs at least, us |\n|---|---|---|---|---|---|---|---|---|")
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
            faster = ours > TOLERANCE * theirs
            least = least_us(espalier, folder, graph, flit, size) if faster else None
            print(f"| {name} | {size} | {theirs:.2f} | {ours:.2f} | {100 * result['bound_ratio']:.2f} | {host['planning_cpu_s']:.2f} | "
                  f"{host['choosing_s']:.2f} | {seconds:.1f} | {f'{least:.3f}' if faster else ''} |", flush=True)
            if host["planning_cpu_s"] > MOST_PLANNING_S:
                slow.append(f"{name} of {size} B")
            if faster and theirs < least:
                below.append(f"{name} of {size} B")
            elif faster:
                missed.append(f"{name} of {size} B")
    if below:
        print(f"TE-CCL's time is below what this machine needs at least: {', '.join(below)}")
    if slow:
        print(f"planned in over {MOST_PLANNING_S} s: {', '.join(slow)}")
    if missed:
        sys.exit(f"TE-CCL is faster: {', '.join(missed)}")


if __name__ == "__main__":
    main()
