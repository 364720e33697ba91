"""Documents together: one typed graph of all references, and the import graph of programs.

References of every dialect become edges here and nowhere else: `records.record_of` returns the names and references of
a document, `resolve.resolve` the target of a reference, `build.build` the `Graph`. Only the import graph reads files,
through its port.

Every name loads on first use: a rule that resolves links needs no reader of programs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prosa.graph.closure import MAX_PROGRAMS, Closure, LoadedProgram, ResolvedImport, load_closure
    from prosa.graph.cycles import find_cycles
    from prosa.graph.graph import Graph
    from prosa.graph.node import Edge, Node, State
    from prosa.graph.record import Definition, Record, Reference

__all__ = [
    "MAX_PROGRAMS",
    "Closure",
    "Definition",
    "Edge",
    "Graph",
    "LoadedProgram",
    "Node",
    "Record",
    "Reference",
    "ResolvedImport",
    "State",
    "find_cycles",
    "load_closure",
]

_PLACES = {
    "find_cycles": "cycles",
    "Graph": "graph",
    **dict.fromkeys(("Edge", "Node", "State"), "node"),
    **dict.fromkeys(("Definition", "Record", "Reference"), "record"),
}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_PLACES.get(name, 'closure')}"), name)
    return value
