#!/usr/bin/python3
"""espalier.figures computes the tables of figures from sweeps and draws them. Exit code 77 (skipped) without python3-pandas,
python3-matplotlib or python3-yaml. tests/python/check_figures.py ESPALIER"""
import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
try:
    import matplotlib
    import pandas
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (packages python3-pandas, python3-matplotlib, python3-yaml)")
    sys.exit(77)
import espalier
from espalier import figures

SMALL = """title: A ring, a tree
config: {system: {topology: {type: mesh, dims: [2, 2]}}, collective: {op: all_reduce}}
axes:
  - name: design
    cases:
      ring: {collective: {algorithm: ring}}
      tree: {collective: {algorithm: multitree}}
  - {key: collective.size, values: [8KiB, 4KiB]}
draw:
  series: design
  x: {field: size_bytes, label: size, scale: log2}
  y: {field: time_ns, label: speed-up}
  normalize: {series: ring, inverse: true}
"""


class Stub:
    """A figure whose axis `s` has the values a and b."""

    def __init__(self):
        self.places = self

    def values_of(self, axis, _):
        return ["a", "b"]

    def fail(self, _, message, hint=""):
        raise figures.Mistake(message + hint)


def table(draw, points, complete=True):
    """(series, part, x, y, start) of a panel with points (series, result)."""
    rows = [{"columns": {"s": series}, "result": result} for series, result in points]
    draw = {"series": "s", "x": {"field": "x"}, "y": {"field": "y"}} | draw
    return [row[:5] for row in figures.Panel(Stub(), "", draw, rows, complete, []).table]


def point(series, x, y, **more):
    return series, {"x": x, "y": y} | more


