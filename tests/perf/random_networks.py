#!/usr/bin/env python3
"""`forest` on random networks against the proven bound: a report, never a gate.

random_networks.py BUILD [--kind KIND ...] [--screen SIZE] [COUNT] [FIRST_SEED] [OPERATION ...] draws connected networks of 3 to 20 nodes (`graph`, graphs with `one-way`
links, nodes behind switches: `switched`; unequal rates), simulates 1 GB on each, certified and with real data, two at a time, and prints those below 95 %
of the bound, then the least and the median share. A seed gives the same network always; of COUNT seeds, only those of the kinds that are asked for run.
Switches store messages (docs/bounds.md, "Links of different rates at switches"), except with --default-router.

--screen SIZE runs many networks in little time: a network that reaches 97 % with SIZE is simulated with 1 GB only if its seed is a multiple of 20, all
others always are. Small data reach less, because the latency counts more.
"""
import argparse
import math
import random
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from one_run import RunFailed, one_run

RATES = (10, 12.5, 20, 25, 40, 50, 75, 100)  # GB/s
OPERATIONS = ("all_gather", "reduce_scatter", "all_reduce")
KINDS = ("graph", "one-way", "switched")
TARGET = 0.95
SIZE = "1GB"
GOOD_SCREEN = 0.97
SAMPLED = 20  # of so many seeds, one runs with SIZE after any screen
STORING_ROUTER = ("vcs: 16", "vc_order: rotating", "crossbar_inputs: vc")


def connected_pairs(draw, names, extra):
    """A random tree over the names and `extra` more pairs."""
    pairs = [(names[i], names[draw.randrange(i)]) for i in range(1, len(names))]
    for _ in range(extra):
        pairs.append(tuple(draw.sample(names, 2)))
    return pairs


def network(seed):
    """Kind, number of nodes, graph file's text, GB/s of the fastest link."""
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    rates = draw.sample(RATES, draw.choice((1, 2, 2, 3)))
    nodes = [f"n{i}" for i in range(draw.randint(3, 20))]
    switches = []
    links = []  # (from, to, both ways)
    if kind == "graph":
        links = [(*p, True) for p in connected_pairs(draw, nodes, draw.randint(0, 2 * len(nodes)))]
    elif kind == "one-way":
        ring = draw.sample(nodes, len(nodes))
        links = [(a, b, False) for a, b in zip(ring, ring[1:] + ring[:1])]
        for _ in range(draw.randint(0, 2 * len(nodes))):
            links.append((*draw.sample(nodes, 2), draw.random() < 0.5))
    else:
        switches = [f"s{i}" for i in range(draw.randint(1, 6))]
        links = [(*p, True) for p in connected_pairs(draw, switches, draw.randint(0, len(switches)) if len(switches) > 1 else 0)]
        for n in nodes:
            for s in draw.sample(switches, min(len(switches), draw.choice((1, 1, 2)))):
                links.append((n, s, True))
        for _ in range(draw.choice((0, 0, len(nodes) // 2))):
            links.append((*draw.sample(nodes, 2), True))
    lines = [f"nodes: [{', '.join(nodes)}]"]
    if switches:
        lines.append(f"switches: [{', '.join(switches)}]")
    lines.append("links:")
    fastest = 0
    for a, b, both in links:
        rate = draw.choice(rates)
        fastest = max(fastest, rate)
        ends = f"between: [{a}, {b}]" if both else f"from: {a}, to: {b}"
        lines.append(f"  - {{{ends}, bandwidth: {rate}GB/s, latency: {draw.choice((200, 500))}ns}}")
    return kind, len(nodes), "\n".join(lines) + "\n", fastest


def run(espalier, seed, op, screen, router):
    """Name, share of the bound, and what else is to be said; share 0 if it does not run."""
    kind, nodes, text, fastest = network(seed)
    flit = max(16, math.ceil(fastest))  # a flit per cycle of 1 GHz; the default link has 16 GB/s
    name = f"seed {seed}, {op}, {kind}, {nodes} nodes"
    keys = router if kind == "switched" else ()

    def share(size):
        return one_run(espalier, folder, text, flit, op, "forest", size, router=keys)["bound_ratio"]

    with tempfile.TemporaryDirectory() as folder:
        try:
            if screen is not None:
                screened = share(screen)
                if screened >= GOOD_SCREEN and seed % SAMPLED != 0:
                    return name, screened, ""
            return name, share(SIZE), ""
        except RunFailed as failed:
            return name, 0.0, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("count", type=int, nargs="?", default=30)
    parser.add_argument("first", type=int, nargs="?", default=1)
    parser.add_argument("operations", nargs="*", default=OPERATIONS)
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--screen", metavar="SIZE")
    parser.add_argument("--default-router", action="store_true")
    args = parser.parse_intermixed_args()
    espalier = str(args.build / "espalier")
    seeds = [s for s in range(args.first, args.first + args.count) if network(s)[0] in (args.kind or KINDS)]
    router = () if args.default_router else STORING_ROUTER
    with ThreadPoolExecutor(2) as pool:
        for op in args.operations or OPERATIONS:
            results = list(pool.map(lambda seed: run(espalier, seed, op, args.screen, router), seeds))
            for name, share, why in results:
                if share < TARGET:
                    print(f"{100 * share:6.2f} %  {name} {why}", flush=True)
            shares = sorted(share for _, share, _ in results)
            below = sum(share < TARGET for share in shares)
            print(f"{op}: {len(shares)} networks, {below} below {100 * TARGET:.0f} %, least {100 * shares[0]:.2f} %, "
                  f"median {100 * shares[len(shares) // 2]:.2f} %", flush=True)


if __name__ == "__main__":
    main()
