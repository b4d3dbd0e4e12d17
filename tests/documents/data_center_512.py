"""docs/data_center.md and docs/reproduction.md: 512 nodes of a data centre, and five algorithms on 64. MULTITREE on 512 nodes takes minutes."""
from claims import Page
from data_center import orders


def claims(program):
    page = Page("docs/data_center.md")
    page.claim("| `fabric_512.yaml`, 128 racks | {:.0f} ms | {:.0f}, {:.0f}, {:.0f}, {:.0f} ms | {:.1f} to {:.1f} |",
               lambda: orders(program, "configs/reorder/fabric_512.yaml"))
    page.claim("| {:.0f} ms | {:.0f} ms | {:.0f} ms | {:.0f} ms | {:.0f} ms |", lambda: [r["time_ns"] / 1e6 for r in program.results(
        "run", "configs/reorder/fabric_64.yaml", "collective.algorithm=[ring, multitree, direct, dbtree, halving_doubling]")])

    def multitree():
        return program.result("run", "configs/reorder/fabric_512.yaml", "collective.algorithm=multitree")["time_ns"] / 1e6

    page.claim("MULTITREE on 512 nodes takes {:.0f} ms", multitree)
    reproduction = Page("docs/reproduction.md")
    reproduction.claim("ms of 64 VMs, {:.0f} ms of 512 |", multitree)
    return [page, reproduction]
