"""docs/reproduction.md, Cloud Collectives: the orders that a search finds for 64 VMs. To
simulate 500 random orders, or 512 VMs, takes too long for a test."""
import re
import shutil
import sys

from claims import Page


def claims(program):
    page = Page("docs/reproduction.md")

    def study(algorithms, priced):
        """What tests/perf/reorder.py prints, by algorithm and objective. The spread orders depend on how many random orders are priced."""
        folder = f"{program.folder.name}/orders_{algorithms.replace(',', '_')}"
        text = program.call([sys.executable, "tests/perf/reorder.py", program.path, "configs/reorder/fabric_64.yaml", folder,
                             "--algorithms", algorithms, "--random", priced, "--simulated", 2])
        shutil.rmtree(folder, ignore_errors=True)
        found = {}
        for line in text.splitlines():
            words = dict(part.split(" ", 1) for part in re.split(r"  +", f"algorithm {line}" if not line.startswith("algorithm") else line) if " " in part)
            algorithm, objective = line.split()[:2]
            found[algorithm, objective] = {k: float(v) for k, v in words.items() if re.fullmatch(r"-?[\d.e+-]+", v)}
        return found

    def ring():
        return study("ring", 500)["ring", "sum"]

    def others(objective):
        return [study("halving_doubling,dbtree,bcube", 100)[name, objective] for name in ("halving_doubling", "dbtree", "bcube")]

    page.claim("| ring, best against worst order, 64 VMs | up to 3.7x | {:.1f}x ({:.0f} and {:.0f} ms) |",
               lambda: (ring()["worst_over_best"], ring()["best_ms"], ring()["worst_ms"]))
    page.claim("| less | {:.1f}x, {:.1f}x, {:.1f}x |", lambda: tuple(r["worst_over_best"] for r in others("sum")))
    page.claim("| the same by load | | {:.1f}x, {:.1f}x, {:.1f}x |", lambda: tuple(r["worst_over_best"] for r in others("load")))
    page.claim("| 0.58 to 0.94 | {:.2f} |", lambda: ring()["spearman_spread"])
    page.claim("| Spearman: halving-doubling, double tree, BCube, by load | | {:.2f}, {:.2f}, {:.2f} |", lambda: tuple(r["spearman_spread"] for r in others("load")))
    page.claim("| the same by the published sums | | {:.2f}, {:.2f}, {:.2f} |", lambda: tuple(r["spearman_spread"] for r in others("sum")))
    page.claim("| best order found: by load against by sums | | {:.0f} and {:.0f}, {:.0f} and {:.0f}, {:.0f} and {:.0f} ms |", lambda: tuple(
        r["best_ms"] for pair in zip(others("load"), others("sum")) for r in pair))
    page.by_hand("| ring, random orders of 64 VMs: the same |")
    page.by_hand("| ring, best against random orders, 64 VMs |")
    page.by_hand("| the same, best against mean random order |")
    page.by_hand("| ring, random orders of 512 VMs: least, mean, most, deviation |")
    page.by_hand("| ring, best against worst order, 512 VMs |")
    page.by_hand("| ring, best against random orders, 512 VMs |")
    page.by_hand("| time of the search |")
    page.by_hand("| AlexNet, end to end, ring (batches of 64, no overlap) |")
    page.claim("| MULTITREE on the same fabric | | {:.0f} ms of 64 VMs, 507 ms of 512 |", lambda: program.result(
        "run", "configs/reorder/fabric_64.yaml", "collective.algorithm=multitree")["time_ns"] / 1e6)
    return [page]
