#!/usr/bin/env python3
"""Compares the simulated step of execution traces with a replay by ASTRA-sim's rules of issue, rank by rank.

    tests/perf/astra_replay.py build/release/espalier PREFIX network.yml [--groups FILE] [--tflops N --memory GB/s] [--algorithm ring]

The replay knows nothing of the simulator: a message takes hops x latency + bytes / bandwidth (GB of 2^30 B), cut to whole ns; a
collective is a ring of one chunk in the order of the group; messages do not contend. The simulation runs on the same network as a
flat graph, with flits of 512 B, so that heads weigh nothing. Prints the ns of each and the least and largest difference of a rank.
"""
import argparse
import collections
import heapq
import itertools
import json
import os
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

    def graph(self):
        """As a file of Espalier. Rates are rounded to sixteenths of a GB/s, so that they have a common tick."""
        switches, links, stride = [], [], 1
        link = lambda a, b, rate, latency: links.append(
            f"  - {{between: [{a}, {b}], latency: {latency:g}ns, bandwidth: {round(rate * 2**30 / 1e9 * 16) / 16:g}GB/s}}")
        for d, (shape, size, rate, latency) in enumerate(self.dimensions):
            for base in (r for r in range(self.ranks) if r // stride % size == 0):
                group = [base + k * stride for k in range(size)]
                if shape == "Switch":
                    switches.append(f"s{d}_{base}")
                    for member in group:
                        link(f"n{member}", switches[-1], rate, latency)
                elif shape == "Ring":
                    for k in range(size if size > 2 else 1):
                        link(f"n{group[k]}", f"n{group[(k + 1) % size]}", rate, latency)
                else:
                    for a, b in itertools.combinations(group, 2):
                        link(f"n{a}", f"n{b}", rate, latency)
            stride *= size
        nodes = ", ".join(f"n{r}" for r in range(self.ranks))
        return f"nodes: [{nodes}]\nswitches: [{', '.join(switches)}]\nlinks:\n" + "\n".join(links) + "\n"


class Replay:
    def __init__(self, work, groups, network):
        self.work, self.groups, self.network = work, groups, network
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

    def collective(self, r, i, node):
        ring = self.groups[node["group"]]
        size, me = len(ring), ring.index(r)
        index = self.ranks[r]["posted"][node["group"]]
        self.ranks[r]["posted"][node["group"]] += 1
        parts = {"all_reduce": 2 * (size - 1), "all_to_all": size * (size - 1) // 2}.get(node["op"], size - 1)
        part = node["bytes"] if node["op"] == "all_gather" else node["bytes"] // size
        meeting = self.meetings[node["group"], index]
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
                self.at(self.now, lambda: self.ended(r, i))

        mine["go"] = go
        self.at(self.now, go)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("espalier")
    parser.add_argument("prefix")
    parser.add_argument("network")
    parser.add_argument("--groups")
    parser.add_argument("--tflops", type=int)
    parser.add_argument("--memory", type=int, default=3350, help="GB/s")
    parser.add_argument("--algorithm", default="ring")
    parser.add_argument("--issue", default="lowest_id")
    parser.add_argument("--set", action="append", default=[], help="key=value for espalier")
    options = parser.parse_args()
    network = Network(options.network)
    groups = {"0": list(range(network.ranks))}
    file = options.groups or options.prefix + ".json"
    if os.path.exists(file):
        groups.update(json.load(open(file)))
    try:
        work = [read_trace(f"{options.prefix}.{r}.et", options.tflops, options.memory) for r in range(network.ranks)]
        expected = Replay(work, groups, network).run()
    except (KeyError, ValueError):  # no such node, group or attribute
        expected = [None] * network.ranks
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "graph.yaml"), "w").write(network.graph())
        compute = f"tflops: {options.tflops}, memory: {options.memory}GB/s" if options.tflops else "tflops: recorded"
        named = f", groups: {os.path.abspath(options.groups)}" if options.groups else ""
        config = os.path.join(folder, "step.yaml")
        open(config, "w").write(
            "system:\n  topology: {type: file, file: graph.yaml}\n  router: {flit_bytes: 512, pipeline_cycles: 1}\n"
            "  flow_control: {payload_bytes: 65536, sub_message_bytes: 65536}\n  ni: {lockstep: off}\n"
            f"collective: {{algorithm: {options.algorithm}}}\n"
            f"workload: {{file: {os.path.abspath(options.prefix)}{named}, issue: {options.issue}, compute: {{{compute}}}}}\n")
        arguments = [options.espalier, "run", config, "--json", "-", "-q"] + [a for s in options.set for a in ("-s", s)]
        run = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    name = os.path.basename(options.prefix) + " " + os.path.basename(options.network)
    unfinished = expected.count(None)
    if not run.stdout or not json.loads(run.stdout)["results"][0]["verified"]:
        why = json.loads(run.stdout)["results"][0]["failure"] if run.stdout else run.stderr
        print(f"{name}: refused, {unfinished} of {len(expected)} ranks never end in the replay: {why.strip()[:400]}")
        return 0 if unfinished else 1
    result = json.loads(run.stdout)["results"][0]
    ends = result["step"]["rank_end_ns"]
    differences = [end / theirs - 1 if theirs else end for end, theirs in zip(ends, expected) if theirs is not None]
    known = [e for e in expected if e is not None]
    print(f"{name}: {max(ends):.0f} ns, replay {max(known, default=0)} ns, ranks {min(differences, default=0):+.2%} to "
          f"{max(differences, default=0):+.2%}, {unfinished} ranks never end in the replay, {result['host']['engine_cpu_s']:.2f} s of CPU time")
    return 0


if __name__ == "__main__":
    sys.exit(main())
