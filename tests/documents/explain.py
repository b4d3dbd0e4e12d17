"""docs/explain.md: what `espalier explain` prints of a slow link and of a program."""
import re

from claims import Page


def claims(program):
    page = Page("docs/explain.md")

    def slow_link():
        return program.printed("explain", "configs/faults/slow_link.yaml", "system.ni.lockstep=off")

    def hierarchical():
        return program.printed("explain", "--all", "configs/programs/hierarchical.yaml", "collective.algorithm=gc3_hierarchical",
                               "collective.size=64KiB")

    page.quotes("multitree on mesh 8x8: {} cycles from the first issue (cycle {}) to the last delivery {} % of the time is decided by "
                "link r_3_3 -> r_4_3, which runs at {} GB/s (faults.slow_links) where most links run at {} GB/s.", slow_link)
    page.quotes("gc3_hierarchical on gpu_cluster 2x3x3: {} cycles from the host's call", hierarchical)
    page.quotes("{} {} % serialization {} {} % launch {} {} % link latency {} {} % ni queue {} {} % fence", hierarchical)
    page.quotes("{} launch at net.ni_n_2 launch {}", hierarchical)
    page.quotes("{} s of connection {} net.ni_n_2 -> net.ni_n_0, context {} step {}, pass {} fence {}; dma {}; ni queue behind s of connection {}",
                hierarchical)
    page.quotes("context {} step {}, pass {} on net.n_2.in_ni0 at net.ni_n_2 {};", hierarchical)
    page.quotes("{} s of connection {} net.ni_n_1 -> net.ni_n_4, context {} step {}, pass {} fence {}; dma {}; injection and ejection {}; "
                "router pipeline {}; serialization {}; link latency {}", hierarchical)
    page.claim("{} cycles there and, as whole sums, {} back", lambda: re.findall(
        r"(\d+) +[\d.]+ % +serialization on net\.nic_\d\.in_n\d", hierarchical()))
    return [page]
