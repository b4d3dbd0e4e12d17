#!/usr/bin/python3
"""espalier.run, sweep, compare and results return the program's numbers as data frames. Exit code 77 (skipped) without
python3-pandas. tests/python/check_frames.py ESPALIER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
try:
    import pandas
except ImportError as missing:
    print(f"skipped: {missing} (package python3-pandas)")
    sys.exit(77)
import espalier

RING = {"system": {"topology": {"type": "mesh", "dims": [2, 2]}},
        "collective": {"op": "all_reduce", "algorithm": "ring", "size": "64KiB"}}


class Frames(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.chdir(self.folder.name)
        self.addCleanup(os.chdir, ROOT)

    def test_a_row_for_each_point_equals_the_csv(self):
        sets = {"collective.size": ["64KiB", "1MiB"], "collective.algorithm": ["ring", "multitree"]}
        frame = espalier.run(RING, sets, jobs=1)
        self.assertEqual(list(frame["collective.size_bytes"]), [65536, 1048576] * 2)
        words = [f"{key}=[{', '.join(values)}]" for key, values in sets.items()]
        pathlib.Path("ring.yaml").write_text(str(RING).replace("'", ""))
        subprocess.run([espalier.program_path(), "run", "ring.yaml", "-s", words[0], "-s", words[1], "--csv", "a.csv"], check=True,
                       stdout=subprocess.DEVNULL)
        table = pandas.read_csv("a.csv", float_precision="round_trip")
        for column in ["collective.algorithm", "collective.size_bytes", "time_ns", "area.ni_um2", "bound_ratio"]:
            self.assertEqual(list(frame[column]), list(table[column]), column)

    def test_lists_of_a_result_are_kept(self):
        frame = espalier.run(RING, {"simulation.link_utilization": True})
        self.assertEqual(len(frame.loc[0, "links"]), 8)

    def test_relative_paths_of_a_dict_start_in_the_current_folder(self):
        graph = ROOT / "configs/graphs"
        name = sorted(graph.glob("*.yaml"))[0].name
        os.symlink(graph, "graphs")
        config = {"system": {"topology": {"type": "file", "file": f"graphs/{name}"}}, "collective": RING["collective"]}
        self.assertGreater(espalier.run(config).loc[0, "time_ns"], 0)
        self.assertEqual(list(pathlib.Path().glob(".espalier-*")), [])

    def test_a_mistake_is_an_error_with_the_programs_words(self):
        with self.assertRaises(espalier.Error) as caught:
            espalier.run(RING, {"system.router.vcss": 2})
        self.assertIn("did you mean", str(caught.exception))
        self.assertEqual(caught.exception.code, 2)

    def test_sets_take_numbers_of_numpy_and_pandas(self):
        seeds = pandas.Series([1, 2])
        frame = espalier.run(RING, {"collective.rank_order": "random", "collective.rank_order_seed": seeds,
                                    "system.router.vcs": seeds.max()})
        self.assertEqual(list(frame["collective.rank_order_seed"]), [1, 2])

    def test_a_file_without_results_is_refused_by_name(self):
        pathlib.Path("area.json").write_text("{}")
        for name in ["area.json", "missing.json", "."]:
            with self.assertRaises(espalier.Error) as caught:
                espalier.results(name)
            self.assertIn(str(pathlib.Path(name)) if name != "." else "results.jsonl", str(caught.exception))

    def test_compare_ranks_algorithms(self):
        frame = espalier.compare(RING, {"collective.algorithm": ["ring", "multitree"]})
        self.assertEqual(list(frame["algorithm"]), ["ring", "multitree"])
        self.assertIn("rankings", frame.attrs["document"])

    def test_a_sweep_runs_once_and_is_read_again(self):
        text = f"title: t\nconfig: {RING}\naxes: [{{key: system.link.latency, values: [50ns, 150ns]}}]\n".replace("'", "")
        pathlib.Path("a.yaml").write_text(text)
        frame = espalier.sweep("a.yaml", workers=1)
        self.assertEqual(list(frame["system.link.latency_ns"]), [50, 150])
        points = {path: path.stat().st_mtime_ns for path in pathlib.Path("sweeps/a/points").iterdir()}
        again = espalier.sweep("a.yaml")
        self.assertEqual(points, {path: path.stat().st_mtime_ns for path in pathlib.Path("sweeps/a/points").iterdir()})
        pandas.testing.assert_frame_equal(frame, again)
        pandas.testing.assert_frame_equal(frame, espalier.results("sweeps/a/results.jsonl"))
        pandas.testing.assert_frame_equal(frame, espalier.results("sweeps/a"))


if __name__ == "__main__":
    os.environ["ESPALIER"] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
