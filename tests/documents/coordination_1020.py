"""docs/coordination.md: 1020 ranks, which take half a minute on the network."""
from claims import Page
from coordination import both, messages, times

POINTS = [(ranks, mode) for ranks in (96, 384) for mode in ("coordinator", "cached")]
POINTS += [(1020, mode) for mode in ("coordinator", "hierarchical", "cached")]


def claims(program):
    page = Page("docs/coordination.md")
    page.claim("takes {:.1f} ms with `coordinator` and {:.1f} ms with `cached`",
               lambda: tuple(times(program, 1020, mode)[2] for mode in ("coordinator", "cached")))
    for mode in ("coordinator", "hierarchical"):
        page.claim(f"| 1020 | `{mode}` | {{:.3f}} | {{:.3f}} | {{:.3f}} | {{:.3f}} | {{}} {{:03d}} |",
                   lambda m=mode: (*times(program, 1020, m), *messages(program, 1020, m)))
    page.claim("| 1020 | `cached` | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {} {:03d} {:03d} |", lambda: (
        *times(program, 1020, "cached"), messages(program, 1020, "cached")[0] // 1000, messages(program, 1020, "cached")[0] % 1000,
        messages(program, 1020, "cached")[1]))
    page.claim("| 1020 | `in_ni` | none | none | {:.3f} | {:.3f} | {} {:03d} |",
               lambda: (*times(program, 1020, "in_ni")[2:], *messages(program, 1020, "in_ni")))
    page.claim("changes the control plane's time by {:.1f} % at most, and the iteration by {:.2f} %", lambda: worst(program))
    page.claim("each of the {} gradients is all-reduced by itself, and computing is slower for the {:.1f} ms", lambda: separate(program))
    return [page]


def worst(program):
    """The largest difference between network and closed form, in percent, of the control plane and of the iteration."""
    rows = [times(program, *point) for point in POINTS]
    return tuple(max(100 * abs(row[at] / row[at + 1] - 1) for row in rows) for at in (0, 2))


def separate(program):
    training = both(program, 1020, "in_ni")[0]["training"]
    return int(training["all_reduces"]), training["all_reduce_ns"] / 1e6
