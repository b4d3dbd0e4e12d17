#!/usr/bin/python3
"""Plots of a sweep's results: examples/python/sweep_plots.py FOLDER [-o PICTURES]

FOLDER holds the results.csv of `espalier sweep gather`. Needs python3-pandas and python3-matplotlib. A plot whose columns are
not in the results is left out, and the script says so.
"""
import argparse
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

SIZE = "collective.size_bytes"
ALGORITHM = "collective.algorithm"
BASELINE = "ring"


def pareto_front(table, x, y):
    """Rows that no other row beats in both columns; smaller is better."""
    rows = table.sort_values([x, y])
    return rows[rows[y] < rows[y].cummin().shift(fill_value=float("inf"))]


def numeric_axes(table):
    """Columns of axes with numbers: those with a unit in base units, the others as they are."""
    axes = table.columns[1:list(table.columns).index("topology")]
    return [name for name in axes if "." in name and pd.api.types.is_numeric_dtype(table[name]) and table[name].nunique() > 1]


def plot_bandwidth(table, axes):
    for name, rows in table.groupby(ALGORITHM):
        curve = rows.groupby(SIZE)["bandwidth_GBps"].max()
        axes.plot(curve.index, curve.values, marker="o", label=name)
    axes.set(xscale="log", yscale="log", xlabel="size, bytes", ylabel="best bandwidth, GB/s")
    axes.legend()


def plot_front(table, axes):
    front = pareto_front(table, "area.system_mm2", "time_ns")
    axes.scatter(table["area.system_mm2"], table["time_ns"], color="0.7", label="all points")
    axes.plot(front["area.system_mm2"], front["time_ns"], marker="o", label="front")
    axes.set(xlabel="area, mm2", ylabel="time, ns")
    axes.legend()


def plot_pivot(table, axes):
    x, y = numeric_axes(table)[:2]
    grid = table.pivot_table(index=y, columns=x, values="time_ns", aggfunc="min")
    axes.pcolormesh(range(grid.shape[1] + 1), range(grid.shape[0] + 1), grid.values)
    axes.set_xticks([i + 0.5 for i in range(grid.shape[1])], [f"{value:g}" for value in grid.columns])
    axes.set_yticks([i + 0.5 for i in range(grid.shape[0])], [f"{value:g}" for value in grid.index])
    axes.set(xlabel=x, ylabel=y, title="least time")


def plot_speed_up(table, axes):
    """Time of the baseline over the time of each algorithm, by size; the best row of each."""
    times = table.pivot_table(index=SIZE, columns=ALGORITHM, values="time_ns", aggfunc="min")
    times.rdiv(times[BASELINE], axis=0).plot(ax=axes, logx=True, marker="o")
    axes.set(xlabel="size, bytes", ylabel=f"speed-up over {BASELINE}")


def plot_load(table, axes):
    rows = table.sort_values("offered_flits_per_node_cycle")
    for field, label in [("mean", "mean"), ("p99", "99 %")]:
        axes.plot(rows["offered_flits_per_node_cycle"], rows[f"message_latency_{field}_cycles"], marker="o", label=label)
    axes.legend()
    axes.set(xlabel="offered load, flits per node and cycle", ylabel="latency, cycles")


PLOTS = {
    "bandwidth": (plot_bandwidth, lambda t: {SIZE, ALGORITHM, "bandwidth_GBps"} <= set(t.columns) and t[SIZE].nunique() > 1),
    "speed_up": (plot_speed_up, lambda t: {SIZE, ALGORITHM} <= set(t.columns) and BASELINE in set(t[ALGORITHM])),
    "front": (plot_front, lambda t: {"area.system_mm2", "time_ns"} <= set(t.columns) and t["area.system_mm2"].nunique() > 1),
    "pivot": (plot_pivot, lambda t: "time_ns" in t and len(numeric_axes(t)) >= 2),
    "load": (plot_load, lambda t: "offered_flits_per_node_cycle" in t and t["offered_flits_per_node_cycle"].nunique() > 1),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="folder of the pictures (default: FOLDER)")
    arguments = parser.parse_args()
    pictures = arguments.output or arguments.folder
    pictures.mkdir(parents=True, exist_ok=True)
    table = pd.read_csv(arguments.folder / "results.csv")
    for name, (plot, suits) in PLOTS.items():
        if not suits(table):
            print(f"{name}: the results have no columns for it")
            continue
        figure, axes = plt.subplots(layout="constrained")
        plot(table, axes)
        figure.savefig(pictures / f"{name}.png")
        print(pictures / f"{name}.png")


if __name__ == "__main__":
    main()
