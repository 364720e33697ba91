"""The import graph of programs, read once through the `Files` port (L6, L28, L29, LA14, LA15).

In: one or more paths. Out: every program they reach, each real file read once, and for every import what became of it.
It names facts; the rules under `prosa.rules.markdownlang` put them into words. Outside the root it opens nothing,
unless it is handed a way to, and then only programs (X5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.diagnostics import Problem
from prosa.dialects.fields import text_of
from prosa.dialects.front import FrontReading, read_front
from prosa.dialects.markdownlang import ImportRef, ProgramModel
from prosa.dialects.markdownlang.read import read
from prosa.graph.cycles import Key, components, find_cycles
from prosa.source import FileProblem, Files, SourceText

MAX_PROGRAMS = 1000
"""Programs that imports may add to a closure. A real system has dozens; each costs a file read."""

MAX_IMPORTS = 256
"""Imports of one program. Every one is a tool, and no model API takes more tools than this."""

SKILL_FILE = "SKILL.md"
"""What the file of a skill is called, which a program may import by its folder too."""

MAX_IMPORT_DEPTH = 16
"""Programs that may call each other in a chain (X9)."""

ReadOutside: TypeAlias = Callable[[Path], SourceText]
"""Reads a file outside the root that no link leads to. Raises `FileProblem`."""

ImportState: TypeAlias = Literal[
    "program", "skill", "reserved", "not-markdown", "outside-root", "missing", "unreadable", "too-many"
]


class ResolvedImport(Struct, frozen=True):
    """An import and what became of it. ``path`` is the real path where there is one; ``reason`` completes "PATH …".
    ``name`` is that of a skill (X32)."""

    ref: ImportRef
    state: ImportState
    path: Path | None = None
    reason: str = ""
    name: str = ""


class LoadedProgram(Struct, frozen=True):
    """A program of the closure. ``path`` is real; ``model.source.path`` is how people named it."""

    path: Path
    front: FrontReading
    model: ProgramModel
    problems: tuple[Problem, ...]
    imports: tuple[ResolvedImport, ...] = ()


class Closure(Struct, frozen=True, dict=True):
    """Programs by real path, in the order they were reached: the requested ones first. ``roots`` are the
    requested ones."""

    roots: tuple[Path, ...]
    programs: Mapping[Path, LoadedProgram]

    @property
    def root(self) -> LoadedProgram:
        """The first requested program."""
        return self.programs[self.roots[0]]

    @property
    def skills(self) -> tuple[Path, ...]:
        """The files of the skills that programs import, each once."""
        imports = (
            imported for program in self.programs.values() for imported in program.imports if imported.state == "skill"
        )
        return tuple(dict.fromkeys(imported.path for imported in imports if imported.path is not None))

    def imported(self, program: LoadedProgram) -> tuple[LoadedProgram, ...]:
        """Return the programs that ``program`` imports and that could be read, in the order it names them."""
        return tuple(
            self.programs[imported.path]
            for imported in program.imports
            if imported.path in self.programs and imported.path
        )

    @cached_property
    def edges(self) -> Mapping[Path, tuple[Path, ...]]:
        """Importing program → imported programs."""
        return {
            path: tuple(program.path for program in self.imported(program)) for path, program in self.programs.items()
        }

    @cached_property
    def cycles(self) -> tuple[tuple[Path, ...], ...]:
        """Import cycles, one for every group of programs that import each other (LA15)."""
        return find_cycles(self.edges)

    @cached_property
    def cycle_from(self) -> Mapping[Path, tuple[Path, ...]]:
        """The cycle that starts at a program, if there is one."""
        return {cycle[0]: cycle for cycle in self.cycles}

    @cached_property
    def depths(self) -> Mapping[Path, int]:
        """The longest chain of imports that leads to a program."""
        return chain_depths(self.edges)


def load_closure(
    path: Path | Sequence[Path],
    files: Files,
    *,
    outside: ReadOutside | None = None,
    known: Mapping[Path, LoadedProgram] | None = None,
) -> Closure:
    """Read the programs at ``path`` and everything they import.

    ``outside`` reads imports outside the root; a file that is no program stays outside. ``known`` holds programs that
    were read already, by real path; their imports are not followed. Raises `FileProblem` if ``path`` itself cannot be
    read; an unreadable import is recorded in the closure.
    """
    loading = _Loading(files, outside, dict(known or {}))
    paths = [path] if isinstance(path, Path) else list(path)
    roots = tuple(dict.fromkeys(loading.add(root) for root in paths))
    loading.room += len(roots)
    loading.follow_all()
    return Closure(roots, loading.programs)


def _loaded(real: Path, source: SourceText) -> LoadedProgram:
    front = read_front(source)
    model, problems = read(source, front)
    return LoadedProgram(real, front, model, problems)


class _Loading(Struct):
    """The state of one breadth-first walk."""

    files: Files
    outside: ReadOutside | None
    known: dict[Path, LoadedProgram]
    room: int = MAX_PROGRAMS
    programs: dict[Path, LoadedProgram] = field(default_factory=dict)
    waiting: deque[Path] = field(default_factory=deque)
    refused: dict[Path, FileProblem] = field(default_factory=dict)

    def add(self, path: Path) -> Path:
        """Read a program unless it was, and return its real path. Raises `FileProblem`."""
        real = self.files.real(path)
        if real not in self.programs:
            self.programs[real] = self.known.get(real) or _loaded(real, self._read(path, real))
            self.waiting.append(real)
        return real

    def _read(self, path: Path, real: Path) -> SourceText:
        """Return the text of a file; an unreadable one is tried once."""
        if real in self.refused:
            raise self.refused[real]
        try:
            return self.files.read(path)
        except FileProblem as problem:
            self.refused[real] = problem
            raise

    def follow_all(self) -> None:
        """Resolve imports until nothing new appears."""
        while self.waiting:
            program = self.programs[self.waiting.popleft()]
            imports = tuple(self._resolve(ref, at, program) for at, ref in enumerate(program.model.imports))
            self.programs[program.path] = replace(program, imports=imports)

    def _resolve(self, ref: ImportRef, at: int, program: LoadedProgram) -> ResolvedImport:
        """Return one import, relative to the file that names it (LA14)."""
        if ref.text.lower().startswith("stdlib:"):
            return ResolvedImport(ref, "reserved")
        target = Path(program.model.source.path).parent / ref.text
        skill = self._skill_at(target)
        if skill is not None and at < MAX_IMPORTS:
            return self._skill(ref, skill, Path(program.model.source.path))
        if target.suffix.lower() != ".md":
            return ResolvedImport(ref, "not-markdown")
        if at >= MAX_IMPORTS:
            return ResolvedImport(ref, "too-many", reason=f"a program may import {MAX_IMPORTS} programs")
        real = self.files.real(target)
        if len(self.programs) >= self.room and real not in self.programs:
            return ResolvedImport(ref, "too-many", reason=f"programs may import {MAX_PROGRAMS} programs in all")
        if not self.files.inside_root(target):
            folder = self.files.real(Path(program.model.source.path).parent)  # links that the user named do not count
            return self._open_outside(ref, target, folder / ref.text)
        return self._open(ref, target, real)

    def _skill_at(self, target: Path) -> Path | None:
        """Return the file of a skill that an import names, itself or by its folder; None where it names none."""
        if target.name.lower() == SKILL_FILE.lower():
            return target
        inner = target / SKILL_FILE
        return inner if target.suffix.lower() != ".md" and self.files.exists(inner) else None

    def _skill(self, ref: ImportRef, target: Path, program: Path) -> ResolvedImport:
        """Return the import of a skill, of which only the name is read; its run reads the rest."""
        real = self.files.real(target)
        try:
            if self.files.inside_root(target):
                source = self.files.read(target)
            elif self.outside is None:
                return ResolvedImport(ref, "outside-root", real)
            else:
                source = self.outside(self.files.real(program.parent) / ref.text)
        except FileProblem as problem:
            states: dict[str, ImportState] = {"missing": "missing", "outside-root": "outside-root"}
            return ResolvedImport(ref, states.get(problem.kind, "unreadable"), real, problem.reason)
        entries = {entry.key.text: entry for entry in read_front(source).fields or ()}
        return ResolvedImport(ref, "skill", real, name=text_of(entries.get("name")) or real.parent.name)

    def _open_outside(self, ref: ImportRef, target: Path, whole: Path) -> ResolvedImport:
        """Return a program outside the root, if those may be opened."""
        real = self.files.real(target)
        if self.outside is None:
            return ResolvedImport(ref, "outside-root", real)
        try:
            source = replace(self.outside(whole), path=str(target))
        except FileProblem as problem:
            return ResolvedImport(ref, "missing" if problem.kind == "missing" else "outside-root", real, problem.reason)
        from prosa.dialects.reading import dialect_of

        if dialect_of(source) != "markdownlang":
            return ResolvedImport(ref, "outside-root", real, "does not read as a program")
        if real not in self.programs:
            self.programs[real] = _loaded(real, source)
            self.waiting.append(real)
        return ResolvedImport(ref, "program", real)

    def _open(self, ref: ImportRef, target: Path, real: Path) -> ResolvedImport:
        try:
            return ResolvedImport(ref, "program", self.add(target))
        except FileProblem as problem:
            state: ImportState = "missing" if problem.kind == "missing" else "unreadable"
            if problem.kind == "outside-root":
                state = "outside-root"
            return ResolvedImport(ref, state, real, problem.reason)


# How deep a graph goes: the longest chain to every node. Cycles count as one step; linear.


def chain_depths(edges: Mapping[Key, Sequence[Key]]) -> dict[Key, int]:
    """For every node the number of edges on the longest chain that ends at it; 0 where nothing points at a node.

    Nodes of one cycle share their depth: how often a cycle is walked is not a question of depth.
    """
    groups = components(edges)
    group_of = {node: number for number, group in enumerate(groups) for node in group}
    depth = [0] * len(groups)
    for number in range(len(groups) - 1, -1, -1):  # components come after what they point at, so walk backwards
        for node in groups[number]:
            for target in edges[node]:
                other = group_of.get(target)
                if other is not None and other != number:
                    depth[other] = max(depth[other], depth[number] + 1)
    return {node: depth[number] for node, number in group_of.items()}
