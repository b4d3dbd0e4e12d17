"""docs/latency.md: the excerpt of the curve, and the growth of the latency beside BookSim 2."""
import csv

from claims import Page, number, only

MESH = "configs/latency/mesh_8x8.yaml"


def claims(program):
    page = Page("docs/latency.md")

    def curve():
        return program.printed("latency", MESH)

    for load in ("0.0100", "0.4000"):
        page.quotes(load + " {} {} {} {} +- {} {} {} {} {} {} no", curve)
    page.quotes("saturates above {} flits per node and cycle", curve)
    for load, row in ((0.1, "0.10 | 0.7 | 0.6"), (0.2, "0.20 | 3.6 | 3.1"), (0.3, "0.30 | 10.1 | 9.0"), (0.35, "0.35 | 17.4 | 15.4"),
                      (0.4, "0.40 | 43.9 | 34.5")):
        page.claim(f"| {row} | {{:.1f}} |", lambda at=load: growth(program, at))
    page.claim("the growth at 0.35 is {:.1f} cycles", lambda: growth(program, 0.35, "system.router.vc_order=lowest"))
    page.claim("the growth is {:.1f} cycles", lambda: growth(program, 0.35, "system.router.vc_order=destination"))
    page.claim("by {:.1f} cycles up to 0.35", lambda: growth(program, 0.35, "system.router.hold=flit"))
    # What columns and keys mean.
    for row in ("| mean, ± |", "| p50, p95, p99 |", "| accepted min |", "| saturated |", "| `traffic.pattern` |"):
        page.given(row)
    return [page]


def growth(program, load, *settings):
    """Of the mean latency over that at load 0.05, in cycles."""
    text = program.printed("latency", MESH, "traffic.measure_cycles=30000", "--loads", "0.05,0.1,0.2,0.3,0.35,0.4", *settings, "--csv", "-")
    rows = [{key: number(value) for key, value in row.items()} for row in csv.DictReader(text.splitlines())]
    means = [only(rows, offered_flits_per_node_cycle=at)["message_latency_mean_cycles"] for at in (load, 0.05)]
    return means[0] - means[1]
