#!/usr/bin/python3
"""espalier.program writes every construct of the chunk language, and the compiler makes of it what it makes of the built-in
programs. Exit code 77 (skipped) without python3-pandas. tests/python/check_program.py ESPALIER"""
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
try:
    import pandas
except ImportError as missing:
    print(f"skipped: {missing} (package python3-pandas)")
    sys.exit(77)
import espalier
from espalier import library
from espalier.program import Program, call, chunk, parallelize

SERVERS = {"system": {"topology": {"type": "gpu_cluster", "servers": 2, "gpus_per_server": 4}}}


def cycles_of(program, size="64KiB"):
    return program.run(size, SERVERS).loc[0, "cycles"]


def cycles_of_built_in(name, op, size="64KiB", instances=1):
    sets = {"collective.op": op, "collective.algorithm": name, "collective.size": size, "collective.program.instances": instances}
    return espalier.run(SERVERS, sets).loc[0, "cycles"]


class Programs(unittest.TestCase):
    def test_a_trace_has_every_construct(self):
        with Program("all", "all_reduce", ranks=2, chunks=4, in_place=True, protocol="LL", instances=2) as program:
            mine = chunk(0, "input", 0, 2).reduce(chunk(1, "input", 0, 2), ch=1)
            mine.copy(1)
            call()
            with parallelize(3):
                moved = chunk(1, "input", 2, 2).copy(0, "scratch", 5)
                chunk(0, "input", 2, 2).reduce(moved).copy(1, "input", 2, ch=0)
        self.assertEqual(program.text().splitlines(), [
            "name all", "collective all_reduce ranks 2 chunks 4 in_place", "protocol LL", "parallelize 2",
            "%1 = chunk rank 0 in 0 count 2", "%2 = chunk rank 1 in 0 count 2", "%3 = reduce %1 %2 ch=1", "%4 = copy %3 rank 1 in 0",
            "call", "parallelize 3", "%5 = chunk rank 1 in 2 count 2", "%6 = copy %5 rank 0 scratch 5",
            "%7 = chunk rank 0 in 2 count 2", "%8 = reduce %7 %6", "%9 = copy %8 rank 1 in 2 ch=0", "end", "end"])
        self.assertIn("certified", program.check())
        self.assertTrue(program.run("64KiB").loc[0, "verified"])

    def test_roots_buffers_and_promises_reach_the_certifier(self):
        with Program("b", "broadcast", ranks=3, chunks=1, root=1, in_place=True) as program:
            chunk(1, "input", 0).copy(0).copy(2)
        self.assertTrue(program.run("4KiB").loc[0, "verified"])
        with Program("c", "custom", ranks=2, chunks=2, inputs={1: 1}, outputs={0: 1},
                     promises={(0, 0): [(0, 0), (1, 0)]}) as program:
            chunk(0, "input", 0).reduce(chunk(1, "input", 0)).copy(0, "output", 0)
        self.assertTrue(program.run("4KiB").loc[0, "verified"])
        with Program("d", "custom", ranks=2, chunks=1, promises={(1, 0): [(0, 0), (1, 0)]}) as program:
            chunk(0, "input", 0).copy(1, "output", 0)
        with self.assertRaisesRegex(espalier.Error, "rank 1"):
            program.check()

    def test_a_mistake_is_named_at_the_authors_line(self):
        with Program("stale", "all_reduce", ranks=2, chunks=1, in_place=True) as program:
            old = chunk(0, "input", 0)
            chunk(0, "input", 0).reduce(chunk(1, "input", 0))
            old.copy(1)  # the stale reference
        line = next(i for i, text in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1) if "# the stale reference" in text)
        with self.assertRaisesRegex(espalier.Error, rf"check_program.py:{line}: error: the reference to rank 0 in\[0\] is stale"):
            program.check()

    def test_a_ring_takes_the_cycles_of_the_built_in_one(self):
        with Program("ring", "all_reduce", ranks=8, chunks=8, in_place=True) as program:
            library.ring_reduce_scatter(range(8))
            library.ring_all_gather(range(8))
        self.assertEqual(cycles_of(program), cycles_of_built_in("gc3_ring", "all_reduce"))

    def test_instances_and_scratch_take_the_cycles_of_the_built_in_program(self):
        with Program("allpairs", "all_reduce", ranks=8, chunks=8, in_place=True, instances=2) as program:
            for away in range(1, 8):
                for r in range(8):
                    chunk(r, "input", (r + away) % 8).copy((r + away) % 8, "scratch", away - 1, ch=0)
            for r in range(8):
                total = chunk(r, "input", r)
                for away in range(1, 8):
                    total = total.reduce(chunk(r, "scratch", away - 1))
            for away in range(1, 8):
                for r in range(8):
                    chunk(r, "input", r).copy((r + away) % 8, ch=0)
        self.assertEqual(cycles_of(program), cycles_of_built_in("gc3_allpairs", "all_reduce", instances=2))

    def test_two_steps_send_as_often_as_the_built_in_exchange_of_one_call(self):
        # The second call only crosses between servers, with one message for each pair of counterparts.
        composed = library.twostep_alltoall_composed(servers=2, per_server=4).run("64KiB", SERVERS).loc[0]
        one = espalier.run(SERVERS, {"collective.op": "all_to_all", "collective.algorithm": "gc3_twostep_alltoall",
                                     "collective.size": "64KiB"}).loc[0]
        self.assertEqual(composed["flit_hops"], one["flit_hops"])
        self.assertGreater(composed["cycles"], one["cycles"])

    def test_a_trace_is_compiled_for_the_protocol_that_runs(self):
        config = ROOT / "configs/gc3/a100_2servers.yaml"
        sets = {"system.topology.servers": 8, "system.ni.program.contexts": "auto"}
        program = library.twostep_alltoall_composed(servers=8, per_server=8)
        chosen = program.run("64KiB", config, sets | {"collective.program.protocol": "LL128"}).loc[0, "cycles"]
        program.lines.insert(2, "protocol LL128")
        self.assertEqual(program.run("64KiB", config, sets).loc[0, "cycles"], chosen)

    def test_programs_of_the_library_are_proven(self):
        for name, write in library.PROGRAMS.items():
            with self.subTest(name):
                program = write(servers=2, per_server=4, instances=2)
                self.assertIn("certified", program.check())
                self.assertTrue(program.run("64KiB", SERVERS).loc[0, "verified"])


    def test_the_stored_program_is_what_the_library_writes(self):
        stored = (ROOT / "configs/programs/hierarchical_composed.trace").read_text().splitlines(keepends=True)
        self.assertEqual("".join(line for line in stored if not line.startswith("#")),
                         library.hierarchical_composed(servers=2, per_server=3).text())


if __name__ == "__main__":
    os.environ["ESPALIER"] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
