"""Write the results of many scripts at once (X19): the same edits as one after the other, tried in one go.

In: a model and results. Out: edits, or None where they cannot be tried together: then each is written by itself, and
says why it cannot be. One result costs several readings of the document; here so do a thousand.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from prosa.dialects.magi.escape import settled
from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.owners import owners_of
from prosa.dialects.magi.parts import model_of
from prosa.dialects.magi.placing import Place, below, instead_of, refusal
from prosa.dialects.magi.regions import About, Region, marker
from prosa.dialects.magi.result_text import Shape, is_edited, region_text, shapes
from prosa.dialects.magi.results import level_at
from prosa.dialects.magi.script_hash import Contexts, context_mode, script_hash
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.dialects.magi.unchanged import depth, meaning, structure
from prosa.source import Edit, Span, apply_edits


@dataclass(frozen=True, slots=True)
class Given:
    """The result of a script: what `results.written` takes."""

    script: Script
    text: str
    model_name: str
    context: str
    form: str = "markdown"
    sent: str | None = None
    answered_by: str = ""
    cut: bool = False

    def about(self, mode: str, now: str) -> About:
        """What its marker says; ``now`` is the hash of its script in the document as it is."""
        return About(
            self.script.script_id or "",
            self.sent or now,
            model_name=self.model_name,
            context=mode,
            answered_by=self.answered_by,
            cut=self.cut,
        )


@dataclass(frozen=True, slots=True)
class _Placed:
    """A result with its place and its marker. ``current`` says that nothing changed since the script was sent."""

    place: Place
    about: About
    current: bool
    text: str
    form: str

    def edit(self, shape: Shape) -> Edit:
        """The edit that writes it in a shape."""
        return self.place.edit(marker(shape.told(self.about)), shape.shown)


def written_together(model: MagiModel, given: Sequence[Given], *, force: bool = False) -> tuple[Edit, ...] | None:
    """The edits that write these results, of different scripts of the model; None where they do not all go together.

    New results and those in the place of others do not: what is compared around them differs.
    """
    placed = _placed(model, given, force=force)
    if placed is None or len({bool(len(each.place.span)) for each in placed}) != 1:
        return None
    placed.sort(key=lambda each: each.place.span)
    if any(one.place.span.end > other.place.span.start for one, other in pairwise(placed)):
        return None
    empty = _Tried(model, [each.edit(Shape("")) for each in placed])
    if not empty.is_written or not _fits(model, placed, empty):
        return None
    contexts = Contexts(empty.model)
    placed = [_as_read(each, script, empty, contexts) for each, script in zip(placed, empty.scripts, strict=True)]
    edits = [_first_way(model, each) for each in placed]
    full = _Tried(model, edits)
    if not full.is_written or full.says_around != empty.says_around or not full.is_data([each.text for each in placed]):
        return None
    return tuple(edit for edit in edits if model.source.slice(edit.span) != edit.replacement)


def _placed(model: MagiModel, given: Sequence[Given], *, force: bool) -> list[_Placed] | None:
    """The results with their places; None where one is refused."""
    owners, contexts = owners_of(model), Contexts(model)
    found: list[_Placed] = []
    for each in given:
        region = owners.region_of(each.script)
        edited = region is not None and not force and is_edited(model, region)
        if edited or refusal(each.script) is not None:
            return None
        place = below(model, each.script) if region is None else instead_of(model, region)
        mode = context_mode(each.context)
        now = script_hash(model, each.script, mode, each.model_name, contexts=contexts)
        about = each.about(mode, now)
        found.append(_Placed(place, about, about.sha256 == now, settled(each.text), each.form))
    return found


def _fits(model: MagiModel, placed: Sequence[_Placed], empty: _Tried) -> bool:
    """Whether empty results can stand there, as `results.written` asks of one."""
    spans = [each.place.span for each in placed]
    if meaning(empty.model, *empty.holes) != meaning(model, *spans):
        return False
    if len(spans[0]):
        return True
    loose = any(each.place.marks for each in placed)
    if structure(empty.model, *empty.holes, loose=loose) != structure(model, *spans, loose=loose):
        return False
    depths = (depth(model, each.place.inside) for each in placed)
    return all(
        depth(empty.model, region.span.start) == deep for region, deep in zip(empty.regions, depths, strict=True)
    )


def _as_read(each: _Placed, script: Script, empty: _Tried, contexts: Contexts) -> _Placed:
    """A current result gets the hash of its script in the document as it will be read."""
    if not each.current:
        return each
    about = each.about
    sha256 = script_hash(empty.model, script, about.context, about.model_name, contexts=contexts)
    return replace(each, about=replace(about, sha256=sha256))


def _first_way(model: MagiModel, each: _Placed) -> Edit:
    level = 0 if each.place.marks else level_at(model, each.place.span.start)
    return each.edit(next(iter(shapes(each.text, each.form, level))))


class _Tried:
    """A document after edits, which are in order. ``holes`` are the stretches that were written."""

    def __init__(self, model: MagiModel, edits: Sequence[Edit]) -> None:
        self.model = model_of(apply_edits(model.source.text, edits))
        self.holes: list[Span] = []
        moved = 0
        for edit in edits:
            start = edit.span.start + moved
            self.holes.append(Span(start, start + len(edit.replacement)))
            moved += len(edit.replacement) - len(edit.span)

    @property
    def is_written(self) -> bool:
        """Whether exactly one region came of each edit, and is the result of a script."""
        found = [index for each in self.model.regions if (index := self._hole(each.span.start)) is not None]
        return found == list(range(len(self.holes))) and all(each.span in self._owner for each in self.regions)

    @cached_property
    def regions(self) -> list[Region]:
        """The regions that came of them."""
        return [each for each in self.model.regions if self._hole(each.span.start) is not None]

    @property
    def scripts(self) -> list[Script]:
        """The scripts whose results they are."""
        return [self._owner[region.span] for region in self.regions]

    @cached_property
    def says_around(self) -> tuple[object, ...]:
        """What the document says outside of what was written."""
        return meaning(self.model, *self.holes), structure(self.model, *self.holes)

    def is_data(self, texts: Sequence[str]) -> bool:
        """Whether nothing that was written acts, also for readers who know no regions, and the texts come back."""
        document = self.model.document
        # A definition in one result would make links in another, which nobody compares here.
        acting = [each.span for each in document.fences if each.language == LANGUAGE]
        acting += [each.span for each in document.footnote_definitions]
        acting += [each.span for each in document.definitions]
        if any(self._hole(span.start) is not None for span in acting):
            return False
        comments = sorted(span.start for span in document.comments)
        counts = (bisect_left(comments, hole.end) - bisect_left(comments, hole.start) for hole in self.holes)
        kept = (region_text(self.model, region) for region in self.regions)
        return all(count == 2 for count in counts) and list(kept) == list(texts)

    @cached_property
    def _owner(self) -> dict[Span, Script]:
        return {region.span: script for script, region in owners_of(self.model).pairs}

    def _hole(self, offset: int) -> int | None:
        """The number of the stretch in which a place lies."""
        index = bisect_right(self.holes, offset, key=_start) - 1
        return index if index >= 0 and offset in self.holes[index] else None


def _start(span: Span) -> int:
    return span.start
