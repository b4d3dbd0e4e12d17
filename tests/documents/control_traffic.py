"""docs/control_traffic.md: control messages beside gradients of 1 MiB. control_traffic_large.py has larger gradients."""
from claims import Page

RATES = ("0.001", "0.01", "0.05", "0.1")


def claims(program):
    page = Page("docs/control_traffic.md")

    def cell(rate, vcs):
        return of(beside(program, rate, vcs))

    def alone():
        return program.result("run", "configs/torus_8x8.yaml", "collective.algorithm=multitree", "system.flow_control.mode=message",
                              "collective.size=1MiB")

    page.claim("which keeps {:.0f} % of all link cycles busy", lambda: 100 * alone()["link_utilization_mean"])
    page.claim("The longest route, 8 hops, takes {} cycles on an idle network", lambda: idle(program, "0.01")["control"]["latency_p99_cycles"])
    page.claim("all-reduce, cycles: without {}; own; shared", lambda: alone()["cycles"])
    for rate in RATES:
        page.claim(f"| {rate} | {{:.0f}}, {{}}, {{}} | {{:.0f}}, {{}}, {{}} | {{:.0f}}, {{}}, {{}} | {{}}; {{}} |", lambda r=rate: (
            *of(idle(program, r)), *cell(r, "own"), *cell(r, "shared"), *(beside(program, r, vcs)["cycles"] for vcs in ("own", "shared"))))
    for algorithm, mode in (("ring", "packet"), ("ring", "message"), ("multitree", "packet")):
        page.claim(f"| {algorithm.upper()}, {mode}s | {{:.0f}}, {{}}, {{}} | {{:.0f}}, {{}}, {{}} |", lambda a=algorithm, m=mode: tuple(
            number for vcs in ("own", "shared")
            for number in of(beside(program, "0.01", vcs, f"collective.algorithm={a}", f"system.flow_control.mode={m}"))))
    page.claim("The all-reduce loses the link cycles that control takes ({:.1f} %)",
               lambda: 100 * (beside(program, "0.01", "own")["cycles"] / alone()["cycles"] - 1))
    page.claim("At 0.1 control takes {:.0f} % of all links on average", lambda: links_taken(idle(program, "0.1")))
    return [page]


def idle(program, rate):
    return program.result("run", "configs/control_idle.yaml", f"control.injection_rate={rate}")


def beside(program, rate, vcs, *settings, size="1MiB"):
    results = program.results("run", "configs/control_beside_gradients.yaml", f"collective.size={size}", f"control.injection_rate={rate}", *settings)
    return next(result for result in results if result["control"]["vcs"] == vcs)


def of(result):
    return tuple(result["control"][f"latency_{key}_cycles"] for key in ("mean", "p99", "max"))


def links_taken(result):
    """In percent: flits of a 16 B message are two, one of their hops is the ejection, and 256 links carry the others for 40000 cycles."""
    return 100 * (result["flit_hops"] - 2 * result["control"]["messages"]) / (256 * 40000)
