"""What NCCL runs for an operation: ring, tree or switches, with which protocol, over how many channels.

The choice is that of NCCL's own cost model (src/graph/tuning.cc, src/enqueue.cc). The estimates decide; they are not the times
that the table reports. Versions of NCCL differ in the numbers (nccl_tuning.yaml), and choose differently.
"""
import dataclasses
import pathlib

import yaml

TUNING = yaml.safe_load((pathlib.Path(__file__).parent / "nccl_tuning.yaml").read_text())
PROTOCOLS = TUNING["protocols"]
KiB = 1024


@dataclasses.dataclass(frozen=True)
class System:
    """What NCCL's search of the topology would find. Rates in GB/s."""
    gpu: str  # ampere or hopper
    servers: int
    gpus_per_server: int
    version: str = "2.22"
    channels: int = 1  # of rings and of trees
    found: int = 0  # rings and trees that the search found, before NCCL duplicates them (src/graph/connect.cc); 0: as many as channels
    ring_rate: float = 0  # of a found ring inside a server
    network_rate: float = 0  # of a found ring between servers
    nvls_channels: int = 0  # that the search found; 0: the switch cannot add
    nvls_rate: float = 0  # of a found one inside a server
    has_ll128: bool = True
    hosts: str = "intel"  # intel or amd: decides LL's rate and the network's overhead

    @property
    def ranks(self):
        return self.servers * self.gpus_per_server

    @property
    def rings(self):
        return self.found or self.channels

    def by_servers(self, rates):
        return rates[min(self.servers, 3) - 1]


@dataclasses.dataclass(frozen=True)
class Choice:
    algorithm: str  # ring, tree, NVLS or NVLS tree: switches add and copy inside servers, trees connect the servers
    protocol: str
    channels: int
    microseconds: float = 0  # NCCL's estimate

    @property
    def is_in_switch(self):
        return self.algorithm.startswith("NVLS")


def log2_floor(value):
    return max(int(value), 1).bit_length() - 1


def ring_cost(system, op, size, protocol):
    """GB/s of the operation's size, and microseconds before the first byte."""
    phases = 2 if op == "all_reduce" else 1
    steps = phases * (system.ranks - 1)
    network_steps = phases * (system.servers - 1)
    # Up to version 2.21 an all_reduce counts two more (nInterSteps).
    if system.version in ("2.18", "2.21") and system.servers > 1 and op == "all_reduce":
        network_steps = 2 * system.servers
    rate = system.rings * (system.ring_rate if system.servers <= 2 else system.network_rate)
    if protocol == "LL":
        # Half of LL's bytes are flags. Version 2.18 halves the rate once more.
        kind = system.hosts if system.servers > 1 else system.gpu
        rate = min(system.by_servers(TUNING["ll"][kind]), rate / (4 if system.version == "2.18" else 2))
    if protocol == "LL128":
        rate = min(rate * 0.92, system.rings * system.by_servers(TUNING["ring_ll128"][system.gpu]))
    p = PROTOCOLS.index(protocol)
    # With one GPU in a server nothing hides the network's latency.
    network = (TUNING["tree"][system.version] if system.gpus_per_server == 1 else TUNING["ring"])["network"][p]
    nvlink = TUNING["ring"]["nvlink"][p]
    if system.servers > 1:
        nvlink = max(nvlink, (2 if system.hosts == "amd" else 1) * (3 if protocol == "Simple" else 1))
    latency = TUNING["ring"]["start"][p] + (steps - network_steps) * nvlink + network_steps * network
    has_plateau = protocol == "Simple" and system.servers > 1 and op == "all_reduce"
    if has_plateau and size // (system.channels * system.ranks) >= 64:
        latency *= 1.4
    return rate * system.ranks / steps, latency