class Tables(unittest.TestCase):
    def test_lines_ascend_in_x_and_bars_keep_the_order_of_the_sweep(self):
        points = [point("a", 4, 40.0), point("a", 2, 20.0)]
        self.assertEqual(table({}, points), [(0, 0, 2, 20.0, 0.0), (0, 0, 4, 40.0, 0.0)])
        self.assertEqual(table({"kind": "bars"}, points), [(0, 0, 4, 40.0, 0.0), (0, 0, 2, 20.0, 0.0)])

    def test_values_are_relative_to_a_series_at_the_same_or_a_given_x(self):
        points = [point("a", 1, 10.0), point("a", 2, 20.0), point("b", 1, 5.0), point("b", 2, 40.0)]
        self.assertEqual([row[3] for row in table({"normalize": {"series": "a"}}, points)], [1, 1, 0.5, 2])
        inverse = {"normalize": {"series": "a", "inverse": "true"}}
        self.assertEqual([row[3] for row in table(inverse, points)], [1, 1, 2, 0.5])
        self.assertEqual([row[3] for row in table({"normalize": {"series": "a", "x": "1"}}, points)], [1, 2, 0.5, 4])
        with self.assertRaisesRegex(figures.Mistake, "series 'a' has no point at 3"):
            table({"normalize": {"series": "a", "x": "3"}}, points)
        with self.assertRaisesRegex(figures.Mistake, "no series 'c'"):
            table({"normalize": {"series": "c"}}, points)

    def test_a_reference_of_zero_leaves_the_cell_empty(self):
        rows = table({"normalize": {"series": "a"}}, [point("a", 1, 0.0), point("b", 1, 5.0)])
        self.assertEqual([figures.cell(row[3]) for row in rows], ["", ""])

    def test_parts_of_a_bar_stand_on_each_other_relative_to_the_whole_reference(self):
        draw = {"kind": "bars", "normalize": {"series": "a"}, "y": {"label": "t", "parts": [{"field": "y"}, {"field": "z"}]}}
        rows = table(draw, [point("a", 1, 6.0, z=4.0), point("b", 1, 3.0, z=2.0)])
        self.assertEqual(rows, [(0, 0, 1, 0.6, 0.0), (0, 1, 1, 0.4, 0.6), (1, 0, 1, 0.3, 0.0), (1, 1, 1, 0.2, 0.3)])

    def test_a_failed_point_is_not_drawn_nor_what_is_relative_to_it(self):
        points = [point("a", 1, 10.0), point("b", 1, 5.0), point("b", 2, 4.0)]
        self.assertEqual([row[:4] for row in table({"normalize": {"series": "a"}}, points, complete=False)],
                         [(0, 0, 1, 1.0), (1, 0, 1, 0.5)])

    def test_points_at_one_x_are_combined_or_a_mistake(self):
        points = [point("a", 1, 10.0), point("a", 1, 20.0), point("a", 2, 4.0)]
        with self.assertRaisesRegex(figures.Mistake, "two points at 1"):
            table({}, points)
        self.assertEqual([row[3] for row in table({"y": {"field": "y", "combine": "mean"}}, points)], [15.0, 4.0])
        self.assertEqual([row[3] for row in table({"y": {"field": "y", "combine": "min"}}, points)], [10.0, 4.0])
        # If a point of a mean failed, the mean of the other points would look like the mean of all points.
        self.assertEqual([row[3] for row in table({"y": {"field": "y", "combine": "mean"}}, points, complete=False)], [15.0])

    def test_entries_of_a_list_are_drawn_at_the_middle_of_their_steps(self):
        draw = {"series": [{"label": "l", "field": "list"}], "x": {"step": "d", "factor": "0.5"}}
        self.assertEqual([row[2:4] for row in table(draw, [("a", {"d": 4, "list": [7.0, 8.0]})])], [(1.0, 7.0), (3.0, 8.0)])
        with self.assertRaisesRegex(figures.Mistake, "'d' is not a list"):
            table(draw | {"series": [{"label": "l", "field": "d"}]}, [("a", {"d": 4})])

    def test_a_field_that_results_lack_is_named_with_the_nearest(self):
        with self.assertRaisesRegex(figures.Mistake, "'time' is no field of the results.*did you mean 'times'"):
            table({"y": {"field": "time"}}, [point("a", 1, 2.0, times=3.0)])


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, ROOT)

    def rows(self):
        with open("out/small.csv") as file:
            return list(csv.DictReader(file))

    def draw(self, text, *words):
        pathlib.Path("small.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")
        return subprocess.run([sys.executable, "-m", "espalier.figures", "small.yaml", "-o", "out", *words], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})

    def test_a_figure_is_drawn_and_its_table_has_what_run_gives(self):
        done = self.draw(SMALL, "--format", "png,svg,pdf", "-j", "1")
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        rows = self.rows()
        self.assertEqual([(row["series"], row["x"]) for row in rows],
                         [("ring", "4096"), ("ring", "8192"), ("tree", "4096"), ("tree", "8192")])
        config = yaml.safe_load(SMALL)["config"]
        times = [espalier.run(config, {"collective.algorithm": name, "collective.size": "8KiB"}).loc[0, "time_ns"]
                 for name in ["ring", "multitree"]]
        self.assertEqual(float(rows[3]["y"]), times[0] / times[1])
        self.assertEqual(float(rows[3]["time_ns"]), times[1])
        picture = pathlib.Path("out/small.svg").read_bytes()
        for ending in ["png", "pdf"]:
            self.assertGreater(pathlib.Path("out/small." + ending).stat().st_size, 5000)
        # The same command continues, and draws the same.
        points = {path: path.stat().st_mtime_ns for path in pathlib.Path("out/points/small/points").iterdir()}
        self.assertEqual(len(points), 4)
        self.draw(SMALL)
        self.assertEqual(points, {path: path.stat().st_mtime_ns for path in pathlib.Path("out/points/small/points").iterdir()})
        self.assertEqual(picture, pathlib.Path("out/small.svg").read_bytes())

    def test_a_point_that_two_cases_give_is_drawn_in_both(self):
        self.assertEqual(self.draw(SMALL.replace("multitree", "ring")).returncode, 0)
        self.assertEqual([row["y"] for row in self.rows()], ["1.0"] * 4)

    def test_mistakes_have_their_place_and_nothing_is_simulated(self):
        for old, new, message in [("scale: log2", "scale: log3", "small.yaml:11:46: error: scale: found 'log3'"),
                                  ("normalize", "normalise", "did you mean 'normalize'?"),
                                  ("series: ring,", "series: rong,", "there is no series 'rong'"),
                                  ("series: design", "series: desing", "the sweep has no axis 'desing'"),
                                  ("algorithm: ring", "algorithm: rong", "'rong' is not a valid name"),
                                  ("title:", "title\x07:", "small.yaml:1:6: error: not valid YAML: a control character"),
                                  ("title:", "title: a: ", "small.yaml:1:9: error: not valid YAML: mapping values"),
                                  ("title:", "title: \udcff", "small.yaml:1:8: error: not UTF-8"),
                                  ("title:", "x: " + "[" * 20000, "small.yaml:1:1: error: nested too deeply"),
                                  (SMALL[SMALL.index("draw:"):], "", "small.yaml:1:1: error: found no 'draw:'")]:
            done = self.draw(SMALL.replace(old, new))
            self.assertEqual(done.returncode, 2, message)
            self.assertIn(message, done.stderr)
            self.assertEqual(list(pathlib.Path("out").rglob("points/*.json")), [])

    def test_a_failed_point_is_named_and_the_others_are_drawn(self):
        done = self.draw(SMALL.replace("values: [8KiB, 4KiB]", "values: [4KiB, 64GiB]") + "time_limit: 2s\n",
                         "-s", "simulation.fidelity=cycle")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("64GiB"), 2)  # one line for each point
        self.assertEqual([row["x"] for row in self.rows()], ["4096", "4096"])

    def test_every_figure_of_the_repository_can_be_planned(self):
        shutil.copytree(ROOT / "configs", "configs", ignore=shutil.ignore_patterns("*.trace"))
        files = sorted(pathlib.Path("configs/figures").rglob("*.yaml"))
        self.assertGreater(len(files), 30)
        for file in files:
            with self.subTest(str(file)):
                places, draw = figures.read_draw(file)
                figures.write_programs(draw, file, places)
                plan = subprocess.run([espalier.program_path(), "sweep", "plan", file, "-o", pathlib.Path("plans", file.stem)], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(plan.returncode, 0, plan.stderr)
                # The papers' figures include plans that lose to the baseline, and no other cause of warnings.
                for line in plan.stderr.splitlines():
                    if "warning: " in line:
                        self.assertIn("collective.algorithm: the plan of themis with ", line)

    def test_figures_over_sizes_are_drawn_at_their_smallest(self):
        for file in sorted((ROOT / "configs/figures").glob("fig9*.yaml")):
            figure = figures.Figure(file, "out", {"collective.size": "32KiB"})
            self.assertTrue(figure.complete)
            self.assertGreater(figure.write("out", ["png"])[1].stat().st_size, 5000)


if __name__ == "__main__":
    os.environ["ESPALIER"] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
