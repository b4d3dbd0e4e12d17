"""docs/reproduction.md, Horovod's control plane."""
from claims import Page, only, select


def claims(program):
    page = Page("docs/reproduction.md")

    def fig6(series, nodes, figure="horovod_fig6"):
        return only(program.figure(figure), panel="performance", series=series, nodes=nodes)

    def gain6(series, nodes, figure="horovod_fig6", field="training.samples_per_s"):
        return fig6(series, nodes, figure)[field] / fig6("coordinator", nodes, figure)[field]

    page.claim("| 1.64x | {:.2f}x; {:.2f}x at 3072, {:.2f}x at 1536 |", lambda: tuple(gain6("caching", n) for n in (6000, 3072, 1536)))
    page.claim("| Fig. 6: caching and grouping | 1.97x | {:.2f}x: **not reproduced** |", lambda: gain6("caching + grouping", 6000))
    page.claim("| Fig. 6, utilization over the coordinator's | 1.48x | {:.2f}x |", lambda: gain6("caching + grouping", 6000, field="training.efficiency"))
    page.claim("| Fig. 6, utilization with the coordinator | below 55 % at all scales | {:.1f} to {:.1f} % up to 1536 GPUs, {:.0f} % at 6000: **not reproduced** |",
               lambda: (*spread([100 * fig6("coordinator", n)["training.efficiency"] for n in (96, 192, 384, 768, 1536)]),
                        100 * fig6("coordinator", 6000)["training.efficiency"]))
    page.claim("gains only {:.1f} % over caching. All-reduces take {:.0f} ms of {:.1f} s here.", lambda: (
        100 * (gain6("caching + grouping", 6000) / gain6("caching", 6000) - 1), fig6("caching + grouping", 6000)["training.all_reduce_ns"] / 1e6,
        fig6("caching + grouping", 6000)["training.iteration_ns"] / 1e9))
    slow = "horovod_fig6_slow"
    page.claim("At 6000 GPUs caching then gains {:.2f}x and grouping {:.2f}x, with a utilization of {:.0f}, {:.0f}, {:.0f}, {:.0f} and {:.0f} % "
               "with the coordinator at 96, 384, 1536, 3072 and 6000 GPUs.", lambda: (
                   gain6("caching", 6000, slow), gain6("caching + grouping", 6000, slow),
                   *(100 * fig6("coordinator", n, slow)["training.efficiency"] for n in (96, 384, 1536, 3072, 6000))))
    page.claim("an all-reduce of no data would take {:.1f} ms at 6000 GPUs", lambda: empty_all_reduce(fig6, slow))

    def fig7(panel, series, nodes):
        return only(program.figure("horovod_fig7"), panel=panel, series=series, nodes=nodes)["training.samples_per_s"]

    def gain7(panel, nodes):
        return fig7(panel, "caching on", nodes) / fig7(panel, "caching off", nodes)

    page.claim("| 384 GPUs | between 384 ({:.2f}x NCCL, {:.2f}x MPI) and 768 |", lambda: (gain7("NCCL", 384), gain7("MPI", 384)))
    page.claim("| 2.5x, 1.6x | {:.2f}x |", lambda: gain7("NCCL", 768))
    page.claim("| 1.53x, 1.15x | {:.2f}x |", lambda: gain7("MPI", 768))

    def fig8(panel, series, groups, *settings):
        rows = select(program.figure("horovod_fig8", *settings), panel=panel, series=series)
        throughput = {row["x"]: row["y"] for row in rows}
        return 100 * (throughput[groups] / throughput[0] - 1)

    def on(panel, *groups):
        return lambda: tuple(fig8(panel, "caching on", g) for g in groups)

    page.claim("| +5 % (TensorFlow), less (PyTorch) | {:+.1f}, {:+.1f} % |", on("NCCL", 5, 10))
    page.claim("without the contention of computing, which was calibrated on Fig. 10 | | {:.1f}, {:.1f} % |", lambda: tuple(
        abs(fig8("NCCL", "caching on", g, "coordination.compute_contention=0")) for g in (5, 10)))
    page.claim("| marginal or negative | {:+.1f}, {:+.1f} % |", on("MPI", 5, 10))
    page.claim("| Fig. 8, 1 group: NCCL, MPI | worse | {:+.1f}, {:+.0f} % |", lambda: (*on("NCCL", 1)(), *on("MPI", 1)()))
    page.claim("| Fig. 8, 40 groups: NCCL, MPI | worse | {:+.1f}, {:+.1f} % |", lambda: (*on("NCCL", 40)(), *on("MPI", 40)()))
    page.claim("| a boost with PyTorch, none with TensorFlow | {:+.0f} % |", lambda: fig8("NCCL", "caching off", 5))
    page.claim("| broad | 2^{:.0f} to 2^{:.0f} B |", lambda: sizes(program, "no groups"))
    page.claim("| of the order of 10 MB | 5 groups: {:.0f} an iteration, 2^{:.0f} to 2^{:.0f} B |", lambda: (
        program.result("run", "configs/coordination/summit.yaml", "coordination.num_groups=5", "coordination.control_plane=closed_form",
                       "coordination.iterations=50")["training"]["all_reduces"], *sizes(program, "5 groups")))

    def fig9(series, field):
        rows = [r for r in program.figure("horovod_fig9") if r["series"] == series and r["coordination.mode"] == "cached"]
        return rows[0][f"training.{field}_ns"] / 1e6

    page.claim("| almost halved | {:.1f} to {:.1f} ms ({:.2f}) |", lambda: (
        fig9("no groups", "all_reduce"), fig9("5 groups", "all_reduce"), fig9("5 groups", "all_reduce") / fig9("no groups", "all_reduce")))
    page.claim("| Fig. 9, wait | up | {:.0f} to {:.0f} ms |", lambda: (fig9("no groups", "waiting"), fig9("5 groups", "waiting")))

    def fig10(series):
        return only(program.figure("horovod_fig10"), panel="scaling efficiency", series=series, nodes=1536)["training.efficiency"]

    page.claim("| 0.93 TensorFlow, 0.96 PyTorch | {:.3f} |", lambda: fig10("ResNet-50"))
    page.claim("| Fig. 10, EfficientNet-B0; VGG19 | (figure) | {:.3f}; {:.3f} |", lambda: (fig10("EfficientNet-B0"), fig10("VGG19")))

    def fig11(series, nodes):
        return only(program.figure("horovod_fig11"), series=series, nodes=nodes)["training.efficiency"]

    page.claim("| 0.93 | {:.3f}; flat, {:.3f} already at 96 |", lambda: (fig11("caching + grouping", 27600), fig11("caching + grouping", 96)))
    page.claim("| Fig. 11 with bits in the NIs | | {:.4f} of efficiency more |", lambda: fig11("in the NI", 27600) - fig11("caching + grouping", 27600))
    page.given("| Horovod's control plane (NSDI 2022) |")
    for row in ("| 7 us a step of NCCL's trees |", "| time of a request, 1.75 us |", "| computing at half speed while all-reduces run |", "| STEMDL's computing, 3.05 s |"):
        page.given(row)  # inputs of configs/coordination
    return [page]


def spread(values):
    return min(values), max(values)


def empty_all_reduce(fig6, slow):
    """Milliseconds: fused or in groups the same data are reduced, in another number of all-reduces."""
    many, few = fig6("caching", 6000, slow), fig6("caching + grouping", 6000, slow)
    return (many["training.all_reduce_ns"] - few["training.all_reduce_ns"]) / (many["training.all_reduces"] - few["training.all_reduces"]) / 1e6


def sizes(program, series):
    """The powers of two between which sizes of all-reduces lie: bins that hold some."""
    bins = [row["x"] for row in select(program.figure("horovod_fig2"), series=series) if row["y"] > 0]
    return min(bins) - 0.5, max(bins) + 0.5
