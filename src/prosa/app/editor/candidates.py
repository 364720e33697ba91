"""The candidates at an offset, and the completions for an editor.

In: candidates for one range of characters, and the typed part. Out: at most `MOST` completions, the best first: prefix
matches before inner ones, near before far. Each is an exact change of that range alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nsmallest
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.app.editor.changes import Edit
from prosa.source import Span

MOST = 200
"""Maximum number of completions in one answer: clients that show more are slow."""

MAX_TYPED = 200
"""Characters that candidates are compared with."""

Kind: TypeAlias = Literal[
    "field", "value", "keyword", "function", "variable", "input", "document", "heading", "block", "file", "label", "id",
    "relation", "program", "rule", "role", "setting", "command", "dialect", "url", "tool", "language",
]  # fmt: skip


class Completion(Struct, frozen=True):
    """``label`` is shown, with ``detail`` beside it; ``edit`` writes it. ``filter`` is compared with the typed text,
    ``sort`` is the order. ``documentation`` is Markdown; if it is empty and ``about`` names a document, it is the
    preview of that (`hover.preview`), built on request."""

    label: str
    kind: Kind
    edit: Edit
    detail: str = ""
    documentation: str = ""
    sort: str = ""
    filter: str = ""
    about: Path | None = None
    fragment: str = ""


class Completions(Struct, frozen=True):
    """``incomplete`` says that there are more: the client asks again when more is typed."""

    items: tuple[Completion, ...] = ()
    incomplete: bool = False


NOTHING = Completions()


class Candidate(Struct, frozen=True):
    """Something that may be written. ``text`` takes the place of the range, or ``label`` where it is None; ``names``
    are further texts by which it is found. ``far`` counts against it among those that match as well."""

    label: str
    kind: Kind
    text: str | None = None
    detail: str = ""
    documentation: str = ""
    names: tuple[str, ...] = ()
    far: int = 0
    about: Path | None = None
    fragment: str = ""


def completions(
    path: Path, span: Span, typed: str, candidates: Iterable[Candidate], *, more: bool = False
) -> Completions:
    """Return the completions of a range. ``more`` says that there are candidates that were left out."""
    wanted = typed[:MAX_TYPED].casefold()
    ranked = (
        (rank, candidate.far, at, candidate)
        for at, candidate in enumerate(candidates)
        if (rank := _rank(candidate, wanted)) is not None
    )
    best = nsmallest(MOST + 1, ranked, key=lambda entry: entry[:3])
    items = tuple(
        Completion(
            candidate.label,
            candidate.kind,
            Edit(path, span.start, span.end, candidate.label if candidate.text is None else candidate.text),
            candidate.detail,
            candidate.documentation,
            f"{at:03}",
            _filter(candidate, wanted),
            candidate.about,
            candidate.fragment,
        )
        for at, (_, _, _, candidate) in enumerate(best[:MOST])
    )
    return Completions(items, more or len(best) > MOST)


def rank_of(name: str, wanted: str) -> int | None:
    """Return how well a name matches the typed text, ignoring case; None if it does not: 0 for its beginning, 1 for
    that of a word in it, 2 for any part."""
    if not wanted:
        return 0
    folded = name.casefold()
    at = folded.find(wanted)
    if at <= 0:
        return None if at < 0 else 0
    return 1 if not (folded[at - 1].isalnum() and folded[at].isalnum()) else 2


def _rank(candidate: Candidate, wanted: str) -> int | None:
    best = rank_of(candidate.label, wanted)
    if best == 0 or not candidate.names:
        return best
    others = [rank for name in candidate.names if (rank := rank_of(name, wanted)) is not None]
    return min([*others, *([best] if best is not None else [])], default=None)


def _filter(candidate: Candidate, wanted: str) -> str:
    """Return the filter text for further typing: the matching name, then all others."""
    names = [name for name in (candidate.label, *candidate.names) if name]
    matching = next((name for name in names if rank_of(name, wanted) is not None), candidate.label)
    return " ".join(dict.fromkeys((matching, *names)))[:MAX_TYPED]


def steps_between(folder: str, other: str) -> int:
    """Return how many folders lie between two, written with `/`."""
    if folder == other:
        return 0
    here, there = folder.split("/") if folder else [], other.split("/") if other else []
    shared = 0
    for one, two in zip(here, there, strict=False):
        if one != two:
            break
        shared += 1
    return len(here) + len(there) - 2 * shared


def unique(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Yield the first candidate of each label and text."""
    seen: set[tuple[str, str | None]] = set()
    for candidate in candidates:
        if (candidate.label, candidate.text) not in seen:
            seen.add((candidate.label, candidate.text))
            yield candidate
