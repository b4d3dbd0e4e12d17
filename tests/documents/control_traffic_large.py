"""docs/control_traffic.md: control messages beside gradients of 4 and 16 MiB."""
from claims import Page
from control_traffic import beside, idle, of


def claims(program):
    page = Page("docs/control_traffic.md")

    def large(size, vcs):
        return of(beside(program, "0.01", vcs, size=size))

    for size in (4, 16):
        page.claim(f"| MULTITREE, messages, {size} MiB | {{:.0f}}, {{}}, {{}} | {{:.0f}}, {{}}, {{}} |",
                   lambda s=size: (*large(f"{s}MiB", "own"), *large(f"{s}MiB", "shared")))

    def slower(at):
        times = [large(size, "own")[at] for size in ("1MiB", "4MiB", "16MiB")]
        return [100 * (time / of(idle(program, "0.01"))[at] - 1) for time in times]

    page.claim("control messages take {:.0f} % longer beside MULTITREE than on an idle network, and the slowest message {:.0f} to {:.0f} % longer",
               lambda: (max(slower(0)), min(slower(2)), max(slower(2))))
    return [page]
