"""A skill around a program, without loss: the program lies unchanged inside the skill, which says how it is run.

In: a program that the user named, or the SKILL.md of such a skill. Out: the files of the folder; the program again. The
programs that it imports come with it, where they lie below its own folder.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.read import real_path
from prosa.convert.form import NotConvertible
from prosa.convert.neutral import NO_MARKS, Piece, flat
from prosa.convert.program import FORM as PROGRAM
from prosa.convert.report import Item, Report
from prosa.convert.skill import wrapped_path, wrapping
from prosa.source import FileProblem, SourceText

MAX_PROGRAMS = 64
"""Programs in one skill."""


class Skill(Struct, frozen=True):
    """The files of a skill, by their paths below the folder that it is put into, and the report."""

    files: tuple[tuple[str, str], ...]
    report: Report


def wrapped(source: SourceText, stem: str, max_size: int) -> Skill:
    """Return the skill around a program. Raises `NotConvertible` where an import cannot come with it."""
    piece = PROGRAM.read(source, NO_MARKS).piece
    name, text = wrapping(piece, stem)
    place = Path(source.path)
    programs = _with_imports(place.name, source, piece, RootedFiles(real_path(place).parent, max_size))
    files = [(f"{name}/scripts/{path}", each) for path, each in programs.items()]
    note = "the program lies in the skill as it is; running it needs Prosa"
    item = Item("manual", source.path, 1, "", f"{name}/SKILL.md", note)
    return Skill(((f"{name}/SKILL.md", text), *files), Report(len(flat(piece)), (item,)))


def _with_imports(name: str, source: SourceText, piece: Piece, files: RootedFiles) -> dict[str, str]:
    """Return the program and all that it imports, by their paths from its folder."""
    assert files.root is not None
    found = {name: source.text}
    todo = [(name, piece)]
    while todo:
        importer, each = todo.pop()
        for written in each.slot("imports") or ():
            place = real_path(files.root / Path(importer).parent / written)
            if not place.is_relative_to(files.root):
                raise NotConvertible(f"`{importer}` imports `{written}`, which lies outside its folder")
            path = place.relative_to(files.root).as_posix()
            if path in found:
                continue
            if len(found) == MAX_PROGRAMS:
                raise NotConvertible(f"the program imports more than {MAX_PROGRAMS} others")
            try:
                inner = files.read(place)
            except FileProblem as problem:
                raise NotConvertible(f"`{importer}` imports `{written}`: {problem.reason}") from None
            found[path] = inner.text
            todo.append((path, PROGRAM.read(inner, NO_MARKS).piece))
    return found


def unwrapped(source: SourceText, max_size: int) -> Skill | None:
    """Return the program inside a skill that wraps one, unchanged; None for any other skill."""
    inner = wrapped_path(source)
    folder = Path(source.path).parent
    if inner is None or not (folder / inner).is_file():
        return None
    program = RootedFiles(real_path(folder), max_size).read(folder / inner)
    piece = PROGRAM.read(program, NO_MARKS).piece
    imports = piece.slot("imports") or ()
    notes = tuple(
        Item("manual", source.path, 1, "", "/imports", f"it imports `{each}`, which lies in the skill")
        for each in imports
    )
    return Skill(((inner, program.text),), Report(len(flat(piece)), notes))
