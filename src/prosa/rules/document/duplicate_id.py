"""`duplicate-id`: two documents of one dialect with the same id; whoever names it cannot know which is meant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.diagnostics import Problem
from prosa.rules.subject import Corpus

if TYPE_CHECKING:
    from prosa.document import Def

_WITH_IDS = ("magi", "mdh")
"""Dialects whose ids are meant to be unique (HA20). Two programs may have one name: importing both is the error."""


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At each of the ids, so that each document shows it when it is checked alone."""
    found: dict[tuple[str, str], list[tuple[Path, Def]]] = {}
    for path, facts in corpus.entries.items():
        if facts.dialect in _WITH_IDS:
            for each in facts.defs:
                if each.kind == "id":
                    found.setdefault((facts.dialect, each.name), []).append((path, each))
    for same in found.values():
        if len(same) > 1:
            for path, each in same:
                other = next((candidate for candidate, _ in same if candidate != path), path)
                message = f"`{each.name}` is also the id of {corpus.entries[other].path}"
                yield path, Problem("duplicate-id", message, each.span, ("give one of them another id",))
