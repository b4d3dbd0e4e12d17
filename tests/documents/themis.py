"""docs/reproduction.md, Themis but for training."""
from claims import Page, only, select

SYSTEMS = ("2d_sw_sw", "3d_sw_sw_sw_homo", "3d_sw_sw_sw_hetero", "3d_fc_ring_sw", "4d_ring_sw_sw_sw", "4d_ring_fc_ring_sw")
MB = 1000000


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def fig8(program, series):
    rows = select(program.figure("themis_fig8"), series=series)
    if len(rows) != 24:
        raise RuntimeError(f"{len(rows)} points of {series}, expected 24")
    return rows


def utilization(program, series):
    return 100 * mean(row["utilization"] for row in fig8(program, series))


def speed_ups(program, series):
    return [base["time_ns"] / row["time_ns"] for base, row in zip(fig8(program, "baseline"), fig8(program, series))]


def with_rules(program, *rules):
    """Mean utilization of Themis on the points of Fig. 8 under other rules of the queues."""
    return 100 * mean(result["utilization"] for system in SYSTEMS for result in program.results(
        "run", f"configs/themis/{system}.yaml", "collective.algorithm=themis", "collective.size=[100MB, 250MB, 500MB, 1GB]", *rules))


def claims(program):
    page = Page("docs/reproduction.md")
    page.given("| Themis (ISCA 2022) |")
    page.given("| Fig. 7, orders of the four chunks |")  # unit: dimension_plan_test
    page.given("| Fig. 7, loads at the end of the reduce-scatter |")

    def fig5(series, order):
        return only(program.figure("themis_fig5"), series=series, queue_order=order)["y"]

    page.claim("| 8, 7 units | {:.3f}, {:.3f} |", lambda: (fig5("baseline", "fifo"), fig5("Themis", "scf")))
    page.claim("With FIFO Themis gains nothing ({:.0f} units), and SCF makes the baseline worse ({:.0f}).",
               lambda: (fig5("Themis", "fifo"), fig5("baseline", "scf")))
    page.claim("| 56.31 % | {:.1f} % |", lambda: utilization(program, "baseline"))
    page.claim("| 87.67 % | {:.1f} % |", lambda: utilization(program, "Themis+FIFO"))
    page.claim("| 95.14 % | {:.1f} % |", lambda: utilization(program, "Themis+SCF"))
    page.claim("| 1.58x, 1.72x | {:.2f}x, {:.2f}x |", lambda: (mean(speed_ups(program, "Themis+FIFO")), mean(speed_ups(program, "Themis+SCF"))))
    page.claim("| 2.70x | {:.2f}x |", lambda: max(speed_ups(program, "Themis+SCF")))

    def homo(field):
        return only(program.figure("themis_fig8"), series="baseline", panel="3D-SW_SW_SW_homo 16x8x8", size_bytes=1000 * MB)[field]

    page.claim("| 50, 6.25 | {:.1f}, {:.2f} (utilization {:.1f} %) |", lambda: (
        800 * homo("dimensions.dim2.utilization") / homo("dimensions.dim1.utilization"),
        800 * homo("dimensions.dim3.utilization") / homo("dimensions.dim1.utilization"), 100 * homo("utilization")))

    def fig10(series, chunks):
        return only(program.figure("themis_fig10"), series=series, x=chunks)["y"]

    page.claim("| 43.13 to 87.81 % | {:.1f} to {:.1f} % |", lambda: (fig10("Themis+FIFO", 4), fig10("Themis+FIFO", 512)))
    page.claim("| 48.58 to 91.18 % | {:.1f} to {:.1f} % |", lambda: (fig10("Themis+SCF", 4), fig10("Themis+SCF", 512)))
    page.claim("With `-s system.ni.dimension_queue.ties=oldest` SCF has {:.1f} %.", lambda: with_rules(program, "system.ni.dimension_queue.ties=oldest"))
    page.claim("With `-s system.ni.dimension_queue.in_flight=8`, without the rule for small chunks, FIFO and SCF have {:.1f} and {:.1f} %.", lambda: (
        with_rules(program, "system.ni.dimension_queue.in_flight=8", "system.ni.dimension_queue.order=fifo"),
        with_rules(program, "system.ni.dimension_queue.in_flight=8")))

    def provisioned(series, bandwidth):
        rows = select(program.figure("themis_provisioning"), series=series)
        return only(rows, x=bandwidth)["y"]

    page.claim("baseline uses {:.0f}, {:.0f} and {:.1f} % with 1.6, 3.1 and 6.25 GB/s. With 100 GB/s baseline uses {:.0f} % and Themis+SCF {:.0f} %. "
               "With just enough bandwidth Themis falls to {:.0f} %", lambda: (
                   provisioned("baseline", 1.5625), provisioned("baseline", 3.125), provisioned("baseline", 6.25), provisioned("baseline", 100),
                   provisioned("Themis+SCF", 100), provisioned("Themis+SCF", 6.25)))
    return [page]
