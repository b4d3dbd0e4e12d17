"""What is simulated for a measured case: NCCL's choice, which is `collective.algorithm: nccl` of the program, or MSCCL++'s kernel.

README.md says which rules are structure and which numbers are fitted.
"""
import dataclasses
import functools
import hashlib
import json
import pathlib
import subprocess
import tempfile

from .machines import ROOT, preset_value
from .program import espalier

KiB, MiB = 1024, 1024**2
SMALL = MiB  # errors of rows with less data are stated apart
MOST_VCS = 32  # of a router
NOT_MODELLED = "not modelled"
LAUNCH = "system.ni.program.doorbell_cycles"
MACHINE_FILES = tempfile.TemporaryDirectory()
POINT = ROOT / "validation/silicon/point.yaml"
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
    """The time is the weighted sum of the runs' times and `added_us`. Two runs: a program that repeats itself over so much data is
    simulated with two smaller sizes, and continued along the line through them."""
    how: str
    runs: list = dataclasses.field(default_factory=list)  # (weight, settings), which begin with those of POINT
    added_us: float = 0


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


@functools.cache
def machine_file(preset, numbers):
    """A machine file with the preset's numbers, but these."""
    lines = [f"from: {preset}", "nccl:"] + [f"  {name}: {value}" for name, value in numbers]
    text = "\n".join(lines) + "\n"
    path = pathlib.Path(MACHINE_FILES.name) / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.yaml"
    path.write_text(text)
    return str(path)


@functools.cache
def resolved(sets):
    """The configuration of NCCL's choice, as dotted keys."""
    words = [word for key, value in sets for word in ("-s", f"{key}={value}")]
    done = subprocess.run([espalier.program_path(), "check", POINT, "--resolved", *words], capture_output=True, text=True)
    if done.returncode:
        raise espalier.Error(done.stderr)
    found = {}

    def flatten(section, name):
        for key, value in section.items():
            if isinstance(value, dict):
                flatten(value, f"{name}{key}.")
            else:
                found[name + key] = json.dumps(value) if not isinstance(value, str) else value

    flatten(json.loads(done.stdout)[0], "")
    return found


def bytes_of(text):
    unit = text.lstrip("0123456789")
    return int(text.removesuffix(unit)) * 1024 ** ("B", "KiB", "MiB", "GiB").index(unit)


class Planner:
    def __init__(self, machine, case, values):
        self.machine = machine
        self.case = case
        self.values = values
        self.system = machine.system
        self.between = self.system.servers > 1
        self.settings = {"system.preset": machine.preset, "system.topology.servers": str(self.system.servers),
                         "system.topology.gpus_per_server": str(self.system.gpus_per_server)}
        self.settings |= {number.name: number.text(values[number.name]) for number in machine.numbers.values() if number.is_key}

    def plan(self):
        if not self.case.kernel:
            return self.library()
        plan = self.kernel()
        # All ranks start together, so that another launch adds its difference to every time.
        plan.added_us += (float(self.settings.pop(LAUNCH)) - self.machine.numbers[LAUNCH].value) / 1000
        for _, settings in plan.runs:
            del settings[LAUNCH]
        return plan

    def number(self, name):
        return self.values.get(name, 0)

    # NCCL.

    def own_numbers(self):
        """The machine's numbers that differ from its preset's. The suffix of a number is a setting of the network, or a site and a
        setting: "simple_post_5", "exchange_nic_rate_sirius_3"."""
        case = self.case
        wanted = {"version": f'"{case.nccl}"'} if case.nccl else {}
        if case.setting == "5":
            wanted["host_matches"] = "true"
        for name in self.values:
            base, _, setting = name.rpartition("_")
            base = base.removesuffix("_polaris").removesuffix("_sirius") if setting in ("3", "4", "5") else name
            own = [f"{base}_{case.site}_{case.setting}", f"{base}_{case.setting}", base]
            found = next((one for one in own if one in self.values), None)
            if found and "." not in found:
                wanted[base] = self.values[found]
        return tuple((name, value) for name, value in wanted.items() if value != preset_value(self.machine.preset, name))

    def library(self):
        case = self.case
        numbers = self.own_numbers()
        if numbers:
            self.settings["system.preset"] = machine_file(self.machine.preset, numbers)
        op = "custom" if case.collective == "sendrecv" else case.collective
        self.settings |= {"collective.op": op, "collective.algorithm": "nccl", "collective.size": f"{case.size}B"}
        whole = resolved(tuple(self.settings.items()))
        plan = Plan(whole["collective.choice"].split(";")[0].split(",")[0])
        self.add_runs(plan, whole)
        return plan

    def add_runs(self, plan, whole):
        """A program repeats itself in rounds of equal sizes. With many ranks, more than some of them are not simulated: two smaller runs
        stand for the whole, which is off by up to a tenth."""
        program, ranks = whole["collective.algorithm"], self.system.ranks
        plan.runs.append((1, whole))
        if program in ("baseline", "nccl_alltoall") or ranks <= 16:
            return
        if program == "nccl_sendrecv":
            parts, chunk, most = int(whole["collective.program.instances"]), bytes_of(whole["system.ni.program.request"]), 1024
        else:
            is_tree = program == "nccl_tree"
            parts = int(whole["collective.program.channels"]) * (1 if is_tree else ranks)
            chunk, most = bytes_of(whole["system.ni.program.slot"]), 16 if is_tree else 2
        part = (self.case.size + parts - 1) // parts
        if program == "nccl_sendrecv":
            part = (self.case.size // parts + 3) // 4 * 4
        if (part + chunk - 1) // chunk <= most:
            return
        size, fewer = parts * chunk, most // 2
        steps = (self.case.size / size - most) / (most - fewer)
        sizes = [(1 + steps, most * size), (-steps, fewer * size)]
        plan.runs = [(weight, whole | {"collective.size": f"{smaller}B"}) for weight, smaller in sizes]
        plan.how += ", continued"

    def queue_by_output(self):
        """VCs by destination with crossbar inputs of their own are virtual output queues."""
        self.settings |= {"system.router.vcs": str(min(self.system.ranks, MOST_VCS)), "system.router.vc_order": "destination",
                          "system.router.crossbar_inputs": "vc"}

    def set_slots(self, slot, slots, request):
        self.settings |= {"system.ni.program.slot": f"{slot}B", "system.ni.program.slots": str(slots),
                          "system.ni.program.request": f"{request}B"}

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
        plan.runs.append((1, self.settings | {"collective.size": f"{case.size}B"}))
        return plan
