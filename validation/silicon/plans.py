"""What is simulated for a measured case: settings of `espalier run`, by NCCL's choice or MSCCL++'s kernel.

Sources of the rules are NCCL's and MSCCL++'s files, named beside them. README.md says which are structure and which are fitted.
"""
import dataclasses

from . import nccl

KiB, MiB = 1024, 1024**2
SMALL = MiB  # errors of rows with less data are stated apart
NETWORK_CHUNK = 128 * KiB  # of a message between servers (NCCL, src/init.cc)
MOST_VCS = 32  # of a router
MESSAGE_CHANNELS = 32  # NCCL's channels for messages (p2pnChannels)
SLOTS_IN_ADVANCE = 8  # of a connection (NCCL_STEPS): posts to receive in advance
NOT_MODELLED = "not modelled"
CHANNEL_RATE = "system.ni.program.context_bytes_per_cycle"
LAUNCH = "system.ni.program.doorbell_cycles"
COLLECTIVES = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "sendrecv", "dispatch", "combine")


@dataclasses.dataclass(frozen=True)
class Case:
    """A measured case of a machine: rows that agree in these fields are measurements of the same thing."""
    collective: str
    size: int  # bytes, as nccl-tests count: the gathered result of an all_gather
    kernel: str = ""  # of MSCCL++
    nccl: str = ""  # version; empty: the machine's
    site: str = ""
    setting: str = ""  # of the network

    def order(self):
        return COLLECTIVES.index(self.collective), self.kernel, self.nccl, self.site, self.setting, self.size


@dataclasses.dataclass
class Plan:
    """The time is the weighted sum of the runs' times and `added_us`, or `host_us` if that is longer: the host prepares an operation
    while the GPUs execute the one before. Two runs: a program that repeats itself over so much data is simulated with two smaller
    sizes, and continued along the line through them."""
    how: str
    runs: list = dataclasses.field(default_factory=list)  # (weight, settings)
    added_us: float = 0
    host_us: float = 0


def round_up(size):
    return (size + 3) // 4 * 4


def cycles(nanoseconds):
    return str(int(max(nanoseconds, 0.0) + 0.5))


def plan_case(machine, case, values):
    """`values`: the machine's numbers by name, as they are or as a fit tries them."""
    if machine.preset and case.collective not in ("dispatch", "combine"):
        return Planner(machine, case, values).plan()
    if machine.model:
        settings = {key: str(value) for key, value in machine.model.items() if key != "how"}
        settings |= {number.name: number.text(values[number.name]) for number in machine.numbers.values() if number.is_key}
        run = 1, settings | {"collective.op": case.collective, "collective.size": f"{case.size}B"}
        return Plan(machine.model["how"], [run], values.get("launch", 0) / 1000)
    if machine.closed_form:
        return Plan("closed form", added_us=closed_form(machine, case))
    return Plan(NOT_MODELLED, added_us=None)


def bus_factor(collective, ranks):
    """busbw over algbw, as nccl-tests define them."""
    factors = {"all_reduce": 2, "all_gather": 1, "reduce_scatter": 1, "all_to_all": 1}
    return factors[collective] * (ranks - 1) / ranks if collective in factors else 1


def closed_form(machine, case):
    """Microseconds: a start, then the bytes over a rate."""
    form = machine.closed_form
    rate = form["algbw"] if "algbw" in form else form["busbw"] / bus_factor(case.collective, form["ranks"])
    return form.get("start_us", 0) + case.size / (1000 * rate)


