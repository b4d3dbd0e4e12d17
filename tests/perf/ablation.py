#!/usr/bin/env python3
"""What each part and each constant of `forest` and `a2a_paths` wins: a report, never a gate.

ablation.py edit FOLDER copies the sources to FOLDER. There, parts of the planners ask the environment whether they are switched off, and constants are
multiplied by a number from it. The product's own code has no such switch. Build the program in FOLDER as usual.

ablation.py test PROGRAM checks that every part is still in the sources and that PROGRAM plans.

ablation.py measure PROGRAM [--networks N] [--cases N] [--seconds S] [--parts TEXT] [--factors F ...] plans collectives with that program on fixed networks and on N random ones
of tests/perf/random_networks.py, with everything and without each part that the plan asked for. It prints for each class of networks the mean and the worst loss
of planned time, and how the time of planning changes. A network whose plan takes more than S seconds of a processor is left out. For constants, parts are
"NAME x F". A loss below 0 is a gain without the part: a planner's own forecast of a plan is not always exact.
"""
import argparse
import collections
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import planned
import random_networks

ROOT = Path(__file__).resolve().parents[2]
CONSTANT_FILES = ("alg/packing", "alg/generators/forest", "alg/generators/a2a_paths")
CONSTANT = re.compile(r"^( *)(?:static )?constexpr (double|int|std::\w+|Bytes) (k\w+) =\s*([^;]*);", re.M)
NOT_TUNED = re.compile(r"kNo|kNever|kNone|kUnknown|kPsPer|kPerSecond|kExact|kTied|kShortCut")
HEADER = r"""#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
namespace espalier {
inline bool ablated(const char* name) {  // and notes that the plan asked
  if (const char* path = std::getenv("ABLATION_NOTES")) {
    if (std::FILE* file = std::fopen(path, "a")) { std::fprintf(file, "%s\n", name); std::fclose(file); }
  }
  const char* off = std::getenv("ABLATION");
  return off != nullptr && std::strcmp(off, name) == 0;
}
template <class T> T tuned(const char* name, T value) {
  if (!ablated(name)) return value;
  const double factor = std::atof(std::getenv("ABLATION_FACTOR"));
  const double v = static_cast<double>(value);
  const double changed = v > 0.9 && v < 1.1 && v != 1 ? 1 + (v - 1) * factor : v * factor;
  return static_cast<T>(static_cast<T>(0.5) == 0 && changed < 1 ? 1 : changed);
}
}
#define OFF(name) ([] { static const bool off = espalier::ablated(name); return off; }())
#define TUNED(T, name, value) ([]() -> T { static const T v = espalier::tuned<T>(name, value); return v; }())
"""
FOREST = "alg/generators/forest.cpp"
SEGMENTS, LISTED, DIRECTED, TIMED, UNDIRECTED = ("alg/packing/" + name + ".cpp" for name in ("segment_search", "listed_segments", "directed_trees", "timed_trees", "undirected_rates"))
# Part, file, text that occurs once, and what stands before (or instead of) it where the part can be switched off; @ is the question.
PARTS = [
    ("shift_routes", FOREST, "return task.is_switched && !task.root; }", "return task.is_switched && !task.root && !@; }"),
    ("timed_trees", FOREST, "!task.root && task.request.relays.empty();", "!task.root && task.request.relays.empty() && !@;"),
    ("timed_trees busy", TIMED, "std::uint64_t best_ps = std::numeric_limits", "if (kind == TimedOrder::busy && @) continue; {}"),
    ("timed_trees balanced", TIMED, "std::uint64_t best_ps = std::numeric_limits", "if (kind == TimedOrder::balanced && @) continue; {}"),
    ("undirected_trees", FOREST, "return !task.is_switched && task.request.op", "return !@ && !task.is_switched && task.request.op"),
    ("low_undirected_trees", UNDIRECTED, "if (task.is_small(1)) {", "if (task.is_small(1) && !@) {"),
    ("more undirected trees", "alg/packing/undirected_rates.cpp", "if (count <= fewest) continue;", "if (count <= fewest || @) continue;"),
    ("undirected trees grow", "alg/packing/undirected_trees.cpp", "partition.grow(middle_nodes", "if (!@) {}"),
    ("rates capped at switches", DIRECTED, "for (const std::uint64_t cap : lower_rates", "if (!@) {}"),
    ("stored_plan", FOREST, "return task.is_switched && task.request.timing.stored", "if (task.is_switched && @) return false; {}"),
    ("stored_plan on equal links", FOREST, "return stores(task) && lower_rates", "return stores(task) && !@ && lower_rates"),
    ("roots of paths", DIRECTED, "if (!lost_rate || w - nodes", "if (!lost_rate || @ || w - nodes"),
    ("MultiTree's trees", FOREST, "unsuited_for_mirrored_trees(task.topology, \"forest\").empty();", "unsuited_for_mirrored_trees(task.topology, \"forest\").empty() && !@;"),
    ("low_trees", FOREST, "return task.is_small(task.is_switched", "return !@ && task.is_small(task.is_switched"),
    ("low_trees shortest", "alg/packing/low_trees.cpp", "TreeOps trees = task.no_trees(1);", "if (kind == LowTrees::shortest && @) continue; {}"),
    ("low_trees same height", "alg/packing/low_trees.cpp", "TreeOps trees = task.no_trees(1);", "if (kind == LowTrees::same_height && @) continue; {}"),
    ("one tree", DIRECTED, "if (counts_.back() != 1) counts_.push_back(1);", "if (counts_.back() != 1 && !@) counts_.push_back(1);"),
    ("fewer trees", DIRECTED, "fewer < best_count) {", "fewer < best_count && !@) {"),
    ("split again", DIRECTED, "return few && task_.is_switched", "return few && !@ && task_.is_switched"),
    ("fewest neighbours", DIRECTED, "if (!lost_rate || task_.is_near", "if (!lost_rate || @ || task_.is_near"),
    ("short paths first", DIRECTED, "if (short_paths_first && (!task_", "if (short_paths_first && (@ || !task_"),
    ("lower_trees", DIRECTED, "if (task_.is_switched != task_.root.has_value()) {", "if (task_.is_switched != task_.root.has_value() && !@) {"),
    ("time slot exchange", SEGMENTS, "if (is_exact && !hopeless) {", "if (is_exact && !hopeless && !@) {"),
    ("time slot exchange hopeless", SEGMENTS, "best_ && has_many_rows(p) >= has_many", "best_ && !@ && has_many_rows(p) >= has_many"),
    ("justify_sends", SEGMENTS, "if (shared && request_.timing.slot_counter", "if (shared && !@ && request_.timing.slot_counter"),
    ("list_plan", SEGMENTS, "return !request_.table_repeat && !shares_links(trees", "return !request_.table_repeat && !@ && !shares_links(trees"),
    ("one round", SEGMENTS, "if (listed && trees.ops", "if (listed && !@ && trees.ops"),
    ("fewer rounds", SEGMENTS, "if (is_exact && given == 0 && found", "if (is_exact && !@ && given == 0 && found"),
    ("leads", LISTED, "for (const std::uint32_t lead : kLeads) try_list", "for (const std::uint32_t lead : kLeads) if (lead == 1 || !@) try_list"),
    ("leads and 3/4, 3/2 of the segments", LISTED, "if (trees.ops.size() * found <= kManyListed", "if (!@ && trees.ops.size() * found <= kManyListed"),
    ("well_cut", LISTED, "std::uint32_t best = wanted;", "if (@) return wanted; {}"),
    ("fewer justified rounds", LISTED, "if (trees.ops.size() * first <= kManyJust", "if (!@ && trees.ops.size() * first <= kManyJust"),
    ("ejection", "alg/packing/path_time_slots.cpp", "if (looks_ > most_looks(ops_.size())) return false;", "if (@ || looks_ > most_looks(ops_.size())) return false;"),
    ("two time slots alternate", "alg/packing/path_time_slots.cpp", "if (crosses_one_switch(o) && move_chain", "if (!@ && crosses_one_switch(o) && move_chain"),
    ("aligned time slots", "alg/packing/round_plan.cpp", "if (std::all_of(ops_.begin(), ops_.end(), aligned)) return;", "if (!@ && std::all_of(ops_.begin(), ops_.end(), aligned)) return;"),
    ("held time slots first", "alg/packing/round_plan.cpp", "if (period != 0 && holds_any_) {", "if (period != 0 && holds_any_ && !@) {"),
    ("stretch kept", SEGMENTS, "if (p.rounds != 1) stretch =", "if (p.rounds != 1 && !@) stretch ="),
    ("switch split at once", "alg/packing/switch_removal.cpp", "const std::vector<std::int64_t> before =", "if (@) return false; {}"),
    ("apart first", "alg/packing/switch_removal.cpp", "if (apart_first) join_shares", "if (apart_first && !@) join_shares"),
    ("paths on grids", "alg/packing/balanced_paths.cpp", "if (!is_even_grid(topology) || (is", "if (!is_even_grid(topology) || @ || (is"),
    ("path search", "alg/packing/balanced_paths.cpp", "while (without_gain < kPatience && !", "while (without_gain < kPatience && !@ && !"),
    ("pieces", "alg/generators/a2a_paths.cpp", "if (given != 0) break;\n    }\n    if", "if (given != 0 || @) break;\n    }\n    if"),
    ("a2a rounds", "alg/generators/a2a_paths.cpp", "(given != 0 || !gains_by_rounds(p)", "(given != 0 || @ || !gains_by_rounds(p)"),
]
FIXED = {
    "switched suite": ({"type": "fat_tree", "nodes_per_switch": 4, "switches": 4, "spines": 4}, {"type": "fat_tree", "nodes_per_switch": 4, "switches": 4, "spines": 2},
                       {"type": "bigraph", "nodes_per_switch": 2, "switches": 4}, {"type": "dgx2", "nodes_per_switch": 4}, {"type": "switch", "nodes": 8},
                       {"type": "gpu_cluster", "servers": 2, "gpus_per_server": 4, "gpus_per_nic_group": 2, "nics_per_group": 2, "nic_link": {"bandwidth": "4GB/s"}},
                       {"type": "dragonfly", "nodes_per_switch": 2, "group_size": 2, "groups": 3},
                       {"type": "dragonfly", "nodes_per_switch": 1, "group_size": 4, "groups": 5}),
    "grid": ({"type": "torus", "dims": [4, 4]}, {"type": "mesh", "dims": [4, 4]}, {"type": "torus", "dims": [8, 8]}, {"type": "mesh", "dims": [8, 8]},
             {"type": "fully_connected", "nodes": 8}),
}
GRAPHS = {"configs/published/graphs/ndv2_2.yaml": 50, "configs/published/graphs/dgx2_2.yaml": 125, "configs/graphs/lab.yaml": 50, "configs/graphs/uneven_switches.yaml": 16}
CASES = (("all_gather", "64kB"), ("all_gather", "1MB"), ("all_gather", "16MB"), ("all_gather", "256MB"), ("all_reduce", "64kB"), ("all_reduce", "1MB"),
         ("all_reduce", "64MB"), ("broadcast", "1MB"), ("broadcast", "64MB"), ("all_to_all", "1MB"), ("all_to_all", "64MB"))


