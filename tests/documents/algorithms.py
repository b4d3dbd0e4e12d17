"""docs/algorithms.md: timesteps of MULTITREE's trees, as `espalier check` prints them."""
import re

from claims import Page

SQUARES = ("[4, 4]", "[8, 8]", "[16, 16]")
FAT_TREE = ("system.topology.type=fat_tree", "system.topology.switches=8", "system.topology.spines=8")
NARROW_FAT_TREE = ("system.topology.type=fat_tree", "system.topology.nodes_per_switch=4", "system.topology.switches=6", "system.topology.spines=2")
BIGRAPH_4X8 = ("system.topology.type=bigraph", "system.topology.nodes_per_switch=4", "system.topology.switches=8")
BIGRAPH_4X16 = ("system.topology.type=bigraph", "system.topology.nodes_per_switch=4", "system.topology.switches=16")
BIGRAPH_8X8 = ("system.topology.type=bigraph", "system.topology.switches=8")
DRAGONFLY = ("system.topology.type=dragonfly", "system.topology.nodes_per_switch=2", "system.topology.group_size=4", "system.topology.groups=4")


def claims(program):
    page = Page("docs/algorithms.md")

    def phase(*arguments):
        """Timesteps of one of the two equal phases, and the number of nodes: 2 (N-1) N transfers pass on N chunks twice."""
        printed = program.printed("check", *arguments)
        transfers, steps = map(int, re.search(r"(\d+) transfers in (\d+) steps", printed).groups())
        nodes = round((transfers / 2) ** 0.5 + 0.5)
        if steps % 2 or 2 * nodes * (nodes - 1) != transfers:
            raise RuntimeError(f"not two equal phases:\n{printed}")
        return steps // 2, nodes

    def grid(config, algorithm, dims):
        return phase(config, f"system.topology.dims={dims}", f"collective.algorithm={algorithm}", "collective.segments=1")

    def torus(algorithm):
        return [grid("configs/torus_8x8.yaml", algorithm, dims) for dims in SQUARES]

    def mesh():
        return [grid("configs/mesh_8x8.yaml", "multitree", dims) for dims in SQUARES[:2]]

    def switched(*networks):
        return [phase("configs/isca21_switched.yaml", *network) for network in networks]

    def row(found, links):
        """Timesteps, and the least possible ones with so many links of the node that has the fewest."""
        return (*steps(found), *least(found, links))

    page.claim("| torus 4x4, 8x8, 16x16 | {}, {}, {} | {}, {}, {} | {}, {}, {} |", lambda: (
        *steps(torus("multitree")), *row(torus("multitree_translated"), 4)))
    page.claim("| mesh 4x4, 8x8 | {}, {} | - | {}, {} |", lambda: row(mesh(), 2))
    page.claim("| DGX-2 plane 2 x 8, fat-tree 8 x 8 | {}, {} (stars) | - | {}, {} |", lambda: row(switched((), FAT_TREE), 1))
    page.claim("| BiGraph 4x8, 4x16 | {}, {} (height 2) | - | {}, {} |", lambda: row(switched(BIGRAPH_4X8, BIGRAPH_4X16), 1))
    page.claim("takes {} timesteps instead of {} on a fat-tree of 6 leaves with 4 nodes and 2 links up, {} instead of {} on an 8x8 BiGraph, "
               "and {} instead of {} on a dragonfly", lambda: pairs(switched(NARROW_FAT_TREE, BIGRAPH_8X8, DRAGONFLY)))

    # Formulas of what an algorithm sends; and the table of contention, which tests/unit/baselines_test.cpp holds.
    for name in ("ring", "bidirectional_ring", "2d_ring", "multitree", "multitree_translated", "direct", "halving_doubling", "hdrm", "bcube",
                 "dbtree", "binomial", "forest", "a2a_paths", "auto"):
        page.given(f"| `{name}` |")
    for name in ("torus 4x4, 8x8", "mesh 4x4", "mesh 8x8", "fully connected, 16", "one switch, 16", "two switches, 2 x 8", "fat-tree 4x4, 8x8",
                 "BiGraph 4x8, 4x16", "dragonfly 2x4x4"):
        page.given(f"| {name} | free |")
    return [page]


def steps(found):
    return tuple(number for number, _ in found)


def least(found, links):
    return tuple(-(-(nodes - 1) // links) for _, nodes in found)


def pairs(found):
    """Through switches a node has one link."""
    return [number for both in zip(steps(found), least(found, 1)) for number in both]
