#!/usr/bin/env python3
"""How much longer a simulation takes with Verilog that decides in it: rtl.py BUILD [RUNS].

Runs MULTITREE's all-reduce of 1 MiB on the 8x8 torus, and Themis' of 4 MiB in 64 chunks on 16 NPUs, each simulated, with and
without `simulation.rtl`. Prints the median CPU seconds of the engine and their ratio, and fails where the ratio is over 20 or the cycles differ.
"""
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
# Block, configuration, settings.
MULTITREE = ["collective.algorithm=multitree"]
RUNS = (
    ("[ni_control]", "torus_8x8.yaml", MULTITREE),
    ("[dependency_state]", "torus_8x8.yaml", MULTITREE),
    ("[ni_control, dependency_state]", "torus_8x8.yaml", MULTITREE),
    ("[ni_control, dependency_state, output_hold]", "torus_8x8.yaml", [*MULTITREE, "simulation.fidelity=cycle"]),
    ("[output_hold]", "torus_8x8.yaml", [*MULTITREE, "simulation.fidelity=cycle"]),
    ("[dimension_queue]", "themis/late_node.yaml",
     ["collective.algorithm=themis", "collective.size=4MiB", "collective.chunks=64", "simulation.fold=off", "system.ni.dimension_queue.in_flight=8"]),
)
MOST = 20


def engine(espalier, config, settings, rtl, folder):
    """CPU seconds of the engine, and the cycles."""
    out = Path(folder) / "result.json"
    overrides = [word for setting in [*settings, f"simulation.rtl={rtl}"] for word in ("-s", setting)]
    subprocess.run([espalier, "run", CONFIGS / config, *overrides, "--json", out], check=True, stdout=subprocess.DEVNULL)
    results = json.loads(out.read_text())["results"]
    return sum(r["host"]["engine_cpu_s"] for r in results), [r["cycles"] for r in results]


def main():
    build, runs = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    espalier = build / "espalier"
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for blocks, config, settings in RUNS:
            pairs = [(engine(espalier, config, settings, "none", folder), engine(espalier, config, settings, blocks, folder)) for _ in range(runs)]
            model, rtl = (statistics.median(pair[i][0] for pair in pairs) for i in (0, 1))
            same = all(a[1] == b[1] for a, b in pairs)
            ratio = rtl / model
            missed |= ratio > MOST or not same
            print(f"{blocks}: {model:.4f} s without, {rtl:.4f} s with, {ratio:.1f} times (at most {MOST}), {'equal' if same else 'OTHER'} cycles")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
