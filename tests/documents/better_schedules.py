"""docs/better-schedules.md: the table with rows that repeat, and what a link, a stop and a program step take."""
import re

from claims import Page


def claims(program):
    page = Page("docs/better-schedules.md")

    def entries(repeat):
        return forest(program, repeat)["table_entries_max"]

    def segments():
        """Of which one period has one."""
        return entries("false") // entries("true")

    page.claim("{} per NI for an all-reduce of 16 MiB in {} segments on an 8x8 mesh", lambda: (entries("false"), segments()))
    page.claim("is then as long as one period: {} rows", lambda: entries("true"))
    page.claim("With {} segments these are {} places and most of the extension", lambda: (segments(), places(program)))
    page.claim("Each link of a message takes {} cycles", lambda: message(program, hops=2) - message(program, hops=1))
    page.claim("A message takes {} more at the NIs and routers of its ends, one for each flit", lambda: (
        2 * message(program, hops=1) - message(program, hops=2) - flits(program)))
    page.claim("{} cycles for a step that receives, adds and sends on at once (`rrcs`), {} where a node keeps what it receives, adds it in a step of "
               "its own and sends the sum in another one", lambda: (steps(program, hops=1), kept(program)))
    # Rules of `auto`.
    page.given("| messages pass one link, in the order that `forest` or `a2a_paths` lists,")
    page.given("| the first is such a list,")
    return [page]


def critical_path(program, algorithm):
    """Steps in their order: kind, whether it sends a message, and cycles by what they are."""
    printed = program.printed("explain", "--all", "configs/torus_8x8.yaml", "system.topology.dims=[4, 4]", "system.flow_control.mode=packet",
                              f"collective.algorithm={algorithm}", "collective.size=16B")
    path = re.search(r"^The critical path, message by message.*?\n(.*?)\n\n", printed, re.S | re.M).group(1)
    found = re.findall(r"^ +(\d+) +(\d+)  (\w+) (of connection|at) .*\n +(.*)$", path, re.M)
    steps = []
    for begin, end, kind, what, parts in found:
        cycles = {name.strip(): int(count) for name, count in re.findall(r"([a-z ]+?) (\d+)(?:;|$)", parts)}
        if sum(cycles.values()) != int(end) - int(begin):
            raise RuntimeError(f"parts that are not the whole: {parts}")
        steps.append((kind, what != "at", cycles))
    return steps


PROGRAM = ("dependency wait", "decode", "reduction")


def forwards(program, hops):
    """The steps `rrcs` that send over so many links of 150 cycles; all take the same time."""
    found = [cycles for kind, sends, cycles in critical_path(program, "recursive_doubling")
             if kind == "rrcs" and sends and cycles["link latency"] == 150 * hops]
    if not found or any(cycles != found[0] for cycles in found):
        raise RuntimeError(f"steps over {hops} links: {found}")
    return found[0]


def steps(program, hops):
    return sum(count for name, count in forwards(program, hops).items() if name in PROGRAM)


def message(program, hops):
    return sum(forwards(program, hops).values()) - steps(program, hops)


def flits(program):
    return forwards(program, hops=1)["serialization"] + 1


def kept(program):
    """A step `rrc` and the step `s` after it, until its message begins."""
    path = critical_path(program, "window")
    at = next(i for i, (kind, sends, _) in enumerate(path) if kind == "rrc" and not sends and i + 1 < len(path))
    if path[at + 1][:2] != ("s", False):
        raise RuntimeError(f"after rrc: {path[at + 1]}")
    return sum(sum(cycles.values()) for _, _, cycles in path[at:at + 2])


def forest(program, repeat):
    return program.result("run", "configs/mesh_8x8.yaml", "collective.algorithm=forest", "collective.size=16MiB",
                          "system.flow_control.mode=message", f"system.ni.table_repeat={repeat}")


def places(program):
    """Of the state of dependencies, if it is most of the extension."""
    area = forest(program, "true")["area"]
    state = next(block for block in area["blocks"] if block["block"] == "ni.dependency_state")
    if state["um2"] < area["ni_extension_um2"] / 2:
        raise RuntimeError("the state of dependencies is less than half of the extension")
    return int(state["words"])
