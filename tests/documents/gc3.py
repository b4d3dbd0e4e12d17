"""GC3's Fig. 7: docs/reproduction.md and docs/gc3_figures.md."""
from claims import Page, select

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
SERVERS_16 = "7e, 16 servers"


def claims(program):
    page = Page("docs/reproduction.md")

    def curve(figure, series, panel=None):
        name = "slow/gc3_fig7e_16servers" if figure == SERVERS_16 else f"gc3_fig{figure}"
        rows = [r for r in select(program.figure(name), series=series) if panel in (None, r["panel"])]
        return {row["x"]: row["y"] for row in rows}

    def over(figure, ours, other, panel=None):
        a, b = curve(figure, ours, panel), curve(figure, other, panel)
        return {size: a[size] / b[size] for size in a if size in b}

    page.given("| GC3 (MSCCLang) |")
    page.claim("| up to 1.8x, 1 KB to 1 MB | {:.2f}x at 1 KiB, {:.2f} at 64 KiB, {:.2f} at 512 KiB |",
               lambda: tuple(curve("7a", "GC3 all-pairs", "small")[s * KIB] for s in (1, 64, 512)))
    page.claim("| **not reproduced**: {:.2f} to {:.2f}x up to 2 MiB |", lambda: span(curve("7a", "GC3 ring", "small").values()))
    page.claim("| 7a, ring from 32 MiB on | equal | {:.2f} to {:.2f}x |",
               lambda: span(v for s, v in curve("7a", "GC3 ring", "large").items() if s >= 32 * MIB))
    page.claim('| "similar" | {:.2f}x at 1 KiB, {:.2f} at 512 KiB |', lambda: tuple(curve("7b", "GC3 all-pairs", "small")[s * KIB] for s in (1, 512)))
    page.claim('| 7b: ring | "similar" | {:.2f} to {:.2f}x up to 2 MiB |', lambda: span(curve("7b", "GC3 ring", "small").values()))
    page.claim("| up to 1.4x | {:.2f}x at 1 KiB, {:.2f} at 256 KiB |", lambda: tuple(curve("7c", "GC3 hierarchical", "small")[s * KIB] for s in (1, 256)))
    page.claim("| up to +11 % above 1 GB | {:.2f}, {:.2f}x at 256 MiB and 1 GiB; {:.2f}, {:.2f}x at 16, 64 MiB |",
               lambda: tuple(curve("7c", "GC3 hierarchical", "large")[s * MIB] for s in (256, 1024, 16, 64)))
    page.claim("| much slower than both | {:.2f} to {:.2f} of NCCL; {:.2f} to {:.2f} of GC3 |", lambda: (
        *span([*curve("7c", "composed of calls", "small").values(), *curve("7c", "composed of calls", "large").values()]),
        *span([*over("7c", "composed of calls", "GC3 hierarchical", "small").values(), *over("7c", "composed of calls", "GC3 hierarchical", "large").values()])))
    page.claim('| 7d, 2 servers of 16 V100 | "similar" | {:.2f}x at 1 KiB; below NCCL from {:.0f} MiB on |', lambda: (
        curve("7d", "GC3 hierarchical", "small")[KIB], first_below(curve("7d", "GC3 hierarchical", "large"))))
    page.claim("| 7e, two-step over hand-written | up to 1.3x | {:.2f} to {:.2f}x |", lambda: span(curve("7e", "GC3 two-step").values()))
    page.claim("| 7e, NCCL over hand-written | below, ahead above 512 MB | ahead from {:.0f} KiB to {:.0f} MiB |",
               lambda: ahead(curve("7e", "NCCL (direct)")))
    page.claim('| 7f, 4 servers of 16 V100: GC3 | "similar" | {:.2f} to {:.2f}x |', lambda: span(curve("7f", "GC3 two-step").values()))
    page.claim('| 7f: NCCL over hand-written | "similar" | {:.2f} to {:.2f}x |', lambda: span(curve("7f", "NCCL (direct)").values()))
    page.claim("| slower | {:.2f} (r = 12) to {:.2f} (r = 1) at 1 KiB; all pass 1 by {:.0f} KiB |", lambda: (
        curve("7g", "AllToNext r=12")[KIB], curve("7g", "AllToNext r=1")[KIB],
        min(s for s in curve("7g", "AllToNext r=1") if all(curve("7g", f"AllToNext r={r}")[s] > 1 for r in (1, 2, 4, 8, 12))) / KIB))
    page.claim("| up to 14.5x | {:.1f}x at 256 MiB with r = 12 |", lambda: curve("7g", "AllToNext r=12")[256 * MIB])
    page.claim("| r = 1 is best at 1 and 4 KiB, r = 12 from 64 MiB on |", lambda: (
        all(best(curve, "7g", s * KIB) == 1 for s in (1, 4)) and all(best(curve, "7g", s * MIB) == 12 for s in (64, 256))))
    page.claim('| "similar" | {:.2f} to {:.2f} at 1 KiB; {:.1f}, {:.1f}x at 16 and 64 MiB with r = 4 |', lambda: (
        *span(curve("7h", f"AllToNext r={r}")[KIB] for r in (1, 2, 4)), *(curve("7h", "AllToNext r=4")[s * MIB] for s in (16, 64))))
    return [page, details(curve, over)]


