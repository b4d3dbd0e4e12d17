#!/usr/bin/python3
"""validation/silicon: measured rows, machines, what is simulated for a row, and the fit. Exit code 77 (skipped) without
Debian's python3-pandas, -scipy or -yaml. tests/python/check_silicon.py ESPALIER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "python")]
try:
    import pandas  # noqa: F401
    import scipy  # noqa: F401
    import yaml  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing} (packages python3-pandas, python3-scipy and python3-yaml)")
    sys.exit(77)
import espalier

from validation.silicon import fit, machines, plans, rows
from validation.silicon.runs import Runs

KiB, MiB, GiB = 1024, 1024**2, 1024**3
MACHINES = machines.read_machines()
HEAD = "machine,nodes,gpus_per_node,op,size_bytes,time_us\n"
LAUNCH = "system.ni.program.doorbell_cycles"


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, text, name="times.csv"):
        path = self.folder / name
        path.write_text(text)
        return path

    def mistake(self, call, *wanted):
        with self.assertRaises(machines.Mistake) as caught:
            call()
        for part in wanted:
            self.assertIn(part, str(caught.exception))

    def cases(self, text):
        return rows.cases_of(rows.read_rows(self.file(text)), MACHINES)


class Rows(Folder):
    def test_columns_of_nccl_tests_are_found_by_name(self):
        read = rows.read_rows(self.file("# from logs\nlog_id,cluster,kind,nodes,gpus_per_node,gpus,op,size_bytes,time_us\n"
                                        "0,example-cluster01,single-node,1,8,8,alltoall,33554432,124.8\n"
                                        "0,example-cluster01,single-node,1,8,8,sendrecv,0,124.8\n"))
        row = read[0]
        # Nobody can compare without data; the row is counted.
        cases, apart = rows.cases_of(read, MACHINES)
        self.assertEqual((len(cases), apart), (1, {("example-cluster01", rows.NOTHING): 1}))
        self.assertEqual((row.machine, row.collective, row.size, row.microseconds, row.kind),
                         ("example-cluster01", "all_to_all", 32 * MiB, 124.8, "single-node"))
        row, = rows.read_rows(self.file("gpu,op,kernel,gpus,gpus_per_node,size_bytes,time_us\nA100,allreduce,4,16,8,50331648,517.43\n"))
        self.assertEqual((row.servers, row.kernel), (2, "4"))

    def test_rates_count_as_nccl_tests_define_them(self):
        read = rows.read_rows(self.file("machine,servers,gpus_per_server,collective,size_bytes,time,unit,role\n"
                                        "x,1,4,all_gather,4000000,100,GB/s busbw,test\nx,1,4,all_gather,4000000,100,GB/s algbw,fit\n"
                                        "x,1,8,all_reduce,8000000,100,GB/s busbw,limit\nx,2,8,dispatch,,50,GB/s algbw,test\n"))
        self.assertEqual([row.microseconds for row in read], [30, 40, 140, 20000])
        self.assertEqual([row.role for row in read], ["test", "fit", "limit", "test"])

    def test_a_wrong_table_is_refused_with_its_place(self):
        for text, *wanted in [
                ("", "times.csv:1: the file is empty"), (HEAD, "times.csv:1: the file has no measured times"),
                (HEAD + "x,1,8,all_gather,8,1e308\n", "times.csv:2: time: 1e308 us is no time between"),
                (HEAD + "x,1,8,all_gather,8,1e-320\n", "times.csv:2: time: 1e-320 us is no time between"),
                (HEAD + "x\x1b[2J,1,8,all_gather,8,1\n", "times.csv:2:2: a control character"),
                ("machine,nodes,gpus_per_node,op,size_bytes\n", "times.csv:1: no column 'time'", "for example machine,collective"),
                (HEAD + "x,1,8,all_gather,8,fast\n", "times.csv:2: time: 'fast' is not a time or a rate", "Write for example 123.4"),
                (HEAD + "x,1,8,all_gather,8,1\nx,1,8,gather,8,1\n", "times.csv:3: collective: 'gather' is unknown", "Write all_reduce"),
                (HEAD + "x,1,8,all_gather\n", "times.csv:2: size_bytes: '' is not a whole number of bytes"),
                (HEAD.strip() + ",role\nx,1,8,all_gather,8,1,maybe\n", "times.csv:2: role: 'maybe' is unknown. Write fit, test, limit"),
                (HEAD + "x" * 200000 + ",1,8,all_gather,8,1\n", "times.csv:2: a line of 200019 characters"),
                (HEAD.strip() + ",unit\nx,1,8,all_gather,8,1,ms\n", "times.csv:2: unit: 'ms' is unknown")]:
            with self.subTest(text):
                self.mistake(lambda: rows.read_rows(self.file(text)), *wanted)
        # No server: the row stands apart, and its rate is no time.
        self.assertEqual(rows.read_rows(self.file(HEAD.strip() + ",unit\nx,0,8,all_gather,8,1,GB/s busbw\n"))[0].servers, 0)
        self.mistake(lambda: rows.read_rows(self.file(HEAD + "x,1,8,all_gather,8,1\n"), needs_source=True), "times.csv:1: no source")
        self.mistake(lambda: rows.read_rows(self.folder / "none.csv"), "none.csv: No such file")

    def test_rows_of_one_case_have_one_role_and_one_time(self):
        head = HEAD.strip() + ",role\n"
        self.mistake(lambda: self.cases(head + "sophia,2,8,alltoall,32768,65,fit\nsophia,2,8,alltoall,32768,66,test\n"), "times.csv:3", "one role")
        cases, apart = self.cases(HEAD + "sophia,2,8,alltoall,32768,65.9\nsophia,2,8,alltoall,32768,261.9\n"
                                         "sophia,2,8,alltoall,65536,64.5\nsophia,2,8,alltoall,65536,62.9\n")
        self.assertEqual([(one.case.size, one.microseconds) for one in cases], [(65536, [62.9, 64.5])])
        self.assertEqual(apart, {("Sophia, 2 nodes", "rows of one case differ by more than 2x"): 2})

    def test_a_third_of_the_sizes_is_fitted(self):
        self.assertEqual([log for log in range(25, 35) if rows.is_fit_size(1 << log)], [27, 30, 33])
        self.assertTrue(rows.is_fit_size(GiB - 64))  # rounded down to whole elements
        stored = rows.stored_rows()
        self.assertGreater(len(stored), 480)
        for row in stored:
            # Below 1 MiB MSCCL++'s rows on H100 are fitted and those on A100 test: the kernels are the same.
            by_size = "NDv5" in row.machine if row.kernel and "Azure" in row.machine and row.size < MiB else rows.is_fit_size(row.size)
            if row.machine not in MACHINES:
                self.assertEqual(row.role, "fit" if by_size else "test", row.place)

    def test_slingshot_tells_cases_apart_by_site_version_and_setting(self):
        cases, apart = self.cases("machine,nccl_dir,nodes,gpus_per_node,env,op,size_bytes,time_us\n"
                                  "polaris,2.18,2,4,5,alltoall,134217728,12556\npolaris,2.21,2,4,5,alltoall,134217728,12556\n"
                                  "sirius,2.18,2,4,5,alltoall,134217728,8995\npolaris,2.18,2,4,1,alltoall,134217728,90000\n"
                                  "polaris,2.19,2,4,5,alltoall,134217728,12556\npolaris,2.18,128,4,5,alltoall,134217728,12556\n")
        self.assertEqual([(one.case.nccl, one.case.site) for one in cases], [("2.18", "polaris"), ("2.18", "sirius"), ("2.21", "polaris")])
        self.assertEqual([why for _, why in apart], ["the setting uses TCP sockets over the fabric",
                                                     "the tables of this version of NCCL are not known",
                                                     "more than 256 GPUs on a shared dragonfly"])
        key = "system.topology.nic_link.bandwidth"
        rates = [setting(plans.plan_case(one.machine, one.case, one.machine.values()), key) for one in cases]
        self.assertEqual(rates, ["11700MB/s", "15800MB/s", "11700MB/s"])


class Machines(Folder):
    def test_mistakes_are_refused_with_their_place(self):
        first = "sources: [x]\nmachines:\n- name: a\n"
        head = first + "  preset: h100_8\n"
        for text, wanted in [("sources: [x]\n", "m.yaml:1: 'machines' is missing"), (head + "  colour: red\n", "m.yaml:3: 'colour' is not a field"),
                             (head + "  fitted:\n    launch: {value: fast, is: x}\n", "m.yaml:6: value 'fast' is not a number"),
                             (head + "  fitted:\n    launch: 27\n", "m.yaml:6: '27' is not a mapping. Write value, is, start"),
                             (head + "  fitted:\n    launch: {is: x}\n", "m.yaml:6: 'launch' has no value, and preset h100_8 has none"),
                             (head + "  fitted:\n    message_rate: {is: x, value: 5}\n", "m.yaml:6: 'message_rate' has the value 20.6 of preset h100_8"),
                             (head.replace("h100_8", "b300"), "m.yaml:3: there is no preset 'b300'"),
                             (head + "  system: {servers: 0}\n", "m.yaml:3: servers '0' is not a whole number above 0"),
                             (head + "  fitted: 5\n", "m.yaml:3: fitted: '5' is not a mapping"),
                             (head + "  fitted:\n    launch: {value: -1, is: x}\n", "m.yaml:6: value '-1' is not a number above 0"),
                             (head + "  fitted:\n    launch: {value: true, is: x}\n", "m.yaml:6: value 'True' is not a number above 0"),
                             (head + "  taken:\n    b: [launch]\n", "m.yaml:6: 'b' is not a field here"),
                             (head + "- name: a\n", "m.yaml:5: 'a' stands twice"),
                             (head + "  fitted: [\n", "m.yaml:")]:
            with self.subTest(text):
                self.file(text, "m.yaml")
                self.mistake(lambda: machines.read_machines(self.folder), wanted)

    def test_a_taken_number_is_that_of_its_machine(self):
        taken = [(machine, number) for machine in MACHINES.values() for number in machine.numbers.values() if number.kind == "taken"]
        self.assertGreater(len(taken), 5)
        for machine, number in taken:
            self.assertEqual(MACHINES[number.origin].numbers[number.name].value, machine.numbers[number.name].value)
        self.assertEqual(MACHINES["Polaris, 8 nodes"].numbers["ll_rate"].origin, "Polaris, 2 nodes")

    def test_a_machine_has_three_fitted_numbers_at_most_or_is_named_here(self):
        counts = {machine.name: len(machine.fitted()) for machine in MACHINES.values() if len(machine.fitted()) > 3}
        self.assertEqual(counts, {"10 x 8 H100": 5, "Polaris, 2 nodes": 17, "Polaris, 8 nodes": 5})

    def test_without_a_fit_a_number_is_published_or_another_machines_or_another_number(self):
        polaris, sophia = MACHINES["Polaris, 2 nodes"], MACHINES["Sophia, 2 nodes"]
        values = polaris.values(1)
        self.assertEqual((values["simple_post"], values["simple_post_5"]), (polaris.numbers["simple_post"].value, 2002))
        self.assertEqual(values["message_post_5"], 2002)  # as simple_post_5
        self.assertEqual(polaris.values(2)["message_post_5"], 8500)
        # A rate of a setting that has none is that of all settings.
        self.assertNotIn("exchange_nic_rate_sirius_3", values)
        self.assertEqual(sophia.values(3), sophia.values())
        self.assertEqual(setting(plans.plan_case(sophia, plans.Case("all_gather", MiB), sophia.values(0)), "system.topology.nic_link.bandwidth"),
                         "26600MB/s")
        first = "sources: [x]\nmachines:\n- name: a\n  preset: h100_8\n  fitted:\n"
        for text, wanted in [("    message_rate: {is: x, else: launch}\n", "m.yaml:3: else of 'message_rate': there is no number 'launch'"),
                             (f"    {LAUNCH}: {{is: x}}\n", "m.yaml:6: 'else' is missing")]:
            self.file(first + text, "m.yaml")
            self.mistake(lambda: machines.read_machines(self.folder), wanted)

    def test_a_machine_without_its_preset_is_modelled_or_says_why_not(self):
        for machine in MACHINES.values():
            self.assertTrue(machine.preset or machine.model or machine.closed_form or machine.not_modelled, machine.name)
        plan = plans.plan_case(MACHINES["Tenstorrent, line of 8"], plans.Case("reduce_scatter", 16 * MiB), {})
        time, failure = Runs().times_of([plan])[0]
        self.assertEqual((time, failure), (0, "not modelled"))

    def test_a_part_enters_a_server_once_in_an_all_gather_of_mscclpp(self):
        for servers, how in ("1 server", "nccl_alltoall"), ("2 servers", "mscclpp_allgather"):
            machine = MACHINES[f"NDm v4, {servers}, MSCCL++"]
            plan = plans.plan_case(machine, plans.Case("all_gather", 64 * MiB, "2"), machine.values())
            self.assertEqual(plan.how, how, servers)


def plan(name, collective, size, numbers=None, **more):
    machine = MACHINES[name]
    return plans.plan_case(machine, plans.Case(collective, size, **more), machine.values() | (numbers or {}))


def setting(planned, key):
    return planned.runs[0][1].get(key)


class Plans(unittest.TestCase):
    def test_a_plan_follows_nccls_choice_and_has_the_machines_numbers(self):
        ring = plan("8 x H100", "all_gather", GiB, {"system.ni.program.fence_cycles": 1234})
        self.assertEqual((ring.how, setting(ring, "collective.algorithm"), setting(ring, "system.ni.program.fence_cycles")),
                         ("ring Simple x24", "nccl_allgather", "1234"))
        switch = plan("8 x H100", "all_reduce", GiB, {"nvls_start": 54000})
        self.assertEqual((switch.how, setting(switch, "collective.launch_cycles")), ("NVLS Simple x16", "54000"))
        self.assertEqual(setting(plan("8 x H100", "sendrecv", 128 * MiB), "collective.program.instances"), "8")

    def test_many_rounds_are_continued_along_a_line(self):
        tree = plan("10 x 8 H100", "all_reduce", GiB)
        self.assertEqual(tree.how, "NVLS tree Simple x16, continued")
        self.assertEqual([run["collective.size"] for _, run in tree.runs], ["134217728B", "67108864B"])
        # 128 MiB + 14 times 64 MiB
        longer = plan("10 x 8 H100", "sendrecv", GiB)
        self.assertEqual([(weight, run["collective.size"]) for weight, run in longer.runs], [(15, "134217728B"), (-14, "67108864B")])
        self.assertEqual(len(plan("10 x 8 H100", "sendrecv", 128 * MiB).runs), 1)

    def test_a_site_and_a_setting_of_the_network_have_numbers_of_their_own(self):
        numbers = {"ll_post": 111, "ll_post_5": 115, "simple_post": 444, "simple_post_5": 555, "matched_post_5": 559}
        for nodes, collective, size, network, wanted in [
                # 7 messages of a connection find the receives that are posted in advance, 14 or 31 do not.
                (2, "all_gather", 256 * KiB, "4", "ring LL x4 111"), (2, "all_reduce", 256 * KiB, "4", "ring LL x4 444"),
                (8, "all_gather", 512 * KiB, "4", "ring LL x4 444"), (8, "all_gather", 4 * KiB, "4", "ring LL x1 111"),
                # With setting 5 the host matches.
                (2, "all_reduce", KiB, "5", "tree LL x1 115"), (8, "all_gather", 512 * KiB, "5", "ring LL x4 559")]:
            known = numbers if nodes == 8 else {name: value for name, value in numbers.items() if name != "matched_post_5"}
            planned = plan(f"Polaris, {nodes} nodes", collective, size, known, nccl="2.21", site="polaris", setting=network)
            sends, receives = (setting(planned, f"system.ni.program.network_{key}_cycles") for key in ("slot", "receive"))
            self.assertEqual((f"{planned.how} {sends}", receives), (wanted, sends))
        # 2.18 takes trees where 2.21 stays with rings.
        for version, wanted in ("2.18", "tree Simple x4"), ("2.21", "ring LL x2"):
            self.assertEqual(plan("Polaris, 8 nodes", "all_reduce", 256 * KiB, nccl=version, site="polaris", setting="4").how, wanted)

    def test_an_all_to_all_takes_what_the_host_prepares_if_that_is_longer(self):
        small = plan("Polaris, 8 nodes", "all_to_all", 8192, {"peer_launch": 30000}, nccl="2.21", site="polaris", setting="4")
        self.assertEqual(setting(small, "collective.host_cycles"), str(31 * 30000 + 6169))
        (time, failure), = Runs().times_of([small])
        self.assertAlmostEqual(time, 31 * 30 + 6.169)
        self.assertEqual(failure, "")

    def test_exchanges_between_servers_meet_switches_with_queues(self):
        order, request = "system.router.vc_order", "system.ni.program.request"
        two = "NDm v4, 2 servers, MSCCL++"
        exchange = plan("Sophia, 2 nodes", "all_to_all", 64 * MiB)
        self.assertEqual((setting(exchange, order), setting(exchange, request)), ("destination", "128KiB"))
        self.assertEqual(setting(plan(two, "all_to_all", 64 * MiB, kernel="0"), order), "destination")
        for other in (plan("Sophia, 2 nodes", "all_gather", 64 * MiB), plan("8 x H100", "all_to_all", 64 * MiB),
                      plan(two, "all_reduce", 64 * MiB, kernel="4")):
            self.assertNotEqual(setting(other, order), "destination")

    def test_kernels_of_mscclpp(self):
        # Kernels that read from their peers get less of a link's rate than kernels that write.
        for name, kernel, size, rate in [("NDm v4, 1 server", "1", GiB, None), ("NDm v4, 1 server", "4", 32 * MiB, "230GB/s"),
                                         ("ND v5, 2 servers", "4", 48 * MiB, "335GB/s")]:
            self.assertEqual(setting(plan(f"{name}, MSCCL++", "all_reduce", size, kernel=kernel), "system.link.bandwidth"), rate)
        # The kernel of packets pays for one put to another server.
        packets = plan("NDm v4, 2 servers, MSCCL++", "all_reduce", 8192, kernel="2")
        self.assertEqual((packets.how, setting(packets, "system.ni.program.network_slot_cycles")), ("mscclpp_packets", "2002"))
        self.assertEqual(plan("NDm v4, 1 server, MSCCL++", "all_reduce", 49152, kernel="6").how, "gc3_allpairs")


class Recorder:
    """Stands for the simulator: a run takes twice the launch and a share of the size. Keeps the plans that it was given."""

    def __init__(self):
        self.sizes = set()

    def times_of(self, planned):
        self.sizes |= {int(one.runs[0][1]["collective.size"].rstrip("B")) for one in planned}
        return [(100 + one.added_us, "") for one in planned]


class Fit(Folder):
    def test_rows_with_role_test_never_enter_a_fit(self):
        head = HEAD.strip() + ",kernel,role\n"
        fitted = "H100 (Azure NDv5),1,8,allreduce,49152,102,6,fit\n"
        machine = MACHINES["ND v5, 1 server, MSCCL++"]
        found = []
        for other in ("50", "5000"):
            cases, _ = self.cases(head + fitted + f"H100 (Azure NDv5),1,8,allreduce,73728,{other},6,test\n")
            runs = Recorder()
            found.append(fit.fit_machine(machine, cases, runs))
            self.assertEqual(runs.sizes, {49152})
        self.assertEqual(found[0], found[1])
        values, before, after = found[0]
        # 100 us at the launch of the file, 4085 ns: 102 us need 2 us more.
        self.assertAlmostEqual(values[LAUNCH], 6085, delta=60)
        self.assertLess(after, 0.001)
        self.assertGreater(before, 0.01)

    def test_the_numbers_of_mscclpps_small_kernels_are_those_that_the_fit_finds(self):
        runs = Runs()
        cases, _ = rows.cases_of(rows.stored_rows(), MACHINES)
        for name in ("ND v5, 1 server, MSCCL++", "ND v5, 2 servers, MSCCL++"):
            own = [one for one in cases if one.machine.name == name and one.role == "fit"]
            values, before, after = fit.fit_machine(MACHINES[name], cases, runs)
            self.assertLess(after, before / 2)
            self.assertLessEqual(after, fit.error_with(MACHINES[name].values(), MACHINES[name], own, runs) + 1e-6)
            for number in MACHINES[name].fitted():
                self.assertAlmostEqual(values[number.name] / number.value, 1, delta=0.05)

    def test_twice_as_long_and_half_as_long_are_equally_wrong(self):
        self.assertEqual(fit.mean_error([]), 0)
        self.assertAlmostEqual(fit.mean_error([(200, 100), (50, 100)]), 1)
        self.assertAlmostEqual(fit.mean_error([(200, 100), (50, 100), (100, 100)]), 2 ** (2 / 3) - 1)


class Table(Folder):
    def command(self, *words):
        return subprocess.run([sys.executable, "-m", "validation.silicon", *words], cwd=ROOT, capture_output=True, text=True)

    def test_a_row_is_simulated_and_has_its_known_time(self):
        done = self.command("table", "--machine", "ND v5, 1 server, MSCCL++", "--csv", str(self.folder / "a.csv"), "-o", str(self.folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all_reduce, kernel 6                     48 KiB f         6.5         6.6    -1.3 %     1       1.00x  gc3_allpairs",
                      done.stdout)
        self.assertIn("| ND v5, 1 server, MSCCL++ | all | below 1 MiB | 3.3 % of 2 | - |", done.stdout)
        self.assertIn("calibrated: system.ni.program.doorbell_cycles = 4085 (launch, ns)", done.stdout)
        self.assertIn("300 rows of example-cluster01: which GPUs and NICs of a server the job had is not known", done.stdout)
        self.assertEqual(len((self.folder / "a.csv").read_text().splitlines()), 3)
        # NCCL's launch in place of the fitted one is longer: what a machine without rows of its own must expect.
        unfitted = self.command("table", "--machine", "ND v5, 1 server, MSCCL++", "--fitted", "0")
        self.assertIn("| ND v5, 1 server, MSCCL++ | all | below 1 MiB | 39.2 % of 2 | - |", unfitted.stdout)
        self.assertIn("not fitted: system.ni.program.doorbell_cycles = 6600", unfitted.stdout)
        self.assertIn("Leave out --fitted", self.command("table", "--fitted", "0", "--write").stderr)
        self.assertIn("less than no numbers", self.command("table", "--fitted", "-1").stderr)
        # What is kept is not simulated again.
        kept = {path: path.stat().st_mtime_ns for path in self.folder.glob("*.json")}
        self.assertEqual(len(kept), 2)
        again = self.command("table", "--machine", "ND v5, 1 server, MSCCL++", "-o", str(self.folder))
        self.assertEqual(again.stdout, done.stdout)
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.folder.glob("*.json")}, kept)

    def test_rows_of_other_vendors_are_simulated_or_say_why_not(self):
        done = self.command("table", "validation/silicon/rows/tenstorrent.csv", "validation/silicon/rows/deepep.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| Tenstorrent, ring of 8 | reduce_scatter | 1 MiB and more | 0.1 % of 1 | 2.1 % of 1 |", done.stdout)
        self.assertIn("not modelled: at 9.3 GB/s", done.stdout)
        self.assertIn("closed form", done.stdout)

    def test_files_are_proven_before_the_simulations(self):
        own = self.file(HEAD + "8xh100,1,8,all_gather,1024,10\n")
        (self.folder / "bytes.csv").write_bytes(b"machine\xff\n")
        for words, wanted in ((["--csv", str(own)], "also a table that is read"), (["--csv", "/none/a.csv"], "No such file"),
                              (["-o", "/dev/null/kept"], "Not a directory")):
            done = self.command("table", str(own), *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""), words)
            self.assertIn(wanted, done.stderr)
        self.assertIn("is not UTF-8", self.command("table", str(self.folder / "bytes.csv")).stderr)

    def test_stdout_has_the_csv_alone_and_a_damaged_time_is_simulated_again(self):
        words = ("table", "--machine", "ND v5, 1 server, MSCCL++", "--csv", "-", "-o", str(self.folder))
        done = self.command(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("machine,op,"))
        self.assertIn("worst cases", done.stderr)
        next(self.folder.glob("*.json")).write_text("[]")
        again = self.command(*words)
        self.assertEqual(again.stdout, done.stdout)
        self.assertIn("is damaged", again.stderr)

    def test_a_mistake_ends_the_command_with_its_place(self):
        done = self.command("table", str(self.file("machine,nodes\n")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("times.csv:1: no column 'collective'", done.stderr)

    def test_a_table_is_written_beside_lines_of_other_machines(self):
        from validation.silicon.__main__ import write_table
        page = self.file("a\n| machine | error | date |\n|---|---|---|\n| Sophia, 2 nodes | 1 % | 2025-01-01 |\n| 8 x H100 | 9 % | 2025-01-01 |\nb\n")
        write_table(page, [["8 x H100", "2 %"]], "2026-01-01")
        self.assertEqual(page.read_text(), "a\n| machine | error | date |\n|---|---|---|\n| 8 x H100 | 2 % | 2026-01-01 |\n"
                                           "| Sophia, 2 nodes | 1 % | 2025-01-01 |\nb\n")


if __name__ == "__main__":
    os.environ["ESPALIER"] = os.path.abspath(sys.argv.pop(1))
    os.chdir(tempfile.gettempdir())
    unittest.main()
