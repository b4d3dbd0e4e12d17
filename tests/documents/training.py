"""docs/training.md, the first table. Its second half is in themis_training.py."""
from claims import Page, only


def claims(program):
    page = Page("docs/training.md")

    def row(algorithm):
        results = program.results("run", "configs/training_resnet50.yaml", "system.flow_control.mode=message")
        times, ring = (only(results, algorithm=name)["training"] for name in (algorithm, "ring"))
        return (*(times[f"{part}_ns"] / 1000 for part in ("compute", "exposed", "iteration")), ring["iteration_ns"] / times["iteration_ns"])

    for algorithm in ("ring", "2d_ring", "multitree"):
        page.claim(f"| `{algorithm}` | {{:.1f}} | {{:.1f}} | {{:.1f}} | {{:.2f}}x |", lambda a=algorithm: row(a))
    # tests/unit/networks_test.cpp holds the numbers of parameters.
    for network in ("alexnet", "alphago_zero", "faster_rcnn", "gnmt", "googlenet", "ncf", "resnet152", "resnet50", "transformer"):
        page.given(f"| `{network}` |")
    page.given("| `workload.h`, `workloads.cpp` |")
    page.given("| `compute_model.h` |")
    return [page]
