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
    return [page]
