#!/usr/bin/python3
"""Runs the recipes of docs/python.md and its example of a program. Needs python3-pandas and python3-matplotlib; exit code 77
(skipped) without. tests/python/check_recipes.py ESPALIER"""
import os
import pathlib
import re
import sys
import tempfile

try:
    import matplotlib
    import pandas
except ImportError as missing:
    print(f"skipped: {missing} (packages python3-pandas, python3-matplotlib)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["ESPALIER"] = str(pathlib.Path(sys.argv[1]).resolve())
page = (ROOT / "docs/python.md").read_text()
recipes = re.findall(r"```python\n(.*?)```", page, re.S)
assert len(recipes) >= 7, "docs/python.md has lost its recipes"
for name in ["sweeps/bandwidth", "figures/link_latency"]:
    file = (ROOT / f"configs/{name}.yaml").read_text()
    assert "```yaml\n" + file[file.index("title:"):] + "```\n" in page, f"docs/python.md shows another {name}.yaml"

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.symlink(ROOT / "configs", "configs")
    matplotlib.use("Agg")
    names = {}
    for recipe in recipes:
        exec(compile(recipe, "docs/python.md", "exec"), names)
    # The recipes' numbers, computed another way.
    table = names["table"]
    assert list(names["grid"].columns) == sorted(table["system.link.latency_ns"].unique())
    rows = table[(table["collective.size_bytes"] == 65536) & (table["system.link.latency_ns"] == 50)].set_index("collective.algorithm")
    expected = rows.loc["ring", "time_ns"] / rows.loc["multitree", "time_ns"]
    found = names["speed_up"].loc[(65536, 50), "multitree"]
    assert abs(found - expected) < 1e-12, (found, expected)
    for _, row in names["front"].iterrows():
        better = table[(table["area.system_mm2"] <= row["area.system_mm2"]) & (table["time_ns"] < row["time_ns"])]
        assert better.empty, "a design of the front is beaten"
    assert pathlib.Path("bandwidth.png").stat().st_size > 5000
    assert names["frame"].loc[0, "verified"]
    print(f"{len(recipes)} recipes")
