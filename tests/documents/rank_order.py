"""docs/rank_order.md: the example, the correlation of printed with corrected models, and the bounds of 512 nodes. cloud.py has the objectives."""
import json
import re
import sys

from claims import ROOT, Page

sys.path.insert(0, str(ROOT / "tests/perf"))
from reorder import spearman

EXAMPLE = "configs/reorder/four_racks.yaml"
TORUS = ("configs/torus_8x8.yaml", "system.topology.dims=[4,4]", "collective.algorithm=ring", "system.flow_control.mode=packet")


def claims(program):
    page = Page("docs/rank_order.md")
    page.claim("takes {:.1f} us with the nodes as they stand,\nand {:.1f} us with the order found",
               lambda: tuple(result["time_ns"] / 1000 for result in program.results("run", EXAMPLE)))
    page.quotes("order of the run {} {} {} best {} {} {} gain {} x {} x The model predicts {} x against the order of the run, the simulation {} x.",
                lambda: program.printed("reorder", EXAMPLE, "collective.rank_order=identity"))
    page.claim("gains {:.2f} x over nodes in number order", lambda: gain_over_numbers(program))
    for model, text in (("halving_doubling", "{:.2f} to {:.2f} (halving_doubling)"), ("bcube", "{:.2f} to {:.2f} (bcube)"),
                        ("dbtree", "{:.2f} to {:.2f} (dbtree)")):
        page.claim(text, lambda m=model: printed_with_corrected(program, m))
    page.claim("| ring, sum | {:.2f}e6 | {:.2f}e6 | {:.1f}e6 | {:.1f}e6 |", lambda: bounds(program, 1e6))
    page.claim("| ring, max | {:.2f}e4 | {:.2f}e4 | {:.2f}e4 | {:.2f}e4 |", lambda: bounds(program, 1e4, "reorder.objective=max"))
    page.claim("| halving_doubling, bcube (base 2) | {:.2f}e6 | {:.2f}e6 | {:.1f}e6 | {:.1f}e6 |", lambda: halving_and_bcube(program))
    page.claim("| dbtree | {:.1f}e6 | {:.1f}e6 | {:.1f}e6 | {:.1f}e6 |", lambda: bounds(program, 1e6, "reorder.model=dbtree"))
    for key in ("seed", "random_orders", "exact_nodes"):
        page.claim(f"| `reorder.{key}` | {{}} |", lambda k=key: program.default(f"reorder.{k}"))
    page.claim("| `reorder.evaluations` | {} {} {} |", lambda: f"{program.default('reorder.evaluations'):,}".split(","))
    page.claim("| `reorder.window` | {} KiB |", lambda: program.default("reorder.window").removesuffix("KiB"))
    page.claim("| `reorder.probes`, `.payload`, `.percentile` | {}, {} B, {} |", lambda: (
        program.default("reorder.probes"), program.default("reorder.payload").removesuffix("B"), program.default("reorder.percentile")))
    # Formulas, and what keys mean.
    for row in ("| a file's path |", "| `ring`, `bidirectional_ring` | rank r", "| `2d_ring`, `hdrm` |", "| `reorder.z3_rlimit` |", "| ring | sum, or max,",
                "| halving_doubling | sum over rounds", "| bcube | sum over digits", "| halving_doubling | j and j + 2^i", "| dbtree | children",
                "| ring, sum | 1-tree", "| halving_doubling, bcube | k rounds"):
        page.given(row)
    return [page]


def reordered(program, *arguments):
    return json.loads(program.printed("reorder", *arguments, "--no-simulate", "--json", "-"))["result"]


def gain_over_numbers(program):
    result = reordered(program, *TORUS)
    return result["identity"] / result["best"]["cost"]


def latencies(program, nodes, rack, pod, seed):
    """The file that the document's script writes."""
    script = re.search(r"```python\n(.*?)```", (ROOT / "docs/rank_order.md").read_text(encoding="utf-8"), re.DOTALL).group(1)
    path = f"{program.folder.name}/latency_{nodes}_{seed}.csv"
    script = script.replace("= 512, 8, 64, 1\n", f"= {nodes}, {rack}, {pod}, {seed}\n").replace('f"latency_{nodes}.csv"', repr(path))
    program.call([sys.executable, "-c", script])
    return path


def printed_with_corrected(program, model):
    """The least and the most correlation over the seeds."""
    def costs(form, seed):
        return reordered(program, "configs/reorder/fabric_64.yaml", "--latency", latencies(program, 64, 4, 16, seed), f"reorder.model={model}",
                         f"reorder.form={form}", "reorder.random_orders=1000", "reorder.evaluations=1000")["random"]["costs"]

    found = [spearman(costs("as_printed", seed), costs("corrected", seed)) for seed in (1, 2, 3)]
    return min(found), max(found)


def bounds(program, unit, *settings):
    result = reordered(program, "configs/reorder/fabric_512.yaml", "--latency", latencies(program, 512, 8, 64, 1), "reorder.evaluations=2000000",
                       *settings)
    return tuple(cost / unit for cost in (result["best"]["cost"], result["bound"], result["random"]["mean"], result["worst"]["cost"]))


def halving_and_bcube(program):
    models = (("reorder.model=halving_doubling",), ("collective.algorithm=bcube", "collective.base=2"))
    costs = [bounds(program, 1e6, *settings) for settings in models]
    if [f"{cost:.2f}" for cost in costs[0]] != [f"{cost:.2f}" for cost in costs[1]]:
        raise RuntimeError(f"halving_doubling and bcube differ: {costs}")
    return costs[0]
