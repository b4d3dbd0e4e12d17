"""docs/ni_ports.md: lockstep with both kinds of ports, and the authors' cycles beside ours."""
import csv
import re

from claims import ROOT, Page, only, select

# The authors' simulator counts so many cycles beyond the last data.
BEYOND = {"MULTITREE": 148, "2D-RING": 296, "RING": 148}


def claims(program):
    page = Page("docs/ni_ports.md")

    def cycles(lockstep, *settings):
        return program.result("run", "configs/isca21_authors.yaml", f"system.ni.lockstep={lockstep}", *settings)["cycles"]

    page.claim("| ports that are not bound to links, here | {} | {} |", lambda: (cycles("nop"), cycles("off")))
    page.claim("| ports bound to links, here | {} | {} |",
               lambda: tuple(cycles(mode, "system.ni.port_binding=link") for mode in ("nop", "off")))
    series = {("any", "off"): "any port, no lockstep", ("any", "nop"): "any port, lockstep",
              ("of the link", "off"): "port of the link, no lockstep", ("of the link", "nop"): "port of the link, lockstep"}
    networks = ("torus 4x4", "torus 8x8", "mesh 4x4", "mesh 8x8")
    for (ports, lockstep), name in series.items():
        page.claim(f"| {ports} | `{lockstep}` | {{:.0f}} | {{:.0f}} | {{:.0f}} | {{:.0f}} |",
                   lambda n=name: tuple(only(program.figure("lockstep_ports"), series=n, topology=t)["cycles"] for t in networks))
    for point, count in enumerate((1, 2, 4)):
        for ports in ("of the link", "any"):
            def costs(point=point, ports=ports):
                off, nop = (select(program.figure("port_area"), series=series[ports, lockstep])[point] for lockstep in ("off", "nop"))
                return off["area.ni_um2"], off["area.ni_extension_um2"], off["cycles"], nop["cycles"]
            page.claim(f"| {count} | {ports} | {{:.0f}} | {{:.0f}} | {{:.0f}} | {{:.0f}} |", costs)
    page.given("| the same, authors' simulator |")
    page.given("| the same, authors' simulator with both NIs bound |")

    def of_network(ports, lockstep, topology):
        return only(program.figure("lockstep_ports"), series=series[ports, lockstep], topology=topology)["cycles"]

    def with_lockstep(topology):
        """How much longer it takes, in percent."""
        off, nop = (of_network("any", lockstep, topology) for lockstep in ("off", "nop"))
        return 100 * (nop / off - 1)

    def binding(topology):
        """Speed of ports of links over the better of the other two."""
        return min(of_network("any", lockstep, topology) for lockstep in ("off", "nop")) / of_network("of the link", "off", topology)

    page.claim("With unbound ports lockstep gains {:.0f} % on the 4x4 mesh (the authors' simulator: {:.0f} %) and {:.0f} % on the 4x4 torus; on 64 nodes it "
               "loses {:.0f} % (torus) and {:.0f} % (mesh)", lambda: (
                   -with_lockstep("mesh 4x4"), 100 * (1 - 28538 / 32075), -with_lockstep("torus 4x4"), with_lockstep("torus 8x8"), with_lockstep("mesh 8x8")))
    page.claim("Ports of links are {:.1f} to {:.1f} times as fast as the better of the two", lambda: (
        min(map(binding, networks)), max(map(binding, networks))))

    def area(ports, point):
        return select(program.figure("port_area"), series=series[ports, "off"])[point]["area.ni_um2"]

    def binding_costs():
        return [100 * (area("of the link", point) / area("any", point) - 1) for point in range(3)]

    def two_against_four():
        two = select(program.figure("port_area"), series=series["of the link", "off"])[1]
        four = select(program.figure("port_area"), series=series["any", "off"])[2]
        return 100 * abs(two["cycles"] / four["cycles"] - 1)

    page.claim("Binding costs {:.0f} to {:.0f} % of the NI", lambda: (min(binding_costs()), max(binding_costs())))
    page.claim("two ports that are bound are within {:.0f} % of four that are not", two_against_four)

    def last_issue(node, lockstep):
        """In us: when the node's last message was ready. The clock has 1 GHz."""
        path = f"{program.folder.name}/messages_{lockstep}.csv"
        program.printed("run", "configs/isca21_authors.yaml", f"system.ni.lockstep={lockstep}", "-q", "--messages", path)
        with open(path, encoding="utf-8") as file:
            return max(int(row["ready"]) for row in csv.DictReader(file) if row["from"] == node) / 1000

    page.claim("`net.ni_0_0` has issued its last entry at {:.0f} us", lambda: last_issue("r_0_0", "off"))
    page.claim("and `net.ni_3_1` is done at {:.0f} us", lambda: last_issue("r_3_1", "nop"))

    def steps_of_authors():
        """Timesteps of a phase on both meshes, as the authors end them and as the paper does."""
        found = []
        for end in ("authors", "paper"):
            for dims in ("[4, 4]", "[8, 8]"):
                printed = program.printed("check", "configs/mesh_8x8.yaml", f"system.topology.dims={dims}", "collective.algorithm=multitree",
                                          f"collective.step_end={end}")
                found.append(int(re.search(r"transfers in (\d+) steps", printed).group(1)) // 2)
        return found

    page.claim("{} and {} timesteps on the 4x4 and 8x8 mesh instead of {} and {}", steps_of_authors)
    page.given("| `collective.phases` |")
    page.given("| `collective.line_order` |")

    # Rows like "| MULTITREE, 4x4 torus, packets, 256 KiB | 20775 | 19562 | 0.94 |"; "the same" repeats the row above.
    what = None
    for text, size, theirs in re.findall(r"^\| ([^|]*?), (\d+ [KM]iB) \| (\d+(?: to \d+)?) \| \d+ \| [\d.]+ \|$",
                                         (ROOT / page.name).read_text(encoding="utf-8"), re.MULTILINE):
        what = what if text == "the same" else text
        page.claim(f"| {text}, {size} | {theirs} | {{}} | {{:.2f}} |", lambda w=what, s=size, t=theirs: row(program, w, s, t))
    page.claim("the total is {} cycles ({:.2f} of the authors'),\nand {} to {} with the seeds 1 to 6", lambda: jittered(program))
    if len(page.claims) < 10:
        raise RuntimeError("docs/ni_ports.md has lost its table of the authors' cycles")
    return [page]


def total_of(program, what, size, *settings):
    """Our total in the authors' count."""
    algorithm, network, *mode = what.split(", ")
    dims, topology = network.split(" ")
    result = program.result("run", "configs/isca21_authors.yaml", "system.ni.lockstep=nop", f"collective.algorithm={algorithm.lower().replace('-', '_')}",
                            f"system.topology.type={topology}", f"system.topology.dims=[{dims.replace('x', ',')}]",
                            f"system.flow_control.mode={'message' if mode == ['messages'] else 'packet'}", f"collective.size={size.replace(' ', '')}",
                            *settings)
    return result["cycles"] + BEYOND[algorithm]


def jittered(program):
    totals = [total_of(program, "MULTITREE, 4x4 torus, packets", "1 MiB", "faults.dma_jitter.max_cycles=5", f"faults.dma_jitter.seed={seed}")
              for seed in range(1, 7)]
    return totals[0], totals[0] / 71134, min(totals), max(totals)


def row(program, what, size, theirs):
    """Our total, and its ratio to theirs, or to the nearest end of their range."""
    total = total_of(program, what, size)
    ends = [int(t) for t in theirs.split(" to ")]
    nearest = min(max(total, ends[0]), ends[-1])
    return total, total / nearest
