"""docs/reproduction.md, Themis' Figs. 4 and 12."""
from claims import Page, select

WORKLOADS = ("resnet152", "gnmt", "dlrm", "transformer_1t")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Fig12:
    """Rows of Fig. 12, one for each of the six systems."""

    def __init__(self, program, *settings):
        self.rows = lambda: program.figure("themis_fig12", *settings)

    def pairs(self, workload):
        baseline = [first for first in select_once(self.rows(), workload, "baseline")]
        themis = [first for first in select_once(self.rows(), workload, "Themis+SCF")]
        if len(baseline) != 6 or len(themis) != 6:
            raise RuntimeError(f"{len(baseline)} and {len(themis)} systems of {workload}, expected 6")
        return list(zip(baseline, themis))

    def gains(self, workload):
        values = [b["time_ns"] / t["time_ns"] for b, t in self.pairs(workload)]
        return mean(values), max(values)

    def exposed(self):
        return mean(b["iteration.exposed_ns"] / t["iteration.exposed_ns"] for workload in WORKLOADS for b, t in self.pairs(workload))


def select_once(rows, workload, series):
    """One row of each panel: figures of bars with parts have a row for each part."""
    by_panel = {}
    for row in select(rows, workload=workload, series=series):
        by_panel.setdefault(row["panel"], row)
    return by_panel.values()


def fig4(program, series_filter):
    return [(row["series"], row["workload"], 100 * row["utilization"]) for row in program.figure("themis_fig4") if series_filter(row["series"])]


def claims(program):
    figure = Fig12(program)
    one, two = (Fig12(program, "workload.name=resnet152", f"workload.mini_batch={n}") for n in (1, 2))

    def coming():
        return fig4(program, lambda s: s != "current")

    def current():
        values = [u for _, _, u in fig4(program, lambda s: s == "current")]
        return min(values), max(values)

    page = Page("docs/reproduction.md")
    page.claim("| 59.7, 35.1 % | {:.1f}, {:.1f} % |", lambda: (mean(u for _, _, u in coming()), min(u for _, _, u in coming())))
    page.claim("| Fig. 4, the current system | 97.7 % | {:.1f} to {:.1f} % |", current)
    page.claim("| 1.65x less | {:.2f}x less |", figure.exposed)
    for text, workload in (("ResNet-152 | 1.49 (2.25)", "resnet152"), ("GNMT | 1.30 (1.78)", "gnmt"), ("DLRM | 1.30 (1.77)", "dlrm"),
                           ("Transformer-1T | 1.25 (1.53)", "transformer_1t")):
        page.claim(text + " | {:.2f} ({:.2f}) |", lambda w=workload: figure.gains(w))
    page.claim("| ResNet-152 with one picture, two pictures per NPU | | {:.2f} ({:.2f}), {:.2f} ({:.2f}) |",
               lambda: (*one.gains("resnet152"), *two.gains("resnet152")))
    return [page]
