"""docs/better-schedules.md: `auto` beside TE-CCL's solved all_gathers, which takes minutes."""
import functools
import sys

from claims import ROOT, Page

sys.path.insert(0, str(ROOT / "tests/perf"))
from one_run import one_run
from teccl import NETWORKS, PUBLISHED, TOLERANCE, least_us, published


def claims(program):
    page = Page("docs/better-schedules.md")

    @functools.lru_cache(None)
    def cases():
        """Of each case: network, bytes, our time by TE-CCL's, and whether TE-CCL's is below what this machine needs at least."""
        found = []
        for network, size, theirs in published("TE-CCL"):
            graph, flit = NETWORKS[network]
            ours = one_run(program.path, program.folder.name, PUBLISHED / "graphs" / graph, flit, "all_gather", "auto", f"{size}B",
                           vc_depth=5400)["time_ns"] / 1e3
            below = ours > TOLERANCE * theirs and theirs < least_us(program.path, program.folder.name, graph, flit, size)
            found.append((network, size, ours / theirs, below))
        return found

    def slower(below):
        return [(network, size, 100 * (ratio - 1)) for network, size, ratio, is_below in cases() if ratio > TOLERANCE and is_below == below]

    def largest(network):
        return max(size for name, size, _ in slower(True) if name == network) // 1000

    def percents(below):
        return [percent for _, _, percent in slower(below)]

    page.claim("TE-CCL's {} solved all_gathers", lambda: len(cases()))
    page.claim("| {} | faster |", lambda: sum(ratio < 1 for _, _, ratio, _ in cases()))
    page.claim("| {} | within 1 % |", lambda: sum(1 <= ratio <= TOLERANCE for _, _, ratio, _ in cases()))
    page.claim("| {}: DGX2 up to {} kB, NDv2 x 2 up to {} kB, NDv2 x 4 up to {} kB | {:.1f} to {:.1f} % slower;", lambda: (
        len(slower(True)), largest("DGX2 x 2"), largest("NDv2 x 2"), largest("NDv2 x 4"), min(percents(True)), max(percents(True))))
    page.claim("| {}: DGX2, {} kB | {:.1f} % slower |", lambda: (len(slower(False)), slower(False)[0][1] // 1000, percents(False)[0]))
    return [page]