def details(curve, over):
    page = Page("docs/gc3_figures.md")

    def at(figure, series, panel, *sizes):
        return tuple(curve(figure, series, panel)[size] for size in sizes)

    def pair(template, series, size, panel="small"):
        page.claim(template, lambda: (*at("7a", series, panel, size), *at("7b", series, panel, size)))

    page.claim("| ring, 64 MiB and 256 MiB | 1.0 | {:.2f}, {:.2f} | {:.2f}, {:.2f} |", lambda: (
        *at("7a", "GC3 ring", "large", 64 * MIB, 256 * MIB), *at("7b", "GC3 ring", "large", 64 * MIB, 256 * MIB)))
    pair("| all-pairs, 1 KiB | 1.8 (most) | {:.2f} | {:.2f} |", "GC3 all-pairs", KIB)
    pair("| all-pairs, 256 KiB | | {:.2f} | {:.2f} |", "GC3 all-pairs", 256 * KIB)
    pair("| all-pairs, 512 KiB | above 1 up to 1 MB | {:.2f} | {:.2f} |", "GC3 all-pairs", 512 * KIB)
    both = (("1 KiB | 1.4 (most below 1 MB)", KIB, "small"), ("4 MiB |", 4 * MIB, "large"), ("16 MiB |", 16 * MIB, "large"), ("64 MiB |", 64 * MIB, "large"))
    for text, size, panel in both:
        page.claim(f"| hierarchical, {text} | {{:.2f}} | {{:.2f}} |", lambda s=size, p=panel: (
            *at("7c", "GC3 hierarchical", p, s), *at("7d", "GC3 hierarchical", p, s)))
    page.claim("| hierarchical, 256 KiB | | {:.2f} | |", lambda: at("7c", "GC3 hierarchical", "small", 256 * KIB))
    page.claim("| hierarchical, 1 MiB | | | {:.2f} |", lambda: at("7d", "GC3 hierarchical", "small", MIB))
    page.claim("| hierarchical, 256 MiB | | {:.2f} | {:.2f} (4 instances) |", lambda: (
        *at("7c", "GC3 hierarchical", "large", 256 * MIB), *at("7d", "GC3 hierarchical", "large", 256 * MIB)))
    page.claim("| hierarchical, 1 GiB | up to 1.11 | {:.2f} | |", lambda: at("7c", "GC3 hierarchical", "large", GIB))
    for text, size in (("16 KiB | |", 16 * KIB), ("16 MiB | up to 1.3 above 64 MB |", 16 * MIB)):
        page.claim(f"| GC3, {text} {{:.2f}} | {{:.2f}} | |", lambda s=size: (curve("7e", "GC3 two-step")[s], curve("7f", "GC3 two-step")[s]))
    for text, size in (("16 KiB | |", 16 * KIB), ("16 MiB | passes 1 at 512 MB |", 16 * MIB)):
        page.claim(f"| NCCL, {text} {{:.2f}} | {{:.2f}} | |", lambda s=size: (curve("7e", "NCCL (direct)")[s], curve("7f", "NCCL (direct)")[s]))
    page.claim("| 16 KiB, r = 1, 2, 4, 8, 12 | slower for small buffers | {:.2f}, {:.2f}, {:.2f}, {:.2f}, {:.2f} | {:.2f}, {:.2f}, {:.2f} (r = 1, 2, 4) |",
               lambda: (*(curve("7g", f"AllToNext r={r}")[16 * KIB] for r in (1, 2, 4, 8, 12)), *(curve("7h", f"AllToNext r={r}")[16 * KIB] for r in (1, 2, 4))))
    page.claim("| 256 MiB | 14.5 | {:.1f}, r = 12 | {:.1f}, r = 4 |", lambda: (curve("7g", "AllToNext r=12")[256 * MIB], curve("7h", "AllToNext r=4")[256 * MIB]))

    def ring(figure, panel="small"):
        return curve(figure, "GC3 ring", panel)

    def passes(figure, *instances):
        """The last size in KiB at which a curve is below the baseline, and the first at which it is above; the same for all instances."""
        found = {crossing(curve(figure, f"AllToNext r={r}")) for r in instances}
        if len(found) != 1:
            raise RuntimeError(f"different sizes: {found}")
        return found.pop()

    def all_pairs(figure):
        return curve(figure, "GC3 all-pairs", "small")

    page.claim("| 7a, 7b: all-pairs is faster than NCCL's ring for small all-reduces | yes; it gives way at {:.0f} KiB, not at 1 MB |", lambda: the_same(
        crossing(all_pairs("7a"), above=False)[1], crossing(all_pairs("7b"), above=False)[1]))
    page.claim("| **no**: {:.2f} to {:.2f}x |", lambda: span(ring("7a").values()))
    page.claim("| yes, {:.2f} to {:.2f}x |", lambda: span(v for s, v in ring("7a", "large").items() if s >= 32 * MIB))
    page.claim("| {:.0f} % at 256 MiB and 1 GiB; slower at 16 and 64 MiB |", lambda: percent_faster(the_same(
        *(round(v, 2) for v in at("7c", "GC3 hierarchical", "large", 256 * MIB, GIB)))))
    page.claim("slower at 16 and 64 MiB |", lambda: all(v < 1 for v in at("7c", "GC3 hierarchical", "large", 16 * MIB, 64 * MIB)))
    page.claim("hierarchical all-reduce is faster for small sizes; composed of calls it is slower | yes |", lambda: all(
        [*(v > 1 for f in ("7c", "7d") for v in at(f, "GC3 hierarchical", "small", KIB, 16 * KIB)),
         *(v < 1 for f in ("7c", "7d") for p in ("small", "large") for v in over(f, "composed of calls", "GC3 hierarchical", p).values())]))
    page.claim("| yes, {:.2f} to {:.2f}x on 4 servers |", lambda: span([*curve("7e", "GC3 two-step").values(), *curve("7f", "GC3 two-step").values()]))
    page.claim("| it passes at {:.0f} KiB, and falls behind again at {:.0f} MiB |", lambda: (
        ahead(curve("7e", "NCCL (direct)"))[0], min(s for s, v in curve("7e", "NCCL (direct)").items() if v < 1 and s > MIB) / MIB))
    page.claim("| yes, {:.1f}x of the published 14.5x |", lambda: at("7g", "AllToNext r=12", None, 256 * MIB))

    page.claim("| ring, most | 1.9 | {:.2f} up to {:.0f} KiB | {:.2f} at {:.0f} KiB |", lambda: (
        *most(ring("7a")), *most(ring("7b"))))
    page.claim("| ring, least | | {:.2f} at {:.0f} KiB | {:.2f} at {:.0f} KiB |", lambda: (*least(ring("7a")), *least(ring("7b"))))
    page.claim("| ring, sizes above 1.05 | 32 KB to 3 MB | **not reproduced**; {:.2f} at {:.0f} MiB | |", lambda: only_above(
        1.05, {**ring("7a"), **ring("7a", "large")}))
    page.claim('| composed | "significantly" below 1 | {:.2f} to {:.2f} | {:.2f} to {:.2f} up to 1 MiB (panel small), {:.2f} to {:.2f} from 1 MiB on (large) |', lambda: (
        *span(v for p in ("small", "large") for v in curve("7c", "composed of calls", p).values()),
        *span(curve("7d", "composed of calls", "small").values()), *span(curve("7d", "composed of calls", "large").values())))
    page.claim("| composed / GC3 | | {:.2f} (1 KiB) to {:.2f} (64 MiB); {:.2f} at 1 GiB | {:.2f} to {:.2f} |", lambda: (
        *span(composed("7c").values()), composed("7c")[GIB], *span(composed("7d").values())))
    page.claim("| composed / GC3 | | 0.53 (1 KiB) to 0.97 (64 MiB);", lambda: (
        min(composed("7c"), key=composed("7c").get) == KIB and max(composed("7c"), key=composed("7c").get) == 64 * MIB))

    def composed(figure):
        return {**over(figure, "composed of calls", "GC3 hierarchical", "small"), **over(figure, "composed of calls", "GC3 hierarchical", "large")}

    page.claim("| GC3, 64 KiB | | | | {:.2f} |", lambda: at(SERVERS_16, "GC3 two-step", None, 64 * KIB))
    for text, size in (("1 MiB", MIB), ("4 MiB", 4 * MIB)):
        page.claim(f"| GC3, {text} | | {{:.2f}} | | {{:.2f}} |", lambda s=size: (curve("7e", "GC3 two-step")[s], curve(SERVERS_16, "GC3 two-step")[s]))
    for text, size in (("64 KiB", 64 * KIB), ("1 MiB", MIB), ("4 MiB", 4 * MIB)):
        page.claim(f"| NCCL, {text} | | {{:.2f}} | | {{:.2f}} |", lambda s=size: (curve("7e", "NCCL (direct)")[s], curve(SERVERS_16, "NCCL (direct)")[s]))
    page.claim("| NCCL, 256 KiB | | {:.2f} | {:.2f} | {:.2f} |", lambda: tuple(
        curve(figure, "NCCL (direct)")[256 * KIB] for figure in ("7e", "7f", SERVERS_16)))
    page.claim("| GC3 / NCCL, least | 1.2 above 512 MB | {:.2f} at {:.0f} MiB | {:.1f} at {:.0f} KiB | {:.2f} at {:.0f} MiB |", lambda: (
        *least(over("7e", "GC3 two-step", "NCCL (direct)"), MIB), *least(over("7f", "GC3 two-step", "NCCL (direct)")),
        *least(over(SERVERS_16, "GC3 two-step", "NCCL (direct)"), MIB)))

    page.claim("| 64 KiB | | {:.2f} and more | |", lambda: min(curve("7g", f"AllToNext r={r}")[64 * KIB] for r in (1, 2, 4, 8, 12)))
    page.claim("| passes the baseline, r = 1, 2 | not given | between {:.0f} and {:.0f} KiB | between {:.0f} and {:.0f} KiB |",
               lambda: (*passes("7g", 1, 2), *passes("7h", 1, 2)))
    page.claim("| passes the baseline, r = 4 and more | not given | between {:.0f} and {:.0f} KiB | between {:.0f} and {:.0f} KiB |",
               lambda: (*passes("7g", 4, 8, 12), *passes("7h", 4)))
    page.claim("| 16 and 64 MiB, r = 4 | | | {:.1f} |", lambda: the_same(*(f"{v:.1f}" for v in at("7h", "AllToNext r=4", None, 16 * MIB, 64 * MIB)), kind=float))
    page.claim("| best r, smallest and largest size | least, most | {}, {} | {}, {} |", lambda: (
        best(curve, "7g", KIB), best(curve, "7g", 256 * MIB), best(curve, "7h", KIB, (1, 2, 4)), best(curve, "7h", 256 * MIB, (1, 2, 4))))

    # Settings of the paper, and counts of steps and NICs.
    for row in ("| GPUs of a server |", "| NVLink of a GPU, one way |", "| switch of a server |", "| NICs (HDR InfiniBand) |", "| of a server to others, one way |",
                "| latencies | not in the paper |", "| 7a, 7b | 1: 8 A100, 16 V100 |", "| 7c, 7d | 2: 16 A100, 32 V100 |", "| 7e, 7f | 16 (see below): A100; 4: 64 V100 |",
                "| 7g, 7h | 3: 24 A100; 4: 64 V100 |", "| 7a: ring over several channels beats one channel |", "| 7a: equal when large |",
                "| 7a: all-pairs for small sizes |", "| 7c: hierarchical for small sizes |", "| 7c: +11 % above 1 GB |", "| 7c: composed is slow |",
                "| 7e: two-step over direct |", "| 7e: GC3 over hand-written |", "| 7g: many times for large buffers |"):
        page.given(row)
    return page


