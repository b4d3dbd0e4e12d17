"""docs/better-schedules.md: the table with rows that repeat."""
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
    return [page]


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
