"""The program, by its Python interface."""
import sys

from .machines import ROOT

sys.path.append(str(ROOT / "python"))
import espalier  # noqa: E402, F401
