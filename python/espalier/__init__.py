"""Espalier in Python: simulations as pandas data frames (docs/python.md).

    import espalier
    frame = espalier.run("configs/mesh_2x2.yaml", {"collective.size": ["64KiB", "1MiB"]})
    frame[["collective.size_bytes", "time_ns"]]
"""
from .frames import Error, compare, program_path, results, run, sweep

__all__ = ["Error", "compare", "program_path", "results", "run", "sweep"]
