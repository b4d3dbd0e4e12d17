#!/usr/bin/env python3
"""Small all_reduces on an 8x8 torus and an 8x8 mesh, in cycles.

small.py BUILD simulates each of them, certified and with real data, and prints a table for each network. The row "proposed" is the best of the cycle counts with
which these algorithms were proposed: a message takes its flits and 160 cycles a link there, and adding takes an eighth of a cycle a flit; there are no credits
and no limits of NIs. Here a message takes 150 + 2 cycles a link, 9 more at both NIs, and its steps at the program's contexts. It fails if a size up to 16 KiB takes longer than proposed.
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

KIB = (1, 2, 4, 8, 16, 32, 64)
TORUS = {
    "window": "window", "rs_window_ag": "rs_window_ag", "Swing, whole data": "swing_latency", "Swing, halves": "swing_bandwidth",
    "recursive doubling": "recursive_doubling", "halving-doubling": "halving_doubling", "MultiTree": "multitree",
    "translated, 4 segments": "multitree_translated",
}
MESH = {"line": "line", "forest": "forest", "recursive doubling": "recursive_doubling", "halving-doubling": "halving_doubling", "MultiTree": "multitree"}
PROPOSED = {
    "torus": {1: 1432, 4: 1864, 8: 2280, 16: 2624, 32: 2774, 64: 3016},
    "mesh": {1: 2359, 16: 3267, 32: 4524, 64: 5878},
}


def cycles(espalier, config, algorithm):
    sizes = ", ".join(f"{k}KiB" for k in KIB)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [espalier, "run", config, "-q", "-s", f"collective.algorithm={algorithm}", "-s", f"collective.size=[{sizes}]",
                   "-s", "system.flow_control.mode=message", "--json", str(out)]
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
    for network, rows in (("torus", TORUS), ("mesh", MESH)):
        print(f"| {network} 8x8, cycles | " + " | ".join(f"{k} KiB" for k in KIB) + " |\n|---" + "|---" * len(KIB) + "|")
        best = {}
        for name, algorithm in rows.items():
            taken = cycles(espalier, str(configs / f"{network}_8x8.yaml"), algorithm)
            print(f"| {name} | " + " | ".join(str(taken[k]) for k in KIB) + " |", flush=True)
            for k in KIB:
                best[k] = min(best.get(k, taken[k]), taken[k])
        print("| proposed | " + " | ".join(str(PROPOSED[network].get(k, "")) for k in KIB) + " |\n")
        slower += [f"{network}, {k} KiB" for k, most in PROPOSED[network].items() if k <= 16 and best[k] > most]
    if slower:
        sys.exit("slower than proposed: " + "; ".join(slower))


if __name__ == "__main__":
    main()
