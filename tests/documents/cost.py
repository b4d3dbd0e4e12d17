"""docs/cost.md: what `espalier area` prints of the default system, of readiness tables and of dimension queues."""
import json
import re
from math import floor, log10

from claims import Page


def claims(program):
    page = Page("docs/cost.md")

    def areas(*arguments):
        return [system["area"] for system in json.loads(program.printed("area", *arguments, "--json", "-"))["systems"]]

    def default():
        (area,) = areas("configs/torus_8x8.yaml", "--node", "45nm")
        return area

    def themis(order):
        """The system's two orders of queues: fifo comes first."""
        return areas("configs/themis/2d_sw_sw.yaml", "--node", "45nm")[order == "scf"]

    def implied(kind, order=0):
        config = "configs/themis/2d_sw_sw.yaml" if kind == "arbitration" else "configs/torus_8x8.yaml"
        systems = json.loads(program.printed("area", config, "--node", "45nm", "--json", "-"))["systems"]
        return systems[order][f"implied_{kind}_cycles"]

    def gates(um2):
        """In NAND2 of the library."""
        return um2 / float(re.search(r"nangate45 .*NAND2 ([\d.]+) um2", program.printed("list", "technologies")).group(1))

    def tables():
        """Readiness tables by units, and the example's schedule table."""
        found = [block(area, "ni.readiness_table") for area in areas("configs/coordination/coordinator.yaml")[1:]]
        return {int(table["words"]): table for table in found if table}

    def row(units):
        table, schedule = tables()[units], block(default(), "ni.schedule_table")
        return (f"{table['bits']:.0f}", f"{gates(table['um2']):.0f}", digits(table["um2"]), digits(table["um2"] / schedule["um2_high"]),
                digits(table["um2"] / schedule["um2"]), f"{table['fo4']:.0f}", f"{table['ps']:.0f}", digits(table["pj_read_or_use"]))

    def both():
        return default()["router_um2"] + default()["ni_um2"]

    def raised():
        extension, table = default()["ni_extension_um2"], tables()[161]["um2"]
        return f"{100 * table / both():.2f}", digits(extension), digits(extension + table)

    page.claim("the extension (schedule table, control, dependency state, DMA engines) is {:.1f} % of router and NI. The {} FP32 adders that reduction "
               "at full rate needs are more than twice as large; with them it is {:.1f} %.", lambda: (
                   100 * default()["ni_extension_share"], block(default(), "ni.adders")["count"], 100 * default()["ni_extension_and_adders_share"]))
    page.claim("are more than twice as large; with them", lambda: default()["ni_adders_um2"] > 2 * default()["ni_extension_um2"])
    page.claim("cover a link of 150 ns and are {:.0f} % of router and NI", lambda: 100 * block(default(), "router.buffers")["um2"] / both())
    page.claim("1 GHz implies {} cycles at 45 nm. The other blocks permit {:.2f} GHz with the default pipeline", lambda: (
        implied("reduction"), default()["max_clock_without_adders_GHz"]))
    page.claim("has 64x6 bits: 3900 GE as flip-flops by the formulas below, against {} GE for the queue that compares", lambda: digits(
        gates(block(themis("scf"), "ni.dim1.dimension_queue")["um2"])))

    for units, name in ((161, "tensors"), (5, "groups")):
        page.claim(f"| {units} {name} | {units}x{{}} | {{}} | {{}} | {{}} to {{}} | {{}} | {{}} | {{}} |", lambda u=units: row(u))
    page.claim("the table of all tensors would be {} % of router and NI, and would raise the extension from {} to {} µm²", raised)
    page.claim("the schedule table is {} to {} µm², smaller than the readiness table", lambda: [
        digits(block(areas("configs/coordination/coordinator.yaml")[1], "ni.schedule_table")[key]) for key in ("um2", "um2_high")])

    page.claim("FP32 adders limit the clock to {:.2f} GHz at 45 nm ({} cycles suffice for 1 GHz), and with `arbitration_cycles: 1` the choice "
               "among 64 chunks to {:.2f} GHz", lambda: (limit(default(), "ni.adders"), implied("reduction"), limit(themis("scf"), "ni.dimension_queue")))
    page.claim("a choice of the smallest of 64 chunks takes {} cycles and a FIFO takes {}.", lambda: (implied("arbitration", 1), implied("arbitration", 0)))
    return [page]


def block(area, name):
    return next((block for block in area["blocks"] if block["block"] == name), None)


def limit(area, name):
    if area["clock_limited_by"] != name:
        raise RuntimeError(f"{area['clock_limited_by']} limits the clock, expected {name}")
    return area["max_clock_GHz"]


def digits(value):
    """Two significant digits, as `espalier area` prints them."""
    places = 1 - floor(log10(value))
    return f"{round(value, places):.{max(places, 0)}f}"