def crossing(values, above=True):
    """Sizes in KiB: the last before the curve stays above 1 (or below), and the first from which on it does."""
    sizes = sorted(values)
    first = next(i for i in range(len(sizes)) if all((values[s] > 1) == above for s in sizes[i:]))
    return sizes[first - 1] / KIB, sizes[first] / KIB


def most(values, unit=KIB):
    """The largest value, and the last size that has it when rounded."""
    value = max(values.values())
    return value, max(s for s, v in values.items() if f"{v:.2f}" == f"{value:.2f}") / unit


def least(values, unit=KIB):
    size = min(values, key=values.get)
    return values[size], size / unit


def only_above(limit, values):
    """The one value above, and its size in MiB."""
    (size,) = [s for s, v in values.items() if round(v, 2) > limit]
    return values[size], size / MIB


def the_same(*values, kind=None):
    if len(set(values)) != 1:
        raise RuntimeError(f"different values: {values}")
    return kind(values[0]) if kind else values[0]


def percent_faster(factor):
    return 100 * (factor - 1)


def span(values):
    values = list(values)
    return min(values), max(values)


def first_below(curve):
    """MiB from which on all are below 1."""
    return min(s for s in curve if all(v < 1 for t, v in curve.items() if t >= s)) / MIB


def ahead(curve):
    sizes = [s for s, v in curve.items() if v > 1]
    return min(sizes) / KIB, max(sizes) / MIB


def best(curve, figure, size, instances=(1, 2, 4, 8, 12)):
    return max(instances, key=lambda r: curve(figure, f"AllToNext r={r}")[size])
