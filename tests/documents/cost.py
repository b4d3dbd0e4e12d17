"""docs/cost.md: the headline, which is what `espalier area` prints of the default system."""
import json

from claims import Page


def claims(program):
    page = Page("docs/cost.md")

    def system():
        return json.loads(program.printed("area", "configs/torus_8x8.yaml", "collective.algorithm=multitree", "--node", "45nm", "--json", "-"))["systems"][0]

    def area():
        return system()["area"]

    def block(name):
        return next(block for block in area()["blocks"] if block["block"] == name)

    page.claim("the extension (schedule table, control, dependency state, DMA engines) is {:.1f} % of router and NI. The {} FP32 adders that reduction "
               "at full rate needs are more than twice as large; with them it is {:.1f} %.", lambda: (
                   100 * area()["ni_extension_share"], block("ni.adders")["count"], 100 * area()["ni_extension_and_adders_share"]))
    page.claim("are more than twice as large; with them", lambda: area()["ni_adders_um2"] > 2 * area()["ni_extension_um2"])
    page.claim("cover a link of 150 ns and are {:.0f} % of router and NI", lambda: (
        100 * block("router.buffers")["um2"] / (area()["router_um2"] + area()["ni_um2"])))
    page.claim("1 GHz takes {} cycles at 45 nm, and {} for the router", lambda: (area()["reduction_cycles"], area()["pipeline_cycles"]))
    return [page]
