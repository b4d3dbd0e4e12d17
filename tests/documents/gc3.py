"""docs/reproduction.md, GC3's Fig. 7."""
from claims import Page, select

KIB = 1 << 10
MIB = 1 << 20
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
    return [page]


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