def edit(folder):
    subprocess.run(["git", "checkout-index", "-a", "-f", f"--prefix={folder.resolve()}/"], cwd=ROOT, check=True)
    texts = {}
    for part, file, old, new in PARTS:
        text = texts.setdefault(file, (ROOT / file).read_text())
        if old not in text:
            sys.exit(f"{part}: {file} has no line with: {old}")
        texts[file] = text.replace(old, new.replace("{}", old).replace("@", f'OFF("{part}")'), 1)
    for name in subprocess.run(["git", "ls-files", *(f + "*" for f in CONSTANT_FILES)], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split():
        if name.endswith((".cpp", ".h")):
            text = texts.get(name, (ROOT / name).read_text())
            found = [m for m in CONSTANT.finditer(text) if not NOT_TUNED.match(m[3])]
            macros = [f'#undef {m[3]}\n#define {m[3]} TUNED({m[2]}, "{m[3]} ({Path(name).stem})", ({" ".join(m[4].split())}))\n' for m in found]
            for m in found:
                text = text.replace(m[0], "")
            if found or name in texts:
                first = text.rindex("#include", 0, text.index("namespace espalier"))
                (folder / name).write_text(text[:first] + '#include "ablated.h"\n' + "".join(macros) + text[first:])
    (folder / "ablated.h").write_text(HEADER)


def two_boxes():
    """As two servers of eight A100: 50 GB/s to each of the six switches of a box, 25 GB/s to a switch between the boxes."""
    lines = [f"nodes: [{', '.join(f'n{i}' for i in range(16))}]", f"switches: [{', '.join(f's{i}' for i in range(12))}, far]", "links:"]
    for n in range(16):
        lines += [f"  - {{between: [n{n}, s{6 * (n // 8) + i}], bandwidth: 50GB/s, latency: 200ns}}" for i in range(6)]
        lines.append(f"  - {{between: [n{n}, far], bandwidth: 25GB/s, latency: 500ns}}")
    return "\n".join(lines) + "\n"


def cases(count, cases_of_each, folder):
    """Class of network, name, configuration."""
    def case(kind, name, topology, flit, router=None, ni=None):
        packet = 8 * flit
        system = {"topology": topology, "router": {"clock": "1GHz", "flit_bytes": flit, "vc_depth_flits": 1400, **(router or {})},
                  "flow_control": {"payload_bytes": packet, "sub_message_bytes": 8 * packet}, "ni": ni or {}}
        first = len(name) + sum(map(ord, name))
        for op, size in (CASES[(first + 4 * i) % len(CASES)] for i in range(cases_of_each)):
            algorithm = "a2a_paths" if op == "all_to_all" else "forest"
            yield kind, f"{name} {op} {size}", json.dumps({"system": system, "collective": {"op": op, "algorithm": algorithm, "size": size}})

    def of_file(kind, name, text, rate, **system):
        path = folder / (re.sub(r"\W+", "_", name) + ".yaml")
        path.write_text(text)
        yield from case(kind, name, {"type": "file", "file": str(path)}, max(16, math.ceil(rate)), **system)

    for kind, topologies in FIXED.items():
        for topology in topologies:
            yield from case(kind, " ".join(str(v) for v in topology.values()), topology, 16)
    for name, rate in GRAPHS.items():
        yield from of_file("switched suite", Path(name).stem, (ROOT / name).read_text(), rate)
    yield from of_file("switched suite", "two boxes of eight, six switches each", two_boxes(), 50)
    for name, (text, rate) in planned.NETWORKS.items():
        yield from of_file("planned.py", name, text, rate)
    for seed in range(1, count + 1):
        kind, _, text, rate = random_networks.network(seed)
        yield from of_file(kind, f"seed {seed}", text, rate)
        yield from of_file(f"{kind}, rows repeat", f"seed {seed} repeat", text, rate, ni={"table_repeat": True})
        if kind == "switched":
            yield from of_file("switched, storing", f"seed {seed} storing", text, rate, router={"vcs": 16, "vc_order": "rotating", "crossbar_inputs": "vc"})
            yield from of_file("switched, no time slots", f"seed {seed} no time slots", text, rate, ni={"slot_counter": False})


def plan(program, config, seconds, notes=None, off="", factor=0.0):
    """Planned time in ns and the CPU seconds of planning; nothing if it takes longer or there is no plan."""
    environment = {**os.environ, "ABLATION": off, "ABLATION_FACTOR": str(factor)}
    if notes:
        environment["ABLATION_NOTES"] = str(notes)
    limit = f"ulimit -t {math.ceil(seconds)}; exec \"$0\" worker"
    task = {"plan": True, "explain": False, "schedule": "", "choices": "", "rank_order": [], "messages": "", "number": 0}
    with subprocess.Popen(["bash", "-c", limit, program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as worker:
        worker.stdin.write(json.dumps({"config": config, "folder": "/", "files": [], "task": task}))
        worker.stdin.close()
        report = worker.stdout.read()
        _, status, usage = os.wait4(worker.pid, 0)
        worker.returncode = os.waitstatus_to_exitcode(status)
    if worker.returncode != 0:
        return None
    return json.loads(report.splitlines()[-1])["report"]["result"]["planned_ns"], usage.ru_utime


def measure(args):
    losses = collections.defaultdict(lambda: collections.defaultdict(list))  # part, class: loss, name
    spent = collections.defaultdict(lambda: [0.0, 0.0])
    counts = collections.Counter()
    done = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(args.jobs) as pool:
        folder = Path(temporary)

        def run(case):
            kind, name, config = case
            notes = folder / f"notes_{re.sub(r'[^0-9a-z]+', '_', name)}_{kind[:8]}"
            base = plan(args.program, config, args.seconds, notes)
            found = []
            asked = sorted(set(notes.read_text().splitlines())) if base else []
            for part in asked:
                if args.parts and not re.search(args.parts, part):
                    continue
                for factor in args.factors if part.startswith("k") else (0,):
                    off = plan(args.program, config, 4 * args.seconds, None, part, factor)
                    found.append((f"{part} x {factor}" if factor else part, off))
            return kind, name, base, found

        everything = [case for case in cases(args.networks, args.cases, folder) if re.search(args.classes, case[0])]
        for kind, name, base, found in pool.map(run, everything):
            counts[kind] += 1
            if base is None:
                print(f"left out: {kind}, {name}", file=sys.stderr)
                continue
            done[kind] += 1
            if args.log:
                with open(args.log, "a") as log:
                    print(json.dumps([kind, name, base, found]), file=log)
            for part, off in found:
                losses[part][kind].append((off[0] / base[0] - 1 if off else math.inf, name))
                spent[part][0] += base[1]
                spent[part][1] += off[1] if off else 4 * args.seconds
    print("cases planned: " + ", ".join(f"{kind} {done[kind]} of {counts[kind]}" for kind in counts))
    for part in sorted(losses, key=lambda p: -max(sum(min(l, 1) for l, _ in found) / done[kind] for kind, found in losses[p].items())):
        before, after = spent[part]
        print(f"{part}: planning takes {100 * (after / before - 1):+.0f} %")
        for kind, found in losses[part].items():
            worst, name = max(found)
            least, _ = min(found)
            mean = sum(min(l, 1) for l, _ in found) / done[kind]
            if max(abs(worst), abs(least)) > 1e-6:
                print(f"    {kind:18} asked {len(found):4}, mean {100 * mean:6.2f} %, worst {100 * worst:7.2f} % ({name}), least {100 * least:6.2f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=("edit", "measure", "test"))
    parser.add_argument("path")
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--cases", type=int, default=len(CASES), help="operations and sizes of each network")
    parser.add_argument("--log", help="a file for every single result, as JSON lines")
    parser.add_argument("--classes", default="", help="a regular expression")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--parts", help="a regular expression")
    parser.add_argument("--factors", type=float, nargs="*", default=(4, 0.25))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.step == "edit":
        edit(Path(args.path))
    elif args.step == "test":
        with tempfile.TemporaryDirectory() as folder:
            edit(Path(folder))
            _, name, config = next(case for case in cases(0, 1, Path(folder)) if case[0] == "grid")
            if plan(str(Path(args.path).resolve()), config, 10) is None:
                sys.exit(f"{args.path} worker plans no {name}")
    else:
        args.program = str(Path(args.path).resolve())
        measure(args)


if __name__ == "__main__":
    main()
