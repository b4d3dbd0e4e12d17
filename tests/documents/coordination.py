"""docs/coordination.md: 12 ranks on the network, and the closed form beside the network for 96 and 384 ranks. coordination_1020.py has the rest."""
from claims import Page


def claims(program):
    page = Page("docs/coordination.md")

    modes = ("coordinator", "hierarchical", "cached", "in_ni")

    def small(mode, groups):
        return program.result("run", "configs/coordination/coordinator.yaml", f"coordination.mode={mode}", f"coordination.num_groups={groups}")

    page.claim("\n".join(f"| `{mode}` | {{:.0f}} | {{:.0f}} |" for mode in modes), lambda: tuple(
        small(mode, groups)["training"]["iteration_ns"] / 1e3 for mode in modes for groups in (0, 5)))
    page.claim("ResNet-50 has {} tensors with `batch_norm`", lambda: small("cached", 0)["coordination"]["tensors"])
    for ranks in (96, 384):
        for mode in ("coordinator", "cached"):
            page.claim(f"| {ranks} | `{mode}` | {{:.3f}} | {{:.3f}} | {{:.3f}} | {{:.3f}} | {{}} {{:03d}} |",
                       lambda r=ranks, m=mode: (*times(program, r, m), *messages(program, r, m)))
    return [page]


def both(program, ranks, mode):
    """The second iteration with the control plane on the network and in closed form."""
    return [program.result("run", "configs/coordination/summit.yaml", f"system.topology.servers={ranks // 6}", "coordination.iterations=2",
                           f"coordination.mode={mode}", f"coordination.control_plane={plane}") for plane in ("network", "closed_form")]


def times(program, ranks, mode):
    """Of the control plane and of the iteration, in ms."""
    second = [result["coordination"]["by_iteration"][1] for result in both(program, ranks, mode)]
    return tuple(iteration[key] / 1e6 for key in ("control_ns", "iteration_ns") for iteration in second)


def messages(program, ranks, mode):
    """On the network, thousands and the rest, as the document prints them."""
    return divmod(both(program, ranks, mode)[0]["coordination"]["control_messages"], 1000)
