"""Documents together: the import graph of programs, its cycles and its depth."""

from prosa.graph.closure import MAX_PROGRAMS, Closure, LoadedProgram, ResolvedImport, load_closure
from prosa.graph.cycles import find_cycles

__all__ = ["MAX_PROGRAMS", "Closure", "LoadedProgram", "ResolvedImport", "find_cycles", "load_closure"]
