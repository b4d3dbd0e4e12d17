#!/usr/bin/env python3
"""Small all_reduces on tori and meshes of 8x8 and 4x4 nodes, in cycles.

small.py BUILD simulates each of them, certified and with real data, and prints a table for each network. The row "proposed" is the best of the cycle counts with
which these algorithms were proposed: a message takes its flits and 160 cycles a link there, and adding takes an eighth of a cycle a flit; there are no credits
and no limits of NIs. Here a message takes 150 + 2 cycles a link, 9 more at both NIs, and its steps at the program's contexts. It fails if a size up to 16 KiB takes longer than proposed,
or auto over 1 % longer than the fastest row.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KIB = (1, 2, 4, 8, 16, 32, 64)
TORUS = {
    "auto": "auto", "window": "window", "rs_window_ag": "rs_window_ag", "Swing, whole data": "swing_latency", "Swing, halves": "swing_bandwidth",
    "recursive doubling": "recursive_doubling", "halving-doubling": "halving_doubling", "MultiTree": "multitree",
    "translated, 4 segments": "multitree_translated", "forest": "forest", "direct": "direct",
}
MESH = {
    "auto": "auto", "line": "line", "forest": "forest", "recursive doubling": "recursive_doubling", "halving-doubling": "halving_doubling", "MultiTree": "multitree",
    "direct": "direct",
}
PROPOSED = {
    "torus_8x8": {1: 1432, 4: 1864, 8: 2280, 16: 2624, 32: 2774, 64: 3016},
    "mesh_8x8": {1: 2359, 16: 3267, 32: 4524, 64: 5878},
}


def cycles(espalier, config, side, algorithm):
    sizes = ", ".join(f"{k}KiB" for k in KIB)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [espalier, "run", config, "-q", "-s", f"collective.algorithm={algorithm}", "-s", f"collective.size=[{sizes}]",
                   "-s", "system.flow_control.mode=message", "-s", f"system.topology.dims=[{side}, {side}]", "--json", str(out)]
        if algorithm == "multitree_translated":
            command += ["-s", "collective.segments=4"]
        subprocess.run(command, check=True, capture_output=True)
        results = json.loads(out.read_text())["results"]
    for result in results:
        if not (result["certified"] and result["verified"]):
            sys.exit(f"{algorithm} is not certified and verified")
    return {result["size_bytes"] >> 10: result["cycles"] for result in results}


def main():
    espalier = str(Path(sys.argv[1]) / "espalier")
    configs = Path(__file__).resolve().parents[2] / "configs"
    slower = []
    for network, side, rows in (("torus", 8, TORUS), ("torus", 4, TORUS), ("mesh", 8, MESH), ("mesh", 4, MESH)):
        print(f"| {network} {side}x{side}, cycles | " + " | ".join(f"{k} KiB" for k in KIB) + " |\n|---" + "|---" * len(KIB) + "|")
        taken = {}
        for name, algorithm in rows.items():
            taken[name] = cycles(espalier, str(configs / f"{network}_8x8.yaml"), side, algorithm)
            print(f"| {name} | " + " | ".join(str(taken[name][k]) for k in KIB) + " |", flush=True)
        best = {k: min(row[k] for row in taken.values()) for k in KIB}
        proposed = PROPOSED.get(f"{network}_{side}x{side}", {})
        print("| proposed | " + " | ".join(str(proposed.get(k, "")) for k in KIB) + " |\n" if proposed else "")
        slower += [f"{network} {side}x{side}, {k} KiB" for k, most in proposed.items() if k <= 16 and best[k] > most]
        slower += [f"auto, {network} {side}x{side}, {k} KiB" for k in KIB if taken["auto"][k] > 1.01 * best[k]]
    if slower:
        sys.exit("slower than it should be: " + "; ".join(slower))


if __name__ == "__main__":
    main()
