"""docs/data_center.md: RING all-reduces on 64 nodes, in random orders and in the best one."""
import json
import re

from claims import Page


def claims(program):
    page = Page("docs/data_center.md")
    page.claim("| `fabric_64.yaml`, 16 racks | {:.0f} ms | {:.0f}, {:.0f}, {:.0f}, {:.0f} ms | {:.1f} to {:.1f} |",
               lambda: orders(program, "configs/reorder/fabric_64.yaml"))

    for key in ("aggregations_per_pod", "aggregation_uplinks", "cores", "placement_seed", "ecmp_seed"):
        page.claim(f"| `{key}` | {{}} |", lambda k=key: program.default(f"system.topology.{k}"))
    page.claim("| `pods`, `racks_per_pod`, `hosts_per_rack` | {} pod |", lambda: program.default("system.topology.pods"))
    for key in ("flows", "seed"):
        page.claim(f"| `{key}` | {{}} |", lambda k=key: program.default(f"tenants.{k}"))
    for key, text in (("message", "`message` | {} KiB"), ("rate", "`rate` | {} GB/s"), ("on_time", "`on_time`, `off_time` | {} ms")):
        page.claim(f"| {text} |", lambda k=key: re.match(r"\d+", program.default(f"tenants.{k}")).group(0))
    return [page]


def orders(program, config):
    """Times of the best order and of four random ones in ms, and the least and the largest random one over the best."""
    best = json.loads(program.printed("reorder", config, "--json", "-"))["result"]["simulated"]["best"]["time_ns"] / 1e6
    random = [r["time_ns"] / 1e6 for r in program.results("run", config, "collective.rank_order=random", "collective.rank_order_seed=[1, 2, 3, 4]")]
    return best, *random, min(random) / best, max(random) / best
