"""Themis' Figs. 4 and 12: docs/reproduction.md and docs/training.md."""
from claims import Page, select

WORKLOADS = {"ResNet-152": "resnet152", "GNMT": "gnmt", "DLRM": "dlrm", "Transformer-1T": "transformer_1t"}


def mean(values):
    values = list(values)
    return sum(values) / len(values)


class Fig12:
    """Rows of Fig. 12, one for each of the six systems. Computing may be multiplied: it hides no communication but a little of DLRM's."""

    def __init__(self, program, *settings):
        self.rows = lambda: program.figure("themis_fig12", *settings)

    def pairs(self, workload):
        baseline = [first for first in select_once(self.rows(), workload, "baseline")]
        themis = [first for first in select_once(self.rows(), workload, "Themis+SCF")]
        if len(baseline) != 6 or len(themis) != 6:
            raise RuntimeError(f"{len(baseline)} and {len(themis)} systems of {workload}, expected 6")
        return list(zip(baseline, themis))

    def gains(self, workload, factor=1.0):
        values = [time(b, factor) / time(t, factor) for b, t in self.pairs(workload)]
        return mean(values), max(values)

    def ideal(self, workload, factor=1.0):
        values = [time(b, factor) / time(b, factor, "iteration.ideal_total_ns") for b, _ in self.pairs(workload)]
        return mean(values), max(values)

    def exposed(self, ideal=False):
        return mean(b["iteration.exposed_ns"] / (b["iteration.ideal_exposed_ns"] if ideal else t["iteration.exposed_ns"])
                    for workload in WORKLOADS.values() for b, t in self.pairs(workload))

    def computing(self, workload):
        """Milliseconds an iteration."""
        return self.pairs(workload)[0][0]["iteration.compute_ns"] / 3e6


def select_once(rows, workload, series):
    """One row of each panel: figures of bars with parts have a row for each part."""
    by_panel = {}
    for row in select(rows, workload=workload, series=series):
        by_panel.setdefault(row["panel"], row)
    return by_panel.values()


def time(row, factor, field="time_ns"):
    return row[field] + (factor - 1) * row["iteration.compute_ns"]


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

    training = Page("docs/training.md")
    published = {"ResNet-152": ("1.49 (2.25)", "1.54 (2.34)"), "GNMT": ("1.30 (1.78)", "1.32 (1.81)"), "DLRM": ("1.30 (1.77)", "1.33"),
                 "Transformer-1T": ("1.25 (1.53)", "1.26 (1.54)")}
    for name, workload in WORKLOADS.items():
        gain, ideal = published[name]
        training.claim(f"| {name} | {{:.2f}} ({{:.2f}}) | {gain} | {{:.2f}} ({{:.2f}}) | {ideal} |", lambda w=workload: (*figure.gains(w), *figure.ideal(w)))
    training.claim("| exposed communication, Themis+SCF against baseline | {:.2f}x less | 1.65x less |", figure.exposed)
    training.claim("| exposed communication, ideal against baseline | {:.2f}x less | 1.72x less |", lambda: figure.exposed(ideal=True))
    training.claim("mean of the six systems | {:.1f}, {:.1f}, {:.1f} % | |", lambda: tuple(
        mean(u for _, w, u in coming() if w == workload) for workload in ("resnet152", "gnmt", "transformer_1t")))
    training.claim("| Fig. 4, mean of the three workloads | {:.1f} % | 59.7 % |", lambda: mean(u for _, _, u in coming()))
    training.claim("| Fig. 4, least | {:.1f} % | 35.1 % |", lambda: min(u for _, _, u in coming()))
    training.claim("| Fig. 4, current system | {:.1f} to {:.1f} % | 97.7 % |", current)
    for name, text, factor in (("ResNet-152", "{:.2f} ms", 0.035), ("GNMT", "{:.1f} ms", 0.34), ("DLRM", "{:.2f} ms", 1.45)):
        training.claim(f"| {name} | {text} | {factor} | {{:.2f}} ({{:.2f}}) | {{:.2f}} ({{:.2f}}) |", lambda w=WORKLOADS[name], f=factor: (
            figure.computing(w), *figure.gains(w, f), *figure.ideal(w, f)))
    training.claim("| Transformer-1T | {:.2f} s | 1.32 | {:.2f} ({:.2f}) | {:.2f} ({:.2f}) |", lambda: (
        figure.computing("transformer_1t") / 1000, *figure.gains("transformer_1t", 1.32), *figure.ideal("transformer_1t", 1.32)))
    training.claim("gives Transformer-1T {:.2f} ({:.2f}), ideal {:.2f} ({:.2f}), and DLRM {:.2f} ({:.2f}).", lambda: (
        *figure.gains("transformer_1t", 4 / 3), *figure.ideal("transformer_1t", 4 / 3), *figure.gains("dlrm", 4 / 3)))
    training.claim("With one picture per NPU ResNet-152 gains {:.2f} ({:.2f}), with two {:.2f} ({:.2f})", lambda: (
        *one.gains("resnet152"), *two.gains("resnet152")))
    return [page, training]
