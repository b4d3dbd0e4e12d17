"""docs/reproduction.md, MultiTree but for Fig. 9."""
import re

from claims import Page, only

MIB = 1 << 20


def claims(program):
    return [cycles(program), tables(program), figures_10_and_11(program)]


def cycles(program):
    """The cycles of the authors' simulator beside ours."""
    page = Page("docs/reproduction.md")

    def row(topology, dims, algorithm, mode):
        return lambda: program.result("run", "configs/isca21_ring.yaml", f"system.topology.type={topology}", f"system.topology.dims={dims}",
                                      f"collective.algorithm={algorithm}", f"system.flow_control.mode={mode}")["cycles"]

    rows = (("RING, 4x4 torus | 143116", "torus", "[4,4]", "ring", "packet"),
            ("RING, 8x8 torus | 165628", "torus", "[8,8]", "ring", "packet"),
            ("2D-RING, 4x4 torus | 71882", "torus", "[4,4]", "2d_ring", "packet"),
            ("2D-RING, 8x8 torus | 121018", "torus", "[8,8]", "2d_ring", "packet"),
            ("2D-RING, 4x4 mesh | 140660", "mesh", "[4,4]", "2d_ring", "packet"),
            ("MULTITREE, 4x4 torus, packets | 70986", "torus", "[4,4]", "multitree", "packet"),
            ("MULTITREE, 4x4 torus, messages | 45743", "torus", "[4,4]", "multitree", "message"),
            ("MULTITREE, 8x8 torus, packets | 72952", "torus", "[8,8]", "multitree", "packet"),
            ("MULTITREE, 8x8 torus, messages | 55823", "torus", "[8,8]", "multitree", "message"),
            ("MULTITREE, 4x4 mesh, packets | 116841", "mesh", "[4,4]", "multitree", "packet"),
            ("MULTITREE, 4x4 mesh, messages | 100970", "mesh", "[4,4]", "multitree", "message"))
    for text, *point in rows:
        page.claim("| " + text + " | {} | predicted |", row(*point))
    networks = {"DGX-2 plane": (),
                "4x8 BiGraph": ("system.topology.type=bigraph", "system.topology.nodes_per_switch=4", "system.topology.switches=8"),
                "64-node fat-tree": ("system.topology.type=fat_tree", "system.topology.switches=8", "system.topology.spines=8")}
    for algorithm, network in (("MULTITREE", "DGX-2 plane"), ("MULTITREE", "4x8 BiGraph"), ("HDRM", "4x8 BiGraph"), ("MULTITREE", "64-node fat-tree")):
        page.claim(f"| {algorithm}, {network} | {{}}, {{}} |",
                   lambda a=algorithm, n=network: tuple(r["cycles"] for r in program.results(
                       "run", "configs/isca21_switched.yaml", f"collective.algorithm={a.lower()}", *networks[n])))
    page.claim("it takes {} cycles for 64 KiB on the DGX-2 plane, theirs 22516, {:.0f} cycles a step", lambda: own_order(program))
    return page


def own_order(program):
    result = program.result("run", "configs/isca21_authors_ring.yaml", "collective.size=64KiB")
    return result["cycles"], (result["cycles"] - 22516) / result["timesteps"]


def checked(program, topology, *settings):
    """Timesteps of both phases, most entries of a table and bits of an entry, as `espalier check` prints them."""
    text = program.printed("check", "configs/isca21_switched.yaml", "collective.algorithm=multitree", "system.flow_control.mode=message",
                           f"system.topology.type={topology}", *settings)
    steps = int(re.search(r"transfers in (\d+) steps", text).group(1))
    entries, bits = re.search(r"table entries (\d+) \(2N = \d+\) of (\d+) bits", text).groups()
    return steps, int(entries), int(bits)


def grid(program, topology, dims):
    text = program.printed("check", "configs/isca21_ring.yaml", "collective.algorithm=multitree", f"system.topology.type={topology}",
                           f"system.topology.dims={dims}")
    steps = int(re.search(r"transfers in (\d+) steps", text).group(1))
    entries, bits = re.search(r"table entries (\d+) \(2N = \d+\) of (\d+) bits", text).groups()
    return steps, int(entries), int(bits)


