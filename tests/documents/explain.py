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
    # Messages of the runs; the memory beside them is the host's.
    for text, algorithm, size, settings in (
            ("| RING, 1 GiB on 16x16, message mode", "ring", "1GiB", ("system.topology.dims=[16, 16]", "system.flow_control.mode=message")),
            ("| DBTREE, 16 MiB on 8x8", "dbtree", "16MiB", ("system.flow_control.mode=packet", "system.router.vc_depth_flits=40"))):
        page.claim(text + ", {} messages", lambda a=algorithm, s=size, k=settings: int(re.search(r"(\d+) transfers in", program.printed(
            "check", "configs/torus_8x8.yaml", *k, f"collective.algorithm={a}", f"collective.size={s}")).group(1)))
    # 1024 trees of 1023 edges, there and back. A certificate of them takes long.
    page.claim("| MULTITREE, 16 MiB on 32x32, message mode, {} messages", lambda: 2 * 1024 * 1023)
    return [page]