def tree_cost(system, size, protocol):
    rate = system.rings * (system.ring_rate if system.servers <= 2 else system.network_rate)
    rate = min(rate * 0.92, system.rings * system.by_servers(TUNING["tree_simple"][system.gpu]))
    if protocol == "LL":
        kind = system.hosts if system.servers > 1 else system.gpu
        rate = min(rate / 3.8, system.by_servers(TUNING["ll"][kind]))
    if protocol == "LL128":
        most = system.by_servers(TUNING["tree_ll128"][system.gpu])
        rate = min(rate * (7.0 / 9 if system.servers == 1 else 120.0 / 128), system.rings * most)
    p = PROTOCOLS.index(protocol)
    factors = TUNING["tree_correction"][p]
    correction = dict(enumerate(factors)).get(log2_floor(size // 64), 1) if size >= 64 else 1
    times = TUNING["tree"][system.version]
    way_up = (system.gpus_per_server - 1) * times["nvlink"][p] + log2_floor(system.servers) * times["network"][p]
    return rate / 2 * correction, times["start"][p] + 2 * way_up


def nvls_cost(system, algorithm):
    numbers = TUNING["nvls"]
    channels = system.nvls_channels
    # The addition and the multicast of an all_reduce follow each other through the switch.
    rate = 2 * system.nvls_rate * numbers["efficiency"] * (channels - 1) / channels
    latency = numbers["nvlink"]
    if algorithm == "NVLS tree":
        network = (2 if system.servers <= 2 else 1) * system.network_rate
        rate = min(rate, network, system.by_servers(TUNING["nvls_tree"]))
        latency += 2 * log2_floor(system.servers) * numbers["tree_network"]
    return rate * (system.ranks / (2 * (system.ranks - 1))) * channels, latency


def estimate(system, op, size, algorithm, protocol):
    """NCCL's estimate in microseconds; None if NCCL does not offer this combination."""
    if protocol == "LL128" and not system.has_ll128:
        return None
    if algorithm != "ring" and op != "all_reduce":
        return None
    if algorithm == "ring":
        rate, latency = ring_cost(system, op, size, protocol)
    elif algorithm == "tree":
        rate, latency = tree_cost(system, size, protocol)
    else:
        # NVLS stays in one server: between servers only a switch of the network that adds could do the same.
        if system.nvls_channels < 2 or protocol != "Simple" or (algorithm == "NVLS") != (system.servers == 1):
            return None
        rate, latency = nvls_cost(system, algorithm)
    return latency + size / (1000 * rate)


def least_work(system, choice):
    """Bytes below which a channel is not used (threadThresholds)."""
    if choice.is_in_switch:
        return 0
    if choice.protocol == "Simple":
        return 512 * 64
    if choice.protocol == "LL128":
        return 640 * 8
    return 512 * 8 * (system.ranks if choice.algorithm == "ring" else 1)


def choose(system, op, size):
    """The combination with the least estimate, and the channels that have enough work."""
    best = None
    for algorithm in ("tree", "ring", "NVLS", "NVLS tree"):
        for protocol in PROTOCOLS:
            time = estimate(system, op, size, algorithm, protocol)
            if time is not None and (best is None or time < best.microseconds):
                best = Choice(algorithm, protocol, system.channels, time)
    channels = TUNING["nvls"]["channels"] if best.is_in_switch else best.channels
    while channels > 1 and size < channels * least_work(system, best):
        channels -= 1
    return dataclasses.replace(best, channels=channels)


def message_channels(ranks, size, channels, most):
    """Channels over which a message to one peer is spread, at most `most`: a share of all channels, doubled while a channel's part
    exceeds 32 FIFO steps, and halved while a part is below an eighth of a step."""
    used = most
    while used > 1 and used * ranks > channels:
        used //= 2
    while used * 2 <= most and (size + used - 1) // used > 32 * TUNING["step"]:
        used *= 2
    while used > 1 and size // used < TUNING["step"] // 8:
        used //= 2
    return used


def tree_chunk(system, size, choice):
    """Trees cut their data such that the pipeline fills (calcCollChunking)."""
    per_channel = size // choice.channels
    gpus = system.gpus_per_server
    levels = log2_floor(system.servers)
    if choice.protocol == "LL128":
        chunk = TUNING["chunk"]["LL128"]
        steps = 1 + levels + 0.1 * gpus
        limits = [(steps * 64 / gpus, 128 * KiB), (steps * 16 / gpus, 32 * KiB)]
    else:
        chunk = TUNING["step"]
        depth = gpus - 1 + levels
        limits = [(depth * 8, 128 * KiB), (depth * 4, 64 * KiB), (depth, 32 * KiB)]
    for fewest_chunks, least in limits:
        while per_channel // chunk < fewest_chunks and chunk > least:
            chunk //= 2
    return chunk


def chunk_bytes(system, size, choice):
    """What a channel of the chosen combination moves to the next rank in one round; with NVLS trees, for each GPU of a server."""
    if choice.algorithm == "NVLS tree":
        at_once = TUNING["nvls"]["channels"] * system.gpus_per_server
        chunk = (64 if system.servers >= 4 else 128) * KiB
        if size < 4 * at_once * chunk:
            chunk = min(chunk, 64 * KiB)
        return min(chunk, 32 * KiB) if size < at_once * chunk else chunk
    if choice.algorithm == "ring" or choice.protocol == "LL":
        return TUNING["chunk"][choice.protocol]
    return tree_chunk(system, size, choice)
