"""docs/performance.md: the transfers of large schedules. Times and memory beside them are the host's."""
import re

from claims import Page


def claims(program):
    page = Page("docs/performance.md")

    def transfers(dims, size):
        printed = program.printed("check", "configs/torus_8x8.yaml", f"system.topology.dims={dims}", "system.flow_control.mode=message",
                                  "collective.algorithm=multitree_translated", "collective.segments=1", f"collective.size={size}")
        return int(re.search(r"(\d+) transfers in", printed).group(1))

    page.claim("generated, lowered and certified | {} |", lambda: transfers("[64, 64]", "64MiB"))
    page.claim("| the same: `run` | {} |", lambda: transfers("[64, 64]", "64MiB"))
    page.claim("| `multitree_translated`, 32x32, 16 MiB: `run` | {} |", lambda: transfers("[32, 32]", "16MiB"))
    # 1024 trees of 1023 edges, there and back.
    page.claim("| `multitree`, 32x32, 16 MiB: `run` | {} |", lambda: 2 * 1024 * 1023)
    return [page]
