#!/usr/bin/env python3
"""`forest` against TACOS on the all_gathers that TACOS tests itself with.

tacos.py BUILD simulates each of them, certified and with real data, and prints the time of TACOS' best of 20 syntheses, ours, our share of the bound and the
seconds of the whole run. It fails if TACOS is faster on one, or a share is below 99 %. Networks and times: astra-sim/tacos, tests/test_tacos_*.cpp, commit
1811f1f (MIT). There a message of s bytes takes latency + s / rate on a link; here flits, credits and NIs count, too.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planned import FLITS_PER_PACKET, grid

GIB = 1 << 30
# Name, sizes of the dimensions, a torus or not, GiB/s by dimension, ns of a link, bytes, TACOS' time in us.
CASES = (
    ("Torus3x3x3", (3, 3, 3), True, (50, 50, 50), 500, GIB, 3706.2),
    ("Torus3x4x5", (3, 4, 5), True, (50, 50, 50), 500, 2 * GIB, 6676.67),
    ("Torus4x2x3", (4, 2, 3), True, (50, 50, 50), 500, 3 * GIB, 11673.67),
    ("Mesh5x5", (5, 5), False, (50, 50), 500, GIB, 9606.0),
    ("Mesh7x12", (7, 12), False, (100, 100), 1000, 4 * GIB, 19966.27),
    ("Mesh10x10", (10, 10), False, (100, 100), 1000, GIB, 5049.0),
    ("Hypercube3x3x3", (3, 3, 3), False, (50, 50, 50), 500, GIB, 6671.17),
    ("Hypercube3x4x5", (3, 4, 5), False, (50, 50, 50), 500, 2 * GIB, 13353.33),
    ("Hypercube4x2x3", (4, 2, 3), False, (50, 50, 50), 500, 3 * GIB, 19178.17),
    ("Mesh2DHetero5x5", (5, 5), False, (50, 75), 500, GIB, 8005.0),
    ("Mesh2DHetero8x5", (8, 5), False, (80, 35), 1000, GIB, 8595.43),
    ("Mesh2DHetero7x10", (7, 10), False, (16, 73), 1500, 4 * GIB, 44612.47),
)
TARGET = 0.99


def run(espalier, folder, case):
    _, dims, wraps, rates, latency, size, _ = case
    (folder / "net.yaml").write_text(grid(dims, rates, wraps, unit="GiB/s", latency=f"{latency}ns"))
    flit = max(rates)  # a flit per cycle of 2^30 Hz; below, a VC holds a credit's way there and back
    (folder / "run.yaml").write_text(
        "system: {topology: {type: file, file: net.yaml}, router: {clock: %dHz, flit_bytes: %d, vc_depth_flits: %d},\n"
        "  flow_control: {payload_bytes: %d, sub_message_bytes: %d}}\n"
        "collective: {op: all_gather, algorithm: forest, size: %dB}\nsimulation: {fidelity: train}\n"
        % (GIB, flit, 3 * latency, flit * FLITS_PER_PACKET, flit * FLITS_PER_PACKET * 8, size))
    out = folder / "out.json"
    subprocess.run([espalier, "run", str(folder / "run.yaml"), "--json", str(out)], check=True, capture_output=True)
    return json.loads(out.read_text())["results"][0]


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    missed = []
    print("| case | TACOS, us | ours, us | of the bound, % | run, s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            start = time.monotonic()
            result = run(espalier, Path(folder), case)
            seconds = time.monotonic() - start
            if not (result["certified"] and result["verified"]):
                sys.exit(f"{case[0]} is not certified and verified")
            ours = result["time_ns"] / 1e3
            print(f"| {case[0]} | {case[-1]:.1f} | {ours:.1f} | {100 * result['bound_ratio']:.2f} | {seconds:.1f} |", flush=True)
            if ours > case[-1] or result["bound_ratio"] < TARGET:
                missed.append(case[0])
    if missed:
        sys.exit(f"TACOS is faster, or the share is below {100 * TARGET:.0f} %: {', '.join(missed)}")


if __name__ == "__main__":
    main()
