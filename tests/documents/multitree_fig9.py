"""docs/reproduction.md, MultiTree's Fig. 9. Trees that contend are simulated packet by packet, so this takes minutes."""
from claims import Page, only

KIB = 1 << 10
MIB = 1 << 20
PANELS = (("4x4 torus", "fig9a", "4x4 torus"), ("8x8 torus", "fig9a", "8x8 torus"), ("4x4 mesh", "fig9b", "4x4 mesh"),
          ("8x8 mesh", "fig9b", "8x8 mesh"), ("DGX-2 plane, 16", "fig9c", "16 nodes, one physical network of a DGX-2"),
          ("fat-tree, 64", "fig9c", "64 nodes, 8-ary 2-level fat-tree"), ("BiGraph 4x8", "fig9d", "32 nodes, 4x8 BiGraph"),
          ("BiGraph 4x16", "fig9d", "64 nodes, 4x16 BiGraph"))
DIRECT = PANELS[:4]
SWITCHED = PANELS[4:]


def claims(program):
    def row(place, series, size):
        return only(program.figure(place[1]), panel=place[2], series=series, size_bytes=size)

    def gain(place, series, size, over="MULTITREEMSG"):
        return row(place, series, size)["time_ns"] / row(place, over, size)["time_ns"]

    def sizes(place, series):
        return [r["size_bytes"] for r in program.figure(place[1]) if r["panel"] == place[2] and r["series"] == series]

    def span(place, series):
        gains = [gain(place, series, s) for s in sizes(place, series)]
        return [min(gains), max(gains)]

    def bandwidth(place, series):
        return row(place, series, 64 * MIB)["bandwidth_GBps"]

    page = Page("docs/reproduction.md")
    for place in PANELS:
        columns = ["RING", "2D-RING" if place in DIRECT else "", "DBTREE", "HDRM" if "BiGraph" in place[0] else "", "MULTITREE"]
        page.claim(f"| {place[0]} |" + "".join(" {:.2f} to {:.2f} |" if c else " |" for c in columns) + " {:.2f} |",
                   lambda p=place, c=columns: (*(v for series in c if series for v in span(p, series)), gain(p, "RING", 64 * MIB)))
    torus4, torus8, mesh4, mesh8 = DIRECT
    dgx2, fat_tree, bigraph8, bigraph16 = SWITCHED
    paper = ("DBTREE", "2D-RING", "RING")
    page.claim("| MULTITREE, MULTITREEMSG | the same among the paper's five algorithms |", lambda: all(
        gain(p, series, size, "MULTITREE") > 1 for p in DIRECT for series in paper for size in sizes(p, series)))
    page.claim("| worst at all sizes, by contention | worst at 128 KiB and above |", lambda: all(
        gain(p, "DBTREE", s, other) > 1 for p in DIRECT for other in ("RING", "2D-RING") for s in sizes(p, "DBTREE") if s >= 128 * KIB))
    page.claim("| 2D-RING against RING, tori and 4x4 mesh | above | above |", lambda: all(
        gain(p, "RING", s, "2D-RING") > 1 for p in (torus4, torus8, mesh4) for s in sizes(p, "RING")))
    page.claim("| {:.0f} % above at 64 MiB", lambda: 100 * (gain(mesh8, "RING", 64 * MIB, "2D-RING") - 1))
    page.claim("| within {:.1f} % of MULTITREE by packets at 64 MiB; {:.1f} to {:.1f} times slower at 32 KiB |", lambda: (
        0.1 * -(-1000 * max(abs(gain(p, "RING", 64 * MIB, "MULTITREE") - 1) for p in SWITCHED) // 1),
        min(gain(p, "RING", 32 * KIB, "MULTITREE") for p in SWITCHED), max(gain(p, "RING", 32 * KIB, "MULTITREE") for p in SWITCHED)))
    page.claim("| better than RING for small data | better up to 128 KiB, {:.0f} % worse at 256 KiB |", lambda: (
        100 * (gain(fat_tree, "DBTREE", 256 * KIB, "RING") - 1) if gain(fat_tree, "RING", 128 * KIB, "DBTREE") > 1 else -1))
    page.claim("| break-even farther left than for 64 nodes | {:.0f} % worse at 32 KiB, then farther behind |",
               lambda: 100 * (gain(dgx2, "DBTREE", 32 * KIB, "RING") - 1))
    page.claim("| worse | {:.1f} and {:.1f} times slower than MULTITREE by packets at 32 KiB |",
               lambda: (gain(bigraph8, "HDRM", 32 * KIB, "MULTITREE"), gain(bigraph16, "HDRM", 32 * KIB, "MULTITREE")))
    page.claim("| equal to MULTITREE by packets at 64 MiB ({:.2f}, {:.2f} GB/s) |", lambda: (bandwidth(bigraph8, "HDRM"), bandwidth(bigraph16, "HDRM")))
    page.claim("| gain of messages over packets, 64 MiB | 6 % | {:.1f} % (16 flits of 17) |",
               lambda: 100 * (gain(torus8, "MULTITREE", 64 * MIB) - 1))
    page.claim("| the same, 32 KiB | 6 % | {:.1f} to {:.1f} % |", lambda: (
        100 * (min(gain(p, "MULTITREE", 32 * KIB) for p in PANELS) - 1), 100 * (max(gain(p, "MULTITREE", 32 * KIB) for p in PANELS) - 1)))

    def bound(place, field="bound_ns"):
        return 64 * MIB / row(place, "MULTITREEMSG", 64 * MIB)[field]

    page.claim("| about 30 GB/s (end of axis) | {:.1f} GB/s; bound {:.1f} |", lambda: (bandwidth(torus4, "MULTITREEMSG"), bound(torus4)))
    page.claim("| torus 8x8 | 20 to 25 GB/s | {:.1f} GB/s; bound {:.1f} |", lambda: (bandwidth(torus8, "MULTITREEMSG"), bound(torus8)))
    page.claim("| 14, 12 GB/s | {:.1f}, {:.1f} GB/s; bounds of two phases {:.1f}, {:.1f} |", lambda: (
        bandwidth(mesh4, "MULTITREEMSG"), bandwidth(mesh8, "MULTITREEMSG"), bound(mesh4, "two_phase_bound_ns"), bound(mesh8, "two_phase_bound_ns")))
    page.claim("| switched networks | 10 GB/s | {:.1f} to {:.1f} GB/s |", lambda: (
        min(bandwidth(p, "MULTITREEMSG") for p in SWITCHED), max(bandwidth(p, "MULTITREEMSG") for p in SWITCHED)))
    page.claim("by {:.1f} % of the time on the 4x4 mesh and {:.1f} % on the 8x8 mesh, both by messages.", lambda: (
        both_by_messages(program, "[4,4]"), both_by_messages(program, "[8,8]")))
    page.claim("takes {:.0f} % less time on the 8x8 torus (16 steps instead of 17) and {:.0f} % less on the 4x4 torus", lambda: (
        100 * (1 - gain(torus8, "translated MULTITREEMSG", 64 * MIB)), 100 * (1 - gain(torus4, "translated MULTITREEMSG", 64 * MIB))))
    page.claim("At 64 MiB it has {:.1f} GB/s on the 4x4 torus and {:.1f} on the 8x8 torus", lambda: (bandwidth(torus4, "DBTREE"), bandwidth(torus8, "DBTREE")))
    page.claim("At 1 MiB on the 8x8 torus {:.0f} thousand packets found their link taken by a packet from elsewhere (`link_conflicts`), {:.0f} per message",
               lambda: (row(torus8, "DBTREE", MIB)["link_conflicts"] / 1000,
                        row(torus8, "DBTREE", MIB)["link_conflicts"] / row(torus8, "DBTREE", MIB)["messages"]))
    return [page]


def both_by_messages(program, dims):
    ring, multitree = program.results("run", "configs/mesh_8x8.yaml", "system.preset=papers", f"system.topology.dims={dims}", "system.flow_control.mode=message",
                                      "collective.algorithm=[bidirectional_ring, multitree]", "collective.size=64MiB")
    return 100 * (1 - ring["cycles"] / multitree["cycles"])
