#!/usr/bin/env python3
"""Compares the steps of execution traces with a replay by ASTRA-sim's rules of issue, rank by rank.

    tests/python/check_steps.py build/release/espalier                     # steps made here; fails where a rank is off by 1 %
    tests/python/check_steps.py build/release/espalier PREFIX network.yml [--groups FILE] [--tflops N --memory GB/s] [--algorithm hierarchical_ring] [--chunks N]

The replay knows nothing of the simulator: a message takes hops x latency + bytes / bandwidth (GB of 2^30 B), cut to whole ns; a
collective is a ring in the order of the group, or among all ranks one in each dimension, for each of its chunks in turn; messages do not contend.
"""
import argparse
import collections
import heapq
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

OPS = {0: "all_reduce", 2: "all_gather", 6: "all_to_all", 7: "reduce_scatter"}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(value):
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        out.append(number)
    return out


def node_of(data):
    node = {"id": 0, "type": 0, "deps": set(), "us": 0}
    for field, value in fields(data):
        if field in (1, 3, 7):
            node[{1: "id", 3: "type", 7: "us"}[field]] = value
        elif field in (4, 5):
            node["deps"].update(numbers(value))
        elif field == 10:
            name = number = None
            for inner, content in fields(value):
                if inner == 1:
                    name = content.decode()
                elif inner == 29:
                    number = content.decode()
                elif isinstance(content, int):
                    number = content - (1 << 64) if content >> 63 else content
            node[name] = number
    return node


def read_trace(path, tflops, memory):
    data, at, records = open(path, "rb").read(), 0, []
    while at < len(data):
        size, at = varint(data, at)
        records.append(data[at:at + size])
        at += size
    work = {}
    for node in map(node_of, records[1:]):
        kind = {4: "compute", 5: "send", 6: "receive", 7: "collective"}.get(node["type"], "none")
        piece = {"kind": kind, "deps": node["deps"], "ns": node["us"] * 1000, "bytes": node.get("comm_size", 0)}
        if kind == "compute" and node.get("is_cpu_op"):
            piece["kind"] = "host"
        elif kind == "compute" and tflops:
            if node["tensor_size"] == 0:
                piece["kind"] = "none"
            else:
                rate = min(memory * 1e9 * node["num_ops"] / node["tensor_size"], tflops * 1e12)
                piece["ns"] = int(node["num_ops"] / rate * 1e9)
        elif kind == "collective":
            piece.update(op=OPS.get(node["comm_type"], "broadcast"), group=str(node.get("pg_name") or "0"))
            if piece["op"] == "broadcast":
                piece["kind"] = "compute"
        elif kind in ("send", "receive"):
            piece.update(peer=node["comm_dst" if kind == "send" else "comm_src"], tag=node["comm_tag"])
        work[node["id"]] = piece
    return work


class Network:
    def __init__(self, path):
        text = open(path).read()
        get = lambda key: [x.strip() for x in re.search(key + r":\s*\[(.*?)\]", text).group(1).split(",")]
        self.dimensions = list(zip(get("topology"), map(int, get("npus_count")), map(float, get("bandwidth")), map(float, get("latency"))))
        self.ranks = 1
        for _, size, _, _ in self.dimensions:
            self.ranks *= size

    def time(self, a, b, size):
        for shape, count, rate, latency in self.dimensions:
            x, y, a, b = a % count, b % count, a // count, b // count
            if x != y:
                hops = {"Switch": 2, "FullyConnected": 1}.get(shape) or min((x - y) % count, (y - x) % count)
                return int(latency * hops + size / (rate * 2**30 / 1e9))  # further dimensions cost nothing
        raise ValueError("a message to itself")