class Planner:
    def __init__(self, machine, case, values):
        self.machine = machine
        self.case = case
        self.values = values
        self.system = dataclasses.replace(machine.system, version=case.nccl) if case.nccl else machine.system
        self.between = self.system.servers > 1
        # The launch is the preset's, and the rate of a channel depends on the plan.
        self.settings = {number.name: number.text(values[number.name]) for number in machine.numbers.values()
                         if number.is_key and number.name not in (LAUNCH, CHANNEL_RATE)}
        self.settings |= {"system.preset": machine.preset, "system.topology.servers": str(self.system.servers),
                          "system.topology.gpus_per_server": str(self.system.gpus_per_server)}

    def plan(self):
        plan = self.simulated()
        # All ranks start together, so that another launch adds its difference to every time.
        if LAUNCH in self.values and not plan.how.startswith("NVLS Simple"):
            plan.added_us += (self.values[LAUNCH] - self.machine.numbers[LAUNCH].value) / 1000
        return plan

    def simulated(self):
        if self.case.kernel:
            return self.kernel()
        if self.case.collective == "all_to_all":
            return self.messages("nccl_alltoall", self.case.size // self.system.ranks)
        if self.case.collective == "sendrecv":
            return self.messages("nccl_sendrecv", self.case.size)
        return self.collective()

    def number(self, name, otherwise=0):
        return self.values.get(name, otherwise)

    def set_number(self, name, otherwise=0):
        """A number that depends on the network's setting, and on the site: "simple_post_5", "exchange_nic_rate_sirius_3"."""
        of_setting = self.number(f"{name}_{self.case.setting}", self.number(name, otherwise))
        return self.number(f"{name}_{self.case.site}_{self.case.setting}", of_setting)

    def run(self, size, weight=1):
        return weight, self.settings | {"collective.size": f"{size}B"}

    def add_runs(self, plan, rounds, size, most):
        """`rounds` rounds of `size` bytes each. With many ranks, more than `most` of them are not simulated: two smaller runs stand for
        the whole, which is off by up to a tenth."""
        if rounds <= most or self.system.ranks <= 16:
            plan.runs.append(self.run(self.case.size))
            return
        fewer = most // 2
        steps = (self.case.size / size - most) / (most - fewer)
        plan.runs += [self.run(most * size, 1 + steps), self.run(fewer * size, -steps)]
        plan.how += ", continued"

    # Rings and trees.

    def collective(self):
        choice = nccl.choose(self.system, self.case.collective, self.case.size)
        plan = Plan(f"{choice.algorithm} {choice.protocol} x{choice.channels}")
        if choice.algorithm == "NVLS":
            return self.in_switch(plan)
        is_tree = choice.algorithm != "ring"
        ring = {"all_reduce": "nccl_ring", "all_gather": "nccl_allgather", "reduce_scatter": "nccl_reducescatter"}
        self.settings |= {"collective.op": self.case.collective,
                          "collective.algorithm": "nccl_tree" if is_tree else ring[self.case.collective],
                          "collective.program.channels": str(choice.channels)}
        parts = choice.channels * (1 if is_tree else self.system.ranks)
        part = max((self.case.size + parts - 1) // parts, 4)
        chunk = self.chunk_of(choice, part)
        self.set_protocol(choice.protocol, self.post_of(choice, chunk), self.rate_of(choice))
        self.set_chunk(choice, chunk)
        # A round moves a chunk of every part.
        self.add_runs(plan, (part + chunk - 1) // chunk, chunk * parts, 16 if is_tree else 2)
        return plan

    def chunk_of(self, choice, part):
        """What a channel moves in one round of its `part` of the data."""
        chunk = nccl.chunk_bytes(self.system, self.case.size, choice)
        # The chunks of all GPUs of a server are one, which takes a server's GPUs in a chain.
        if choice.algorithm == "NVLS tree":
            chunk *= self.system.gpus_per_server
        chunk = min(chunk, round_up(part))
        # NCCL cuts a ring's last, shorter chunk into two equal slices as well. Simulated slices have one size, so all chunks have it.
        if choice.algorithm != "ring" or choice.protocol != "Simple":
            return chunk
        rounds = (part + chunk - 1) // chunk
        return round_up((part + rounds - 1) // rounds)

    def rate_of(self, choice):
        """The rate of a channel, GB/s; 0: the preset's."""
        if choice.algorithm == "NVLS tree":
            return self.number("nvls_tree_rate")
        common = self.number(CHANNEL_RATE)
        if choice.protocol == "Simple":
            return common
        rate = self.number("ll_rate", common) if choice.protocol == "LL" else common
        # In trees 70 % of a channel's threads reduce and 30 % broadcast (src/device/all_reduce.h): 42 % of a ring's rate up and down.
        return 0.42 * rate if choice.algorithm == "tree" else rate

    def is_matched_by_host(self, choice, chunk):
        """A slot of LL costs a proxy on Slingshot either 1 to 2 us or as much as one of Simple, by these measured rules. The likely reason
        is who matches a message with its receive: the NIC if the receive is there in time, as for the first eight messages of a
        connection, and in one channel of small messages, which stays in step; otherwise the host. With setting 5 it is always the host
        in rings."""
        if choice.algorithm != "ring":
            return False
        if self.case.setting == "5":
            return True
        passes = 2 if self.case.collective == "all_reduce" else 1
        outruns_receives = passes * (self.system.ranks - 1) > SLOTS_IN_ADVANCE
        return outruns_receives and (choice.channels > 1 or chunk >= KiB)

    def post_of(self, choice, chunk):
        """What the proxy takes for one slot of the network, ns."""
        if choice.protocol == "LL":
            if "ll_post" not in self.values:
                return 0
            if not self.is_matched_by_host(choice, chunk):
                return self.set_number("ll_post")
            return self.set_number("matched_post", self.set_number("simple_post"))
        if choice.protocol == "LL128" or choice.algorithm == "NVLS tree":
            return 0
        if choice.algorithm == "tree" and "tree_post" in self.values:
            return self.set_number("tree_post")
        # NCCL cuts a ring's chunk of Simple into two slices of at least 32 KiB, a message each.
        posts = 2 if choice.algorithm == "ring" and chunk > 32 * KiB else 1
        return posts * self.set_number("simple_post")

    def set_protocol(self, protocol, post, rate):
        """The time that a step takes beside the time on links."""
        step = {"LL": self.number("ll_step", 1), "LL128": self.number("ll128_step", 1300)}.get(protocol, 1)
        self.settings |= {"collective.program.protocol": protocol, "system.ni.program.decode_cycles": cycles(max(step, 1.0))}
        if rate:
            self.settings[CHANNEL_RATE] = cycles(rate)
        if self.between:
            self.settings |= {"system.ni.program.network_slot_cycles": cycles(post), "system.ni.program.network_receive_cycles": cycles(post)}

    def set_slots(self, slot, slots, request):
        self.settings |= {"system.ni.program.slot": f"{slot}B", "system.ni.program.slots": str(slots),
                          "system.ni.program.request": f"{request}B"}

    def set_chunk(self, choice, chunk):
        """Tiles are chunks. Simple hands on a ring's chunk in two slices; LL and LL128 hand on lines, simulated in pieces."""
        request, slots = chunk, 8
        if choice.protocol == "Simple" and choice.algorithm == "ring":
            request, slots = max(round_up((chunk + 1) // 2), 32 * KiB), 2
        elif choice.protocol != "Simple":
            request = max(round_up(chunk // 4), 4 * KiB)
        self.set_slots(max(chunk, 4), slots, min(request, max(chunk, 4)))
        self.settings["system.ni.program.requests"] = "2"

    def in_switch(self, plan):
        """The switch of the server adds and copies."""
        self.settings = {"system.preset": f"{self.machine.preset}_nvls",
                         "system.dimensions.switch_bytes_per_cycle": cycles(self.number("nvls_rate")),
                         "collective.op": "all_reduce", "collective.algorithm": "baseline", "collective.chunks": "64"}
        plan.runs.append(self.run(self.case.size))
        plan.added_us = self.number("nvls_start") / 1000
        return plan

    # Messages to all peers or to the next one.

    def queue_by_output(self):
        """Slingshot's switches have virtual output queues (De Sensi et al., SC 2020). VCs by destination with crossbar inputs of their own
        are the same for up to 32 GPUs: a packet whose output is taken by another sender does not hold up those to other GPUs."""
        self.settings |= {"system.router.vcs": str(min(self.system.ranks, MOST_VCS)), "system.router.vc_order": "destination",
                          "system.router.crossbar_inputs": "vc"}

    def messages(self, algorithm, size):
        is_exchange = self.case.collective == "all_to_all"
        most = int(self.number("network_channels", 2)) if self.between else MESSAGE_CHANNELS
        channels = nccl.message_channels(self.system.ranks, size, MESSAGE_CHANNELS, most)
        # All peers share the channels, so a peer cannot use more than its share at the same time.
        if is_exchange:
            channels = min(channels, max(2 * MESSAGE_CHANNELS // self.system.ranks, 1))
        plan = Plan(f"messages x{channels}")
        self.settings |= {"collective.op": "custom", "collective.algorithm": algorithm, "collective.program.instances": str(channels)}
        self.set_protocol("Simple", self.set_number("message_post"), self.number("message_rate", 20))
        # Libfabric's CXI provider injects messages of up to 192 bytes, for which the host copies them from the GPU.
        if self.between and size // channels <= 192:
            self.settings["system.ni.program.network_slot_cycles"] = cycles(self.set_number("message_post") + self.set_number("inject_post"))
        self.settings["system.ni.program.fence_cycles"] = "0"
        # Flows to all others meet in the switch and at the NICs as they come; simulated ranks stay in step.
        if is_exchange and self.number("exchange_rate"):
            self.settings["system.link.bandwidth"] = cycles(self.number("exchange_rate")) + "GB/s"
        if is_exchange and self.set_number("exchange_nic_rate"):
            self.settings["system.topology.nic_link.bandwidth"] = f"{self.set_number('exchange_nic_rate'):.1f}GB/s"
        if is_exchange and self.between:
            self.queue_by_output()
        # Between servers a message is stored chunk by chunk. In a server, flows share an NI's queue, where they take turns by pieces.
        part = max(round_up(size // channels), 4)
        if self.between:
            request = slot = min(part, NETWORK_CHUNK)
        else:
            request = min(max(round_up(part // 64), 64 * KiB), MiB)
            slot = max(request, min(512 * KiB, part))
        self.set_slots(slot, 8, min(request, slot))
        self.settings["system.ni.program.requests"] = "2"
        if is_exchange:
            plan.runs.append(self.run(self.case.size))
        else:
            self.add_runs(plan, (part + request - 1) // request, channels * request, 1024)
        # The host prepares a task for each peer, and launches the kernel.
        if self.number("peer_launch"):
            peers = self.system.ranks - 1 if is_exchange else 1
            plan.host_us = (self.number("peer_launch") * peers + self.number(LAUNCH)) / 1000
        return plan

    # MSCCL++.

    def kernel_algorithm(self, is_small):
        if self.case.collective == "all_gather" and self.between:
            return "mscclpp_allgather"
        if self.case.collective != "all_reduce":
            return "nccl_alltoall"
        if is_small:
            return "mscclpp_packets" if self.case.kernel == "2" else "gc3_allpairs"
        return "gc3_hierarchical" if self.between else "nccl_ring"

    def kernel(self):
        """All ranks exchange with all others at once, small data in lines with flags. Large sums are spread over many thread blocks, as in
        rings; between servers they go through rings of servers (test/mscclpp-test/allreduce_test.cu)."""
        case = self.case
        is_small = case.size < SMALL
        adds = case.collective == "all_reduce"
        is_ring = adds and not is_small and not self.between
        if not adds and self.between:
            self.queue_by_output()
        plan = Plan(self.kernel_algorithm(is_small))
        is_gather = plan.how == "mscclpp_allgather"
        # Kernel 6 has 21 thread blocks, 3 for each peer.
        instances = "3" if case.kernel == "6" else "1" if is_small or is_ring else "4"
        self.settings |= {"collective.op": "all_reduce" if adds else "all_gather" if is_gather else "custom", "collective.algorithm": plan.how,
                          "collective.program.protocol": "LL" if is_small else "Message", "collective.program.instances": instances}
        if is_ring:
            self.settings["collective.program.channels"] = "24"
        # Kernels 4 and 5 read from their peers: a request of one flit for each 128 bytes, whose answer has a head flit for 8 flits of
        # data. 8 of 10 flits are data, with writes 16 of 17.
        if case.kernel in ("4", "5"):
            self.settings["system.link.bandwidth"] = "335GB/s" if self.system.gpu == "hopper" else "230GB/s"
        # Kernel 2 hands one put to a proxy thread; the receiver looks for the data itself.
        if case.kernel == "2":
            self.settings["system.ni.program.network_slot_cycles"] = cycles(self.number("proxy_put"))
        # NICs take turns among connections by small pieces.
        most = 256 * KiB if not adds and self.between else MiB
        part = max(case.size // self.system.ranks // 4, 4)
        request = min(max(round_up(part // 16), 4 * KiB), most)
        self.set_slots(max(request, 64 * KiB), 8, request)
        plan.runs.append(self.run(case.size))
        return plan
