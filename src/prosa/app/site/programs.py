"""Unpublished imports of a program of a site, whose content a caller could extract (X23).

In: a site and a program that was loaded. Out: paths. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from prosa.app.site.files import is_document
from prosa.app.site.live import LiveSite
from prosa.runtime.program import Program, reachable


def unpublished(site: LiveSite, program: Program) -> Iterator[str]:
    """Yield the imported programs that are no published documents, and the files of skills that may not be seen: their
    documents are published, their other files have paths that say nothing against them."""
    programs = reachable(program)
    for each in programs[1:]:
        path = _below(site, Path(each.folder, each.file))
        if not site.has(path):
            yield each.name
    for each in programs:
        for skill in each.skills:
            for file in skill.files:
                path = _below(site, Path(skill.folder, file))
                if not (site.has(path) if is_document(path) else site.is_open(path)):
                    yield f"{skill.name}/{file}"


def as_published(site: LiveSite, program: Program) -> Program:
    """Return a program that names no file of its skills but published ones, for readers who do not run it."""
    shown = (
        replace(each, scripts=(), files=tuple(file for file in each.files if site.has(_below(site, each.folder, file))))
        for each in program.skills
    )
    return replace(program, skills=tuple(shown)) if program.skills else program


def _below(site: LiveSite, *parts: str | Path) -> str:
    """Return a path below the root; empty, which no file has, for one outside."""
    place = Path(*parts)
    return place.relative_to(site.root).as_posix() if place.is_relative_to(site.root) else ""
