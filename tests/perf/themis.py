"""Times of Themis's Table 2 systems; called by themis.sh."""

import json
import os
import subprocess
import sys
import tempfile
import time

SYSTEMS = ["2d_sw_sw", "3d_sw_sw_sw_homo", "3d_sw_sw_sw_hetero", "3d_fc_ring_sw", "4d_ring_sw_sw_sw", "4d_ring_fc_ring_sw"]


def run(espalier, system, *settings):
    """One point as a process of its own: its result, and the seconds from start to end."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [espalier, "run", f"configs/themis/{system}.yaml", "--json", report.name]
        for setting in ("collective.algorithm=themis",) + settings:
            command += ["-s", setting]
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        return json.load(report)["results"][0], seconds


def points_at_1_gb(espalier):
    print(f"{'1 GB, Themis+SCF':24}{'seconds':>8}{'MiB':>7}{'utilization':>13}   target: 5 s, 4096 MiB")
    for system in SYSTEMS:
        result, seconds = run(espalier, system, "collective.size=1GB")
        memory = result["host"]["peak_rss_MiB"]
        print(f"{system:24}{seconds:8.2f}{memory:7.0f}{100 * result['utilization']:12.1f}%")


def folded_against_full(espalier):
    folded, short = run(espalier, "2d_sw_sw")
    full, long = run(espalier, "2d_sw_sw", "simulation.fold=off")
    same = all(folded[field] == full[field] for field in ("cycles", "flit_hops", "messages", "dimensions"))
    print(f"one NPU for all: {short:.2f} s; all 1024: {long:.1f} s; {long / short:.0f} times; "
          f"{'equal' if same else 'DIFFERENT'}, {full['cycles']} cycles")


def all_of_fig_8(espalier):
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        subprocess.run(["/usr/bin/python3", "-m", "espalier.figures", "configs/figures/themis_fig8.yaml", "-o", folder], check=True,
                       stdout=subprocess.DEVNULL, env=os.environ | {"ESPALIER": espalier, "PYTHONPATH": "python"})
        seconds = time.monotonic() - begin
        with open(os.path.join(folder, "themis_fig8.csv"), encoding="utf-8") as csv:
            points = len(csv.readlines()) - 1
    print(f"Fig. 8: {points} points in {seconds:.0f} s with one command   target: 600 s on two cores")


def main():
    espalier = os.path.join(sys.argv[1], "espalier")
    points_at_1_gb(espalier)
    all_of_fig_8(espalier)
    if sys.argv[2:] == ["full"]:
        folded_against_full(espalier)


main()