def tables(program):
    page = Page("docs/reproduction.md")
    page.given("| MultiTree (ISCA 2021) |")
    page.given("| Fig. 5, schedule tables of the 2x2 mesh | 20 entries | equal, except one cell |")  # unit: golden mesh_2x2_multitree.txt
    page.claim("| 5, 17, 8, 32 | {:.0f}, {:.0f}, {:.0f}, {:.0f}; 16x16 torus {:.0f} |", lambda: tuple(
        grid(program, *network)[0] / 2 for network in
        (("torus", "[4,4]"), ("torus", "[8,8]"), ("mesh", "[4,4]"), ("mesh", "[8,8]"), ("torus", "[16,16]"))))
    page.claim("| about 20 to 25 GB/s (axis of Fig. 9) | {:.1f} GB/s; bound {:.1f} GB/s |", lambda: bandwidth_8x8(program))
    page.claim("| 2N = 128 | 8x8 torus {}, fat-tree and 4x16 BiGraph {}, 8x8 mesh {} |", lambda: (
        grid(program, "torus", "[8,8]")[1], same_entries(program), grid(program, "mesh", "[8,8]")[1]))
    page.claim("| bits per entry, 64 nodes | 200 | {} |", lambda: grid(program, "torus", "[8,8]")[2])
    page.claim("| table, 128 entries | 3.2 KB | {:.1f} KB |", lambda: 128 * grid(program, "torus", "[8,8]")[2] / 8 / 1000)
    return page


def bandwidth_8x8(program):
    result = program.result("run", "configs/isca21_ring.yaml", "system.preset=papers", "system.topology.dims=[8,8]", "collective.size=16MiB",
                            "collective.algorithm=multitree", "system.flow_control.mode=message")
    return result["bandwidth_GBps"], result["size_bytes"] / result["bound_ns"]


def same_entries(program):
    fat_tree = checked(program, "fat_tree", "system.topology.switches=8", "system.topology.spines=8")[1]
    bigraph = checked(program, "bigraph", "system.topology.nodes_per_switch=4", "system.topology.switches=16")[1]
    return fat_tree if fat_tree == bigraph else f"{fat_tree} and {bigraph}"


