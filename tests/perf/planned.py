#!/usr/bin/env python3
"""Planned schedules against the proven bound: a report, never a gate.

planned.py BUILD [NAME ...] simulates `forest` (all_to_all: `a2a_paths`) and `multitree` on the networks below, certified and with real data, and
prints the share of the bound, the entries of the longest table and the seconds that each run took. Links of grids have 500 ns.
"""
import itertools
import sys
import tempfile
import time
from pathlib import Path

from one_run import one_run


def grid(dims, rates, wraps=False, without_node=None, without_link=None, unit="GB/s", latency="500ns"):
    """A graph file's text: rates in `unit` by dimension."""
    count = 1
    for d in dims:
        count *= d
    points = {p[::-1]: i for i, p in enumerate(itertools.product(*[range(d) for d in reversed(dims)]))}
    names = [f"n{i}" for i in range(count) if i != without_node]
    lines = [f"nodes: [{', '.join(names)}]", "links:"]
    for point, i in points.items():
        for k, size in enumerate(dims):
            to = list(point)
            to[k] += 1
            if to[k] == size:
                if not wraps or size < 3:
                    continue
                to[k] = 0
            j = points[tuple(to)]
            if without_node in (i, j) or without_link == (i, j):
                continue
            lines.append(f"  - {{between: [n{i}, n{j}], bandwidth: {rates[k]}{unit}, latency: {latency}}}")
    return "\n".join(lines) + "\n"


# Name: text, GB/s of the fastest link, operations.
NETWORKS = {
    "mesh 4x4": (grid([4, 4], [50, 50]), 50),
    "mesh 8x8": (grid([8, 8], [50, 50]), 50),
    "mesh 5x5, 50/75": (grid([5, 5], [75, 50]), 75),
    "mesh 8x5, 80/35": (grid([8, 5], [80, 35]), 80),
    "mesh 7x10, 16/73": (grid([7, 10], [16, 73]), 73),
    "mesh 4x2x3": (grid([4, 2, 3], [50] * 3), 50),
    "mesh 3x3x3": (grid([3, 3, 3], [50] * 3), 50),
    "torus 3x3x3": (grid([3, 3, 3], [50] * 3, True), 50),
    "torus 8x8": (grid([8, 8], [50, 50], True), 50),
    "torus 8x8 less a link": (grid([8, 8], [50, 50], True, without_link=(27, 28)), 50),
    "torus 8x8 less a node": (grid([8, 8], [50, 50], True, without_node=27), 50),
}
SIZES = ("1GB", "64MiB")


def run(espalier, folder, text, rate, op, algorithm, size):
    begin = time.monotonic()
    result = one_run(espalier, folder, text, rate, op, algorithm, size)
    return result["bound_ratio"], result["table_entries_max"], time.monotonic() - begin


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    print(f"{'network':24} {'operation':12} {'size':6} {'multitree':>10} {'planned':>8} {'entries':>8} {'s':>6}")
    for name, (text, rate) in NETWORKS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        cases = list(itertools.product(("all_gather", "all_reduce"), SIZES)) + [("all_to_all", "64MB")]
        for op, size in cases:
            with tempfile.TemporaryDirectory() as folder:
                literal, _, _ = run(espalier, folder, text, rate, op, "multitree", size)
                planned = "a2a_paths" if op == "all_to_all" else "forest"
                share, entries, seconds = run(espalier, folder, text, rate, op, planned, size)
            print(f"{name:24} {op:12} {size:6} {100 * literal:9.1f}% {100 * share:7.2f}% {entries:8} {seconds:6.1f}", flush=True)


if __name__ == "__main__":
    main()
