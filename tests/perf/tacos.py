#!/usr/bin/env python3
"""`forest` against TACOS on the all_gathers that TACOS tests itself with.

tacos.py BUILD simulates each of them, certified and with real data, and prints the time of TACOS' best of 20 syntheses, ours, our share of the bound and the
seconds of the whole run. It fails if TACOS is faster on one, or a share is below 99 %. Networks: astra-sim/tacos, tests/test_tacos_*.cpp, commit
1811f1f (MIT); times: configs/published. There a message of s bytes takes latency + s / rate on a link; here flits, credits and NIs count, too.
"""
import sys
import tempfile
import time
from pathlib import Path

from one_run import RunFailed, one_run
from planned import grid
from teccl import published

GIB = 1 << 30
# Name, sizes of the dimensions, a torus or not, GiB/s by dimension, ns of a link.
CASES = (
    ("Torus3x3x3", (3, 3, 3), True, (50, 50, 50), 500),
    ("Torus3x4x5", (3, 4, 5), True, (50, 50, 50), 500),
    ("Torus4x2x3", (4, 2, 3), True, (50, 50, 50), 500),
    ("Mesh5x5", (5, 5), False, (50, 50), 500),
    ("Mesh7x12", (7, 12), False, (100, 100), 1000),
    ("Mesh10x10", (10, 10), False, (100, 100), 1000),
    ("Hypercube3x3x3", (3, 3, 3), False, (50, 50, 50), 500),
    ("Hypercube3x4x5", (3, 4, 5), False, (50, 50, 50), 500),
    ("Hypercube4x2x3", (4, 2, 3), False, (50, 50, 50), 500),
    ("Mesh2DHetero5x5", (5, 5), False, (50, 75), 500),
    ("Mesh2DHetero8x5", (8, 5), False, (80, 35), 1000),
    ("Mesh2DHetero7x10", (7, 10), False, (16, 73), 1500),
)
TARGET = 0.99


def run(espalier, folder, case, size):
    _, dims, wraps, rates, latency = case
    flit = max(rates)  # a flit per cycle of 2^30 Hz; below, a VC holds a credit's way there and back
    return one_run(espalier, folder, grid(dims, rates, wraps, unit="GiB/s", latency=f"{latency}ns"), flit, "all_gather", "forest", f"{size}B",
                   clock=f"{GIB}Hz", vc_depth=3 * latency)


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    missed = []
    print("| case | TACOS, us | ours, us | of the bound, % | run, s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        times = {name: (size, theirs) for name, size, theirs in published("TACOS")}
        for case in CASES:
            size, theirs = times[case[0]]
            start = time.monotonic()
            try:
                result = run(espalier, folder, case, size)
            except RunFailed as failed:
                sys.exit(f"{case[0]}: {failed}")
            seconds = time.monotonic() - start
            ours = result["time_ns"] / 1e3
            print(f"| {case[0]} | {theirs:.1f} | {ours:.1f} | {100 * result['bound_ratio']:.2f} | {seconds:.1f} |", flush=True)
            if ours > theirs or result["bound_ratio"] < TARGET:
                missed.append(case[0])
    if missed:
        sys.exit(f"TACOS is faster, or the share is below {100 * TARGET:.0f} %: {', '.join(missed)}")


if __name__ == "__main__":
    main()
