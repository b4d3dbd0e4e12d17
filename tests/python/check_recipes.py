#!/usr/bin/python3
"""Runs the recipes of docs/python.md and examples/python/sweep_plots.py on small sweeps. Needs python3-pandas and
python3-matplotlib; exit code 77 (skipped) without. tests/python/check_recipes.py ESPALIER"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import matplotlib
    import pandas
except ImportError as missing:
    print(f"skipped: {missing} (packages python3-pandas, python3-matplotlib)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
ESPALIER = str(pathlib.Path(sys.argv[1]).resolve())
SCRIPT = ROOT / "examples/python/sweep_plots.py"
page = (ROOT / "docs/python.md").read_text()
recipes = re.findall(r"```python\n(.*?)```", page, re.S)
assert len(recipes) >= 5, "docs/python.md has lost its recipes"
sweep = re.search(r"```yaml\n(title: .*?)```", page, re.S).group(1)
load = """title: Load
config: {system: {topology: {type: mesh, dims: [2, 2]}}, traffic: {pattern: uniform, warmup_cycles: 0, measure_cycles: 2000, drain_cycles: 0}}
axes: [{key: traffic.injection_rate, values: [0.05, 0.1]}]
"""


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, text in [("bandwidth", sweep), ("load", load)]:
        pathlib.Path(name + ".yaml").write_text(text)
        for step in ["run", "gather"]:
            run(ESPALIER, "sweep", step, name + ".yaml")
    matplotlib.use("Agg")
    names = {}
    for recipe in recipes:
        exec(compile(recipe, "docs/python.md", "exec"), names)
    table = names["table"]
    # The recipes' numbers, computed another way.
    assert list(names["grid"].columns) == sorted(table["system.link.latency_ns"].unique())
    rows = table[(table["collective.size_bytes"] == 65536) & (table["system.link.latency_ns"] == 50)].set_index("collective.algorithm")
    expected = rows.loc["ring", "time_ns"] / rows.loc["multitree", "time_ns"]
    found = names["speed_up"].loc[(65536, 50), "multitree"]
    assert abs(found - expected) < 1e-12, (found, expected)
    front = names["front"]
    for _, row in front.iterrows():
        better = table[(table["area.system_mm2"] <= row["area.system_mm2"]) & (table["time_ns"] < row["time_ns"])]
        assert better.empty, "a design of the front is beaten"
    assert (names["lines"]["time_ns"] == table["time_ns"]).all()
    for name, pictures in [("bandwidth", ["bandwidth", "speed_up", "pivot"]), ("load", ["load"])]:
        run(str(SCRIPT), "sweeps/" + name, "-o", "pictures")
        for picture in pictures:
            assert pathlib.Path("pictures", picture + ".png").stat().st_size > 5000, picture
    print(f"{len(recipes)} recipes, {len(list(pathlib.Path('pictures').iterdir()))} pictures")