def figures_10_and_11(program):
    page = Page("docs/reproduction.md")
    nodes = (16, 32, 64, 128, 256)

    def time(series, count):
        return only(program.figure("fig10"), series=series, nodes=count)["time_ns"]

    def gains(series, counts):
        return tuple(time(series, n) / time("MULTITREEMSG", n) for n in counts)

    page.claim("| 10, weak scaling | linear | {:.1f} (MULTITREEMSG) and {:.1f} (RING) times longer on 256 nodes than on 64 |",
               lambda: tuple(time(s, 256) / time(s, 64) for s in ("MULTITREEMSG", "RING")))
    page.claim("| 10, MULTITREEMSG over RING | 3x | {:.1f} (16 nodes), {:.1f}, {:.1f}, {:.1f}, {:.1f} (256) |", lambda: gains("RING", nodes))
    page.claim("| 10, MULTITREEMSG over 2D-RING | 1.4x | {:.2f}, {:.2f}, {:.2f} on square tori; {:.1f}, {:.1f} on 4x8 and 8x16 |",
               lambda: gains("2D-RING", (16, 64, 256, 32, 128)))

    def of(figure, network, series, field):
        panel = "time of an iteration"
        rows = [r for r in program.figure(figure) if r["panel"] == panel and r["series"] == series and r["network"] == network]
        return rows[0][f"training.{field}_ns"]

    networks = ("alexnet", "alphago_zero", "faster_rcnn", "googlenet", "ncf", "resnet50", "transformer")
    cnns = ("alphago_zero", "faster_rcnn", "googlenet", "resnet50")

    def gain(figure, network, series, field="iteration", ours="MULTITREE"):
        return of(figure, network, series, field) / of(figure, network, ours, field)

    def percent(figure, network, series):
        return 100 * (gain(figure, network, series) - 1)

    def mean(series, ours):
        return sum(gain("fig11a", n, series, "all_reduce", ours) for n in networks) / len(networks)

    page.claim("| 11a, all-reduce over RING, 2D-RING | 2.2x, 1.51x | {:.1f}x, {:.2f}x |", lambda: (mean("RING", "MULTITREE"), mean("2D-RING", "MULTITREE")))
    page.claim("| 11a, all-reduce by messages | 2.3x, 1.56x | {:.1f}x, {:.2f}x |", lambda: (mean("RING", "MULTITREEMSG"), mean("2D-RING", "MULTITREEMSG")))

    def share(network):
        return 100 * of("fig11a", network, "RING", "exposed") / of("fig11a", network, "RING", "iteration")

    page.claim("| 30 to 88 % of the time | {:.0f} % (AlphaGoZero) to {:.0f} % (AlexNet, Transformer); NCF {:.0f} % |",
               lambda: (share("alphago_zero"), share("alexnet"), share("ncf")))

    def span(figure, series):
        values = [percent(figure, n, series) for n in cnns]
        return min(values), max(values)

    page.claim("| up to 34 %, 15 % | {:.0f} to {:.0f} %, {:.0f} to {:.0f} % (without AlexNet) |", lambda: (*span("fig11a", "RING"), *span("fig11a", "2D-RING")))
    for name, network, paper in (("AlexNet", "alexnet", ""), ("NCF", "ncf", "81 %"), ("Transformer", "transformer", "30 %")):
        page.claim(f"| 11a, {name} | {paper} | {{:.0f}} %, {{:.0f}} % |",
                   lambda n=network: (percent("fig11a", n, "RING"), percent("fig11a", n, "2D-RING")))
    page.claim("| up to 10 %; 2D-RING alike | {:.0f} to {:.0f} % (ResNet50), AlexNet {:.0f} % |",
               lambda: (*span("fig11b", "RING"), percent("fig11b", "alexnet", "RING")))
    page.claim("| 11b, CNNs over 2D-RING | | at most {:.1f} % (AlexNet {:.0f} %) |",
               lambda: (span("fig11b", "2D-RING")[1], percent("fig11b", "alexnet", "2D-RING")))
    for name, network, paper in (("NCF", "ncf", "2x"), ("Transformer", "transformer", "1.37x")):
        page.claim(f"| 11b, {name} | {paper} | {{:.1f}}x, {{:.2f}}x |", lambda n=network: (gain("fig11b", n, "RING"), gain("fig11b", n, "2D-RING")))
    # ResNet50 with our computing and RING as here, and the paper's ratios of all-reduces.
    def with_the_papers_ratios(network):
        computing, ring = (of("fig11a", network, "RING", field) for field in ("compute", "exposed"))
        multitree = computing + ring / 2.2
        return 100 * ((computing + ring) / multitree - 1), 100 * ((computing + ring * 1.51 / 2.2) / multitree - 1)

    page.claim("ResNet50 would gain {:.0f} and {:.0f} %, which the paper prints (34, 15 %).", lambda: with_the_papers_ratios("resnet50"))
    page.claim("AlexNet and Transformer would gain {:.0f} and {:.0f} % over RING",
               lambda: (with_the_papers_ratios("alexnet")[0], with_the_papers_ratios("transformer")[0]))
    page.claim("2D-RING takes {:.0f} % longer than RING for 1 MiB on the 8x8 mesh", lambda: natural_order(program))
    page.given("| 11, DBTREE | worst | not in the standard set: `configs/figures/slow` |")
    return page


def natural_order(program):
    ring, ring_2d = program.results("run", "configs/mesh_8x8.yaml", "system.preset=papers", "collective.algorithm=[ring, 2d_ring]", "collective.line_order=natural",
                                    "system.flow_control.mode=packet")
    return 100 * (ring_2d["cycles"] / ring["cycles"] - 1)
