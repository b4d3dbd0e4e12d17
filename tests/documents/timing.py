"""docs/timing.md: the closed forms of an idle link and of RING."""

from claims import Page


def claims(program):
    page = Page("docs/timing.md")

    def first_message(*more):
        """Cycles from the issue of a message to its visibility over one link, by what they are. A chunk is a head flit and one flit of payload."""
        run = program.result("explain", "configs/torus_8x8.yaml", "system.topology.dims=[4, 4]", "system.flow_control.mode=message",
                             "collective.algorithm=ring", "collective.size=256B", *more)
        cycles = {}
        for segment in run["explanation"]["path"][0]["segments"]:
            cycles[segment["kind"]] = cycles.get(segment["kind"], 0) + segment["cycles"]
        return cycles

    def zero_load(*more):
        """What is left of it without the message's two flits; the reduction comes later."""
        return sum(cycles for name, cycles in first_message(*more).items() if name != "reduction") - 2

    def implied(field):
        """Cycles that the default clock implies."""
        return program.result("run", "configs/torus_8x8.yaml", "system.topology.dims=[4, 4]", "system.flow_control.mode=message",
                              "collective.algorithm=ring", "collective.size=256B")["area"][field]

    def ring():
        """RING's constant on a 4x4 torus: 16 chunks of 64 KiB in packets of 256 B."""
        cycles = program.result("run", "configs/isca21_ring.yaml")["cycles"]
        flits, adding = 17 * 256, 16 * 32
        each, rest = divmod(cycles - 1, 15)
        if rest:
            raise RuntimeError(f"{cycles} cycles are not 15 equal parts and one")
        return each - 2 * flits - adding

    for name, key in (("DMA latency `d`", "system.ni.dma.latency_cycles"), ("injection `i`", "system.ni.injection_cycles"),
                      ("ejection `e`", "system.ni.ejection_cycles"),
                      ("delivery `v`", "system.ni.delivery_cycles"),
                      ("turnaround `t`", "system.ni.turnaround_cycles")):
        page.claim(f"| {name} | `{key}` | {{}} |", lambda k=key: program.default(k))
    page.claim("| pipeline `P` | `system.router.pipeline_cycles` | {} |", lambda: implied("pipeline_cycles"))
    page.claim("| reduction `r` | `system.ni.reduction.latency_cycles` | {} |", lambda: implied("reduction_cycles"))
    page.claim("| link `L` | `system.link.latency` | {} |", lambda: in_cycles(program))
    page.claim("With the defaults `F + {}`; from NI to NI a flit takes {}", lambda: (zero_load(), zero_load() + 1 - delivered()))
    page.claim("`(N-1)(2F + {} + A) + 1` cycles", ring)
    page.claim("Here P = 2, r = 1, and {} = 2 * {} + (r + 1) + 1", lambda: (ring(), zero_load("system.preset=papers")))
    return [page]


def in_cycles(program):
    """The default latency of a link at the default clock."""
    if program.default("system.router.clock") != "1GHz":
        raise RuntimeError("the default clock is not 1 GHz")
    return program.default("system.link.latency").removesuffix("ns")


def delivered():
    """d, the DMA engine, and v, the delivery to memory, are not between the NIs."""
    return 2 + 1
