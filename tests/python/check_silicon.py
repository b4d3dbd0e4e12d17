#!/usr/bin/python3
"""validation/silicon: measured rows, machines, NCCL's choices, what is simulated for a row, and the fit. Exit code 77 (skipped) without
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

from validation.silicon import fit, machines, nccl, plans, rows
from validation.silicon.runs import Runs

KiB, MiB, GiB = 1024, 1024**2, 1024**3
MACHINES = machines.read_machines()
HEAD = "machine,nodes,gpus_per_node,op,size_bytes,time_us\n"
RATE = "system.ni.program.context_bytes_per_cycle"
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
        self.assertEqual(rates, ["11.4GB/s", "15.8GB/s", "11.4GB/s"])


class Machines(Folder):
    def test_mistakes_are_refused_with_their_place(self):
        first = "sources: [x]\nmachines:\n- name: a\n"
        head = first + "  preset: h100_8\n  system: {gpu: hopper, servers: 1, gpus_per_server: 8}\n"
        for text, wanted in [("sources: [x]\n", "m.yaml:1: 'machines' is missing"), (head + "  colour: red\n", "m.yaml:3: 'colour' is not a field"),
                             (head + "  fitted:\n    launch: {value: fast, is: x}\n", "m.yaml:7: value 'fast' is not a number"),
                             (head + "  fitted:\n    launch: 27\n", "m.yaml:7: '27' is not a mapping. Write value, is, start"),
                             (first + "  preset: h100_8\n", "m.yaml:3: 'system' is missing"),
                             (head.replace("hopper", "volta"), "m.yaml:3: gpu 'volta' is unknown. Write 'ampere' or 'hopper', in quotes"),
                             (head + "  fitted: 5\n", "m.yaml:3: fitted: '5' is not a mapping"),
                             (head + "  fitted:\n    launch: {value: -1, is: x}\n", "m.yaml:7: value '-1' is not a number above 0"),
                             (head + "  fitted:\n    launch: {value: true, is: x}\n", "m.yaml:7: value 'True' is not a number above 0"),
                             (head + "  taken:\n    b: [launch]\n", "m.yaml:7: 'b' is not a field here"),
                             (head + "- name: a\n", "m.yaml:6: 'a' stands twice"),
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

    def test_presets_have_the_machines_numbers(self):
        def resolved(sets):
            small = {"collective": {"op": "all_gather", "algorithm": "nccl_allgather", "size": "8KiB"}}
            return espalier.run(small, sets, quiet=True).attrs["document"]["config"]

        for machine in MACHINES.values():
            if machine.preset:
                numbers = {number.name: number.text(number.value) for number in machine.numbers.values() if number.is_key}
                with self.subTest(machine.name):
                    preset = {"system.preset": machine.preset}
                    self.assertEqual(resolved(preset | numbers), resolved(preset))

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


def hopper(servers, **more):
    channels = 24 if servers == 1 else 16
    numbers = {"channels": channels, "ring_rate": 370.8 / channels, "network_rate": 24} | more
    return nccl.System("hopper", servers, 8, **numbers)


def polaris(nodes, version):
    # A node has 4 A100 and 2 NICs, behind PCIe of 24 GB/s: 2 rings, which NCCL duplicates.
    return nccl.System("ampere", nodes, 4, version, 4, 2, 23.8, 23.8, has_ll128=False, hosts="amd")


def chosen(system, collective, size):
    choice = nccl.choose(system, collective, size)
    return f"{choice.algorithm} {choice.protocol}"


class Nccl(unittest.TestCase):
    def test_a_switch_that_adds_takes_large_all_reduces_of_one_server(self):
        nvls = hopper(1, nvls_channels=16, nvls_rate=370.8 / 16)
        self.assertEqual(chosen(hopper(1), "all_reduce", GiB), "ring Simple")
        self.assertEqual(chosen(nvls, "all_reduce", GiB), "NVLS Simple")
        self.assertEqual(chosen(nvls, "all_gather", GiB), "ring Simple")

    def test_between_ten_servers_trees_give_way_to_rings_above_a_gigabyte(self):
        # Rings move data at 194 GB/s and trees at 177, but rings begin 0.9 ms later: they cross near 1.7 GB.
        self.assertEqual(chosen(hopper(10), "all_reduce", GiB), "tree Simple")
        self.assertEqual(chosen(hopper(10), "all_reduce", 4 * GiB), "ring Simple")

    def test_small_data_take_the_protocol_without_fences_and_fewer_channels(self):
        small = nccl.choose(hopper(1), "all_gather", 64 * KiB)
        # 512 threads with 64 B each, for each of 8 ranks: 32 KiB at least.
        self.assertEqual((small.protocol, small.channels), ("LL", 2))
        large = nccl.choose(hopper(1), "all_gather", GiB)
        self.assertEqual((large.protocol, large.channels), ("Simple", 24))

    def test_a_network_where_flags_pass_data_does_without_ll128(self):
        self.assertEqual(chosen(hopper(10), "all_gather", 32 * MiB), "ring LL128")
        self.assertEqual(chosen(hopper(10, has_ll128=False), "all_gather", 32 * MiB), "ring Simple")

    def test_ll128_is_limited_by_the_rings_that_the_search_found(self):
        self.assertEqual(chosen(hopper(10), "all_gather", 256 * MiB), "ring LL128")
        found = hopper(10, found=8, network_rate=48)
        self.assertEqual(chosen(found, "all_gather", 128 * MiB), "ring LL128")
        self.assertEqual(chosen(found, "all_gather", 256 * MiB), "ring Simple")

    def test_version_2_18_takes_trees_where_2_21_stays_with_rings(self):
        for version in ("2.18", "2.21"):
            for nodes, size, wanted in [(2, 32 * KiB, "tree LL"), (2, 16 * MiB, "ring Simple"), (8, 32 * KiB, "tree LL"),
                                        (8, 8 * MiB, "tree Simple"), (8, 16 * MiB, "ring Simple")]:
                self.assertEqual(chosen(polaris(nodes, version), "all_reduce", size), wanted)
        for nodes, version, size, wanted in [(2, "2.18", 256 * KiB, "tree Simple"), (2, "2.18", 2 * MiB, "tree Simple"),
                                             (2, "2.21", 256 * KiB, "ring LL"), (2, "2.21", 4 * MiB, "ring Simple"),
                                             (8, "2.18", 256 * KiB, "tree Simple"), (8, "2.21", 256 * KiB, "ring LL")]:
            self.assertEqual(chosen(polaris(nodes, version), "all_reduce", size), wanted)
        # LL's rate counts twice as much in version 2.21, so it lasts longer.
        for version, size, wanted in [("2.18", MiB, "ring Simple"), ("2.21", MiB, "ring LL"), ("2.21", 2 * MiB, "ring Simple")]:
            self.assertEqual(chosen(polaris(2, version), "all_gather", size), wanted)

    def test_trees_of_switches_take_all_reduces_of_ten_servers_up_to_2_gib(self):
        system = hopper(10, found=8, network_rate=48, nvls_channels=8, nvls_rate=370.8 / 8)
        # 8 channels of 45.5 GB/s, NCCL's limit.
        self.assertAlmostEqual(nccl.estimate(system, "all_reduce", GiB, "NVLS tree", "Simple"),
                               25 + 6 * 20.9 + GiB / 1000 * 158 / 80 / (8 * 45.5), places=6)
        for size in (32 * MiB, 256 * MiB, 2 * GiB):
            choice = nccl.choose(system, "all_reduce", size)
            self.assertEqual((choice.algorithm, choice.protocol, choice.channels), ("NVLS tree", "Simple", 16))
        self.assertEqual(chosen(system, "all_reduce", 4 * GiB), "ring Simple")
        self.assertEqual(chosen(system, "all_gather", GiB), "ring Simple")
        one = hopper(1, nvls_channels=8, nvls_rate=370.8 / 8)
        offers = [nccl.estimate(where, "all_reduce", MiB, how, "Simple") is not None for where in (one, system) for how in ("NVLS", "NVLS tree")]
        self.assertEqual(offers, [True, False, False, True])

    def test_chunks_of_trees_grow_with_the_data(self):
        def chunk(servers, algorithm, protocol, size):
            return nccl.chunk_bytes(hopper(servers), size, nccl.Choice(algorithm, protocol, 16))

        # With LL128 38 chunks above 128 KiB: 4.8 steps of 64 for 8 GPUs. With Simple 80, 8 for each step of the longest way.
        for servers, algorithm, protocol, size, wanted in [
                (10, "tree", "LL128", 32 * MiB, 72000), (10, "tree", "LL128", 128 * MiB, 144000), (10, "tree", "LL128", 512 * MiB, 576000),
                (10, "tree", "Simple", 128 * MiB, 128 * KiB), (10, "tree", "Simple", GiB, 512 * KiB),
                (10, "NVLS tree", "Simple", GiB, 64 * KiB), (10, "NVLS tree", "Simple", 4 * MiB, 32 * KiB),
                (2, "NVLS tree", "Simple", GiB, 128 * KiB), (2, "NVLS tree", "Simple", 32 * MiB, 64 * KiB), (2, "ring", "LL", MiB, 32 * KiB)]:
            self.assertEqual(chunk(servers, algorithm, protocol, size), wanted)

    def test_a_message_takes_more_channels_while_a_channel_has_more_than_16_mib(self):
        # The measured steps of sendrecv on 8 H100: 80, 80, 162, 300 and 356 GB/s.
        channels = [nccl.message_channels(8, size * MiB, 32, 32) for size in (32, 64, 128, 256, 512)]
        self.assertEqual(channels, [4, 4, 8, 16, 32])
        self.assertEqual(nccl.message_channels(80, GiB, 32, 1), 1)
        # A part below an eighth of a step takes no channel of its own.
        self.assertEqual([nccl.message_channels(8, size * KiB, 32, 32) for size in (128, 1)], [2, 1])


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
        switch = plan("8 x H100", "all_reduce", GiB)
        self.assertEqual((switch.how, setting(switch, "system.preset"), switch.added_us), ("NVLS Simple x16", "h100_8_nvls", 53.768))
        self.assertEqual(setting(plan("8 x H100", "sendrecv", 128 * MiB), "collective.program.instances"), "8")

    def test_a_longer_launch_adds_to_the_time_and_is_not_simulated(self):
        shorter = plan("8 x H100", "all_gather", GiB)
        longer = plan("8 x H100", "all_gather", GiB, {LAUNCH: MACHINES["8 x H100"].values()[LAUNCH] + 1500})
        self.assertEqual((shorter.added_us, longer.added_us), (0, 1.5))
        self.assertEqual(shorter.runs, longer.runs)

    def test_many_rounds_are_continued_along_a_line(self):
        tree = plan("10 x 8 H100", "all_reduce", GiB)
        self.assertEqual(tree.how, "NVLS tree Simple x16, continued")
        # The chunks of a server's GPUs in one.
        self.assertEqual([setting(tree, f"system.ni.program.{key}") for key in ("slot", "context_bytes_per_cycle")], ["524288B", "31"])
        longer = plan("10 x 8 H100", "sendrecv", GiB)  # 128 MiB + 14 times 64 MiB
        self.assertEqual([(weight, run["collective.size"]) for weight, run in longer.runs], [(15, "134217728B"), (-14, "67108864B")])
        self.assertEqual(len(plan("10 x 8 H100", "sendrecv", 128 * MiB).runs), 1)

    def test_chunks_and_rates_of_rings_and_trees(self):
        # 4 GiB are 3.2 MiB for a channel and rank: chunks of one length, each in two equal slices.
        ring = plan("10 x 8 H100", "all_gather", 4 * GiB)
        self.assertEqual([setting(ring, f"system.ni.program.{key}") for key in ("slot", "request")], ["1677724B", "838864B"])
        # Trees of LL128 share a channel's threads between both directions: 42 % of 22 GB/s.
        self.assertEqual(setting(plan("Sophia, 2 nodes", "all_reduce", MiB), RATE), "9")
        self.assertEqual(setting(plan("Sophia, 2 nodes", "all_reduce", 32 * MiB), RATE), "22")

    def test_rings_of_ll_that_outrun_their_posted_receives_cost_the_proxy_as_much_as_simple(self):
        numbers = {"ll_post": 111, "ll_post_5": 115, "simple_post_4": 444, "simple_post_5": 555, "matched_post_5": 559}
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

    def test_an_all_to_all_takes_what_the_host_prepares_if_that_is_longer(self):
        small = plan("Polaris, 8 nodes", "all_to_all", 8192, {"peer_launch": 3000}, nccl="2.21", site="polaris", setting="4")
        self.assertAlmostEqual(small.host_us, 31 * 3 + 6.169)
        times = Runs().times_of([plans.Plan("", [], 5, 93), plans.Plan("", [], 95, 93)])
        self.assertEqual(times, [(93, ""), (95, "")])

    def test_exchanges_between_servers_meet_switches_with_queues(self):
        order, request = "system.router.vc_order", "system.ni.program.request"
        two = "NDm v4, 2 servers, MSCCL++"
        exchange = plan("Sophia, 2 nodes", "all_to_all", 64 * MiB)
        self.assertEqual((setting(exchange, order), setting(exchange, request)), ("destination", "131072B"))
        self.assertEqual(setting(plan(two, "all_to_all", 64 * MiB, kernel="0"), order), "destination")
        for other in (plan("Sophia, 2 nodes", "all_gather", 64 * MiB), plan("8 x H100", "all_to_all", 64 * MiB),
                      plan(two, "all_reduce", 64 * MiB, kernel="4")):
            self.assertIsNone(setting(other, order))

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