class Replay:
    def __init__(self, work, groups, network, chunks):
        self.work, self.groups, self.network, self.chunks = work, groups, network, chunks
        self.events, self.order, self.now = [], itertools.count(), 0
        self.meetings = collections.defaultdict(dict)  # by group and index, then rank
        self.ranks, self.children = [], []
        for rank_work in work:
            children = collections.defaultdict(list)
            for i, node in rank_work.items():
                for before in node["deps"]:
                    children[before].append(i)
            self.children.append(children)
            waits = {i: set(node["deps"]) for i, node in rank_work.items()}
            self.ranks.append({"waits": waits, "ready": {i for i, w in waits.items() if not w}, "places": {}, "left": len(waits),
                               "end": 0, "posted": collections.Counter(), "receives": collections.defaultdict(collections.deque),
                               "came": collections.Counter()})

    def run(self):
        for rank in range(len(self.work)):
            self.walk(rank)
        while self.events:
            self.now, _, event = heapq.heappop(self.events)
            event()
        return [rank["end"] if rank["left"] == 0 else None for rank in self.ranks]

    def at(self, time, event):
        heapq.heappush(self.events, (time, next(self.order), event))

    def end(self, r, i):
        rank = self.ranks[r]
        rank["places"] = {place: node for place, node in rank["places"].items() if node != i}
        rank["left"] -= 1
        rank["end"] = self.now
        for child in self.children[r][i]:
            rank["waits"][child].discard(i)
            if not rank["waits"][child]:
                rank["ready"].add(child)

    def ended(self, r, i):
        self.end(r, i)
        self.walk(r)

    def walk(self, r):
        rank, again = self.ranks[r], True
        while again:  # a node without time is an end, too; ASTRA-sim would wait for the next event
            again = False
            for i in sorted(rank["ready"]):
                node = self.work[r][i]
                kind = node["kind"]
                place = {"collective": "network", "send": "network"}.get(kind, kind)
                if kind == "none" or kind == "collective" and (node["bytes"] == 0 or len(self.groups[node["group"]]) == 1):
                    rank["ready"].discard(i)
                    self.end(r, i)
                    again = True
                elif kind == "receive":
                    rank["ready"].discard(i)
                    key = (node["peer"], node["tag"], node["bytes"])
                    if rank["came"][key]:
                        rank["came"][key] -= 1
                        self.at(self.now, lambda i=i: self.ended(r, i))
                    else:
                        rank["receives"][key].append(i)
                elif place not in rank["places"]:
                    rank["places"][place] = i
                    rank["ready"].discard(i)
                    if kind == "collective":
                        self.collective(r, i, node)
                    elif kind == "send":
                        self.at(self.now + self.network.time(r, node["peer"], node["bytes"]), lambda i=i, n=node: self.arrive(r, i, n))
                    else:
                        self.at(self.now + max(1, node["ns"]), lambda i=i: self.ended(r, i))

    def arrive(self, r, i, node):
        receiver, key = self.ranks[node["peer"]], (r, node["tag"], node["bytes"])
        if receiver["receives"][key]:
            receive = receiver["receives"][key].popleft()
            self.at(self.now, lambda: self.ended(node["peer"], receive))
        else:
            receiver["came"][key] += 1
        self.ended(r, i)

    def phases(self, r, node):
        """The rings of a collective in their order, each with what it computes of how many bytes."""
        op, size, rings, stride = node["op"], node["bytes"], [self.groups[node["group"]]], 1
        if len(rings[0]) == self.network.ranks:
            rings = []
            for _, count, _, _ in self.network.dimensions:
                rings.append([r + (x - r // stride % count) * stride for x in range(count)])
                stride *= count
        size //= self.chunks
        if op != "all_gather":
            size = max(size, self.network.ranks)
        if op == "all_reduce":
            steps = [("reduce_scatter", ring) for ring in rings[:-1]] + [(op, rings[-1])] + [("all_gather", ring) for ring in rings[-2::-1]]
        else:
            steps = [(op, ring) for ring in (reversed(rings) if op == "all_gather" else rings)]
        for op, ring in steps:
            yield op, ring, size
            size = size // len(ring) if op == "reduce_scatter" else size * len(ring) if op == "all_gather" else size

    def collective(self, r, i, node):
        index = self.ranks[r]["posted"][node["group"]]
        self.ranks[r]["posted"][node["group"]] += 1
        self.phase(r, i, (node["group"], index), list(self.phases(r, node)) * self.chunks)

    def phase(self, r, i, name, phases):
        if not phases:
            return self.ended(r, i)
        op, ring, bytes_in = phases[0]
        size, me = len(ring), ring.index(r)
        parts = {"all_reduce": 2 * (size - 1), "all_to_all": size * (size - 1) // 2}.get(op, size - 1)
        part = bytes_in if op == "all_gather" else bytes_in // size
        meeting = self.meetings[name, len(phases)]
        mine = meeting.setdefault(r, {"got": 0, "sent": 0})
        peer = ring[(me + 1) % size]

        def arrived():
            other = meeting.setdefault(peer, {"got": 0, "sent": 0})
            other["got"] += 1
            if "go" in other:
                other["go"]()

        def go():  # what has come lets the next part leave
            while mine["sent"] < parts and mine["sent"] <= mine["got"]:
                mine["sent"] += 1
                self.at(self.now + self.network.time(r, peer, part), arrived)
            if mine["got"] == parts and not mine.setdefault("over", False):
                mine["over"] = True
                self.at(self.now, lambda: self.phase(r, i, name, phases[1:]))

        mine["go"] = go
        self.at(self.now, go)


def encoded(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return encoded(number << 3) + encoded(value)
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def record(node):
    """A node of a trace from (id, type, deps, us, attributes)."""
    number, kind, deps, us, attributes = node
    out = field(1, number) + field(2, b"n%d" % number) + field(3, kind) + field(7, us)
    for before in deps:
        out += field(5, before)
    for name, value in attributes.items():
        out += field(10, field(1, name.encode()) + (field(29, value.encode()) if isinstance(value, str) else field(9, value)))
    return encoded(len(out)) + out


def write_step(folder, sizes, random, axes):
    """Work along the axes of a network: computation, collectives of `axes` of them and of all ranks, and messages along the last one."""
    ranks = math.prod(sizes)
    groups = {"1": list(range(ranks))}
    group_of = {(len(sizes), rank): "1" for rank in range(ranks)}
    for axis, size in enumerate(sizes):
        stride = math.prod(sizes[:axis])
        for first in (r for r in range(ranks) if r // stride % size == 0):
            name = str(len(groups) + 1)
            groups[name] = [first + stride * k for k in range(size)]
            group_of.update({(axis, rank): name for rank in groups[name]})
    json.dump(groups, open(os.path.join(folder, "t.json"), "w"))
    last = math.prod(sizes[:-1])
    traces = [bytearray(encoded(0)) for _ in range(ranks)]
    for number in range(1, 41):
        deps = [d for d in (number - 1, number - random.randint(1, 4)) if d > 0][:random.randint(1, 2)]
        kind, axis, size = random.choice((4, 7, 7, 5)), random.randrange(axes), random.randrange(4096, 1 << 20)
        op, us = random.choice((0, 2, 6, 7)), random.randrange(40)
        for rank in range(ranks):
            if kind == 4:
                node = (number, 4, deps, us, {"is_cpu_op": 0})
            elif kind == 7:
                node = (number, 7, deps, 0, {"is_cpu_op": 0, "comm_type": op, "comm_size": size, "pg_name": group_of[axis, rank]})
            elif rank // last % 2 == 0 and rank + last < ranks:
                node = (number, 5, deps, 0, {"comm_dst": rank + last, "comm_tag": number, "comm_size": size})
            elif rank // last % 2 == 1:
                node = (number, 6, deps, 0, {"comm_src": rank - last, "comm_tag": number, "comm_size": size})
            else:
                node = (number, 0, deps, 0, {})
            traces[rank] += record(node)
    for rank, trace in enumerate(traces):
        open(os.path.join(folder, f"t.{rank}.et"), "wb").write(trace)


def compare(options, prefix, network_file):
    """What each rank's end is more than the replay's, as a ratio; text if the program refuses."""
    network = Network(network_file)
    groups = {"0": list(range(network.ranks))}
    file = options.groups or prefix + ".json"
    if os.path.exists(file):
        groups.update(json.load(open(file)))
    work = [read_trace(f"{prefix}.{r}.et", options.tflops, options.memory) for r in range(network.ranks)]
    expected = Replay(work, groups, network, options.chunks).run()
    with tempfile.TemporaryDirectory() as folder:
        compute = f"tflops: {options.tflops}, memory: {options.memory}GB/s" if options.tflops else "tflops: recorded"
        named = f", groups: {os.path.abspath(options.groups)}" if options.groups else ""
        config = os.path.join(folder, "step.yaml")
        open(config, "w").write(
            f"system: {{topology: {{type: astra_network, file: {os.path.abspath(network_file)}}}}}\n"
            f"collective: {{algorithm: {options.algorithm}}}\n"
            f"workload: {{file: {os.path.abspath(prefix)}{named}, issue: lowest_id, chunks: {options.chunks}, compute: {{{compute}}}}}\n")
        run = subprocess.run([options.espalier, "run", config, "--json", "-", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if not run.stdout or not json.loads(run.stdout)["results"][0]["verified"]:
        return (json.loads(run.stdout)["results"][0]["failure"] if run.stdout else run.stderr).strip()
    ends = json.loads(run.stdout)["results"][0]["step"]["rank_end_ns"]
    return [end / theirs - 1 if theirs else end for end, theirs in zip(ends, expected)]


def check_made_steps(options):
    wrong = 0
    for seed, (shapes, sizes, options.chunks) in enumerate((
            ("Ring, Ring, Ring", (2, 2, 2), 1), ("Switch, Switch", (4, 2), 1), ("Ring, Switch, Ring", (4, 3, 2), 1),
            ("FullyConnected, Ring", (4, 6), 1), ("Switch", (6,), 1), ("Switch", (6,), 3), ("Ring, Switch, Ring", (4, 3, 2), 4))):
        with tempfile.TemporaryDirectory() as folder:
            # Chunks of collectives of several dimensions overlap in ASTRA-sim: there are none.
            axes = len(sizes) + (options.chunks == 1 or len(sizes) == 1)
            write_step(folder, sizes, random.Random(seed), axes)
            network = os.path.join(folder, "network.yml")
            rates, latencies = [50.0, 400.0, 100.0][:len(sizes)], [1000.0, 500.0, 700.0][:len(sizes)]
            open(network, "w").write(f"topology: [{shapes}]\nnpus_count: {list(sizes)}\nbandwidth: {rates}\nlatency: {latencies}\n")
            found = compare(options, os.path.join(folder, "t"), network)
        refused = isinstance(found, str)
        print(f"{shapes} {sizes}, {options.chunks} chunks, seed {seed}:", found if refused else f"{min(found):+.2%} to {max(found):+.2%}")
        if "without protobuf" in str(found):
            return 77
        wrong += refused or max(map(abs, found)) > 0.01
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("espalier")
    parser.add_argument("prefix", nargs="?")
    parser.add_argument("network", nargs="?")
    parser.add_argument("--groups")
    parser.add_argument("--tflops", type=int)
    parser.add_argument("--memory", type=int, default=3350, help="GB/s")
    parser.add_argument("--algorithm", default="hierarchical_ring")
    parser.add_argument("--chunks", type=int, default=1)
    options = parser.parse_args()
    if options.prefix is None:
        return check_made_steps(options)
    found = compare(options, options.prefix, options.network)
    print(found if isinstance(found, str) else f"{min(found):+.2%} to {max(found):+.2%}")
    return int(isinstance(found, str))


if __name__ == "__main__":
    sys.exit(main())
