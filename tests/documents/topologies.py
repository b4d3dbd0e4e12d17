"""docs/topologies.md: an all-reduce with switches that add and copy, and with switches that only forward."""
from claims import Page, only


def claims(program):
    page = Page("docs/topologies.md")

    def times(algorithm):
        """In ms, with offload and without."""
        return [only(program.results("run", "configs/themis/3d_sw_sw_sw_homo.yaml", "collective.size=100MB", *offload),
                     algorithm=algorithm)["time_ns"] / 1e6
                for offload in (("system.dimensions.algorithm=[in_network, in_network, in_network]",), ())]

    page.claim("the baseline (FIFO) takes {:.3f} ms with offload and {:.3f} ms without", lambda: times("baseline"))
    page.claim("Themis+SCF takes {:.3f} and {:.3f} ms", lambda: times("themis"))
    page.claim("| `packet_flits` | {} |", lambda: program.default("system.dimensions.packet_flits"))
    # What types and keys mean; VC classes, which tests/unit/switched_routes_test.cpp holds.
    for row in ("| `switch` | `nodes` |", "| `dgx2` | `nodes_per_switch` n |", "| `gpu_cluster` | `servers` s,", "| `dimensions` | section", "| `count` |",
                "| `torus` | dimension order", "| `mesh` | dimension order", "| `fully_connected`, `switch` | the direct link;", "| `dgx2` | the parallel link",
                "| `fat_tree` | up to spine", "| `bigraph` | one hop", "| `dragonfly` | minimal", "| `gpu_cluster` | through", "| `data_center` | up to",
                "| `file`, `anynet` |", "| `size` | |", "| `links` | `auto`", "| `bandwidth` | | of one link."):
        page.given(row)
    return [page]
