"""docs/better-schedules.md: for which sizes the programs are the fastest. Certifying the programs takes minutes."""
from claims import Page

KIB = (1, 2, 4, 8, 16, 32, 64)
OTHERS = ("forest", "multitree", "direct", "halving_doubling")


def claims(program):
    page = Page("docs/better-schedules.md")
    torus = ("window", "rs_window_ag", "swing_latency", "swing_bandwidth", "multitree_translated", *OTHERS)
    page.claim("| `window` | tori | every node sums a window of its ring that grows on both sides | up to {} KiB |",
               lambda: sizes_of_fastest(program, "torus", torus, "window")[-1])
    page.claim("`window` in the others, all-gather | {} to {} KiB |", lambda: ends(sizes_of_fastest(program, "torus", torus, "rs_window_ag")))
    page.claim("running sums go both ways along every line | up to {} KiB |",
               lambda: sizes_of_fastest(program, "mesh", ("line", *OTHERS), "line")[-1])
    return [page]


def sizes_of_fastest(program, network, algorithms, wanted):
    """The sizes of KIB for which an algorithm takes the fewest cycles."""
    sizes = ",".join(f"{size}KiB" for size in KIB)
    cycles = {name: [result["cycles"] for result in program.results(
        "run", f"configs/{network}_8x8.yaml", "system.flow_control.mode=message", f"collective.algorithm={name}", f"collective.size=[{sizes}]",
        *(("collective.segments=4",) if name == "multitree_translated" else ()))] for name in algorithms}
    return [size for at, size in enumerate(KIB) if min(cycles, key=lambda name: cycles[name][at]) == wanted]


def ends(sizes):
    return sizes[0], sizes[-1]
