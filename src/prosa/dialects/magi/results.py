"""Write results of ai-scripts into their document (X19): a model, scripts and texts become edits, which leave the rest
of the document unchanged. Pure; the caller reads and writes.

A result is placed below its block as Markdown between two comments. It is data: every edit is tried on the text and
read again, and is returned only if scripts, relationships, regions and all other Markdown around it are unchanged.
Markdown is tried first, then Markdown with every heading and definition escaped, then the code of a fence.

One result costs several readings of the document. Many are tried in one go at the same cost. If they cannot be tried
together, the result is None, and each is written separately with its own reason for failing.

Two documents with the same content around their differences have equal results. Places count as if the ranges were
empty.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.magi.choosing import Contexts, context_mode, script_hash
from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.parts import model_of, without_blocks
from prosa.dialects.magi.regions import About, Region, inside, marker
from prosa.dialects.magi.result_text import (
    ResultPlace,
    Shape,
    below,
    instead_of,
    is_edited,
    normal_text,
    owners_of,
    refusal,
    region_text,
    shapes,
)
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.dialects.prapti.lines import find_lines
from prosa.dialects.prapti.read import find_headings
from prosa.document import Document, Link, LinkDefinition, Section
from prosa.source import Edit, Span, apply_edits
from prosa.source.values import kept


class ResultRefused(ValueError):
    """A result that cannot be written; the message says why and what to do. ``edited`` is true if `--force` would
    write it."""

    def __init__(self, message: str, *, edited: bool = False) -> None:
        super().__init__(message)
        self.edited = edited


def written(
    model: MagiModel,
    script: Script,
    text: str,
    *,
    model_name: str,
    context: str,
    form: str = "markdown",
    force: bool = False,
    sent: str | None = None,
    answered_by: str = "",
    cut: bool = False,
) -> tuple[Edit, ...]:
    """Return the edits that write the result of a script: none where it stands there already, byte for byte.

    ``context`` is the context mode and ``model_name`` the model of the run; ``answered_by`` and ``cut`` are what the
    marker says of the answer (`regions.About`). ``form`` is the form of the output (json,
    text, markdown, image-url). ``sent`` is the hash of the script when it was sent: where the document has changed
    since, the result is stale as soon as it is written. A result that was edited by hand is replaced only with
    ``force``. Apply the edits to the text of ``model`` and read it again before the next result is written. Raises
    `ResultRefused`.
    """
    region = owners_of(model).region_of(script)
    _refuse(model, script, region, force=force)
    place = below(model, script) if region is None else instead_of(model, region)
    mode = context_mode(context)
    now = script_hash(model, script, mode, model_name)
    about = About(
        script.script_id or "", sent or now, model_name=model_name, context=mode, answered_by=answered_by, cut=cut
    )
    edit = _safe_edit(model, place, about, normal_text(text), form, current=about.sha256 == now)
    if edit is None:
        why = "it would change the text around it"
        if model.stray_markers:
            why = "a marker of a result has no partner; `prosa check` shows which, remove it first"
        raise ResultRefused(f"the result of `{script.address}` cannot be written: {why}")
    return () if model.source.slice(edit.span) == edit.replacement else (edit,)


def removal(model: MagiModel, region: Region) -> Edit:
    """Return the edit that takes a region out, with its lines and the blank lines that would be too many."""
    return Edit(next(iter(without_blocks(model, (region.span,)))), "")


def _refuse(model: MagiModel, script: Script, region: Region | None, *, force: bool) -> None:
    why = refusal(script)
    if why is not None:
        raise ResultRefused(f"the result of `{script.address}` cannot be written: {why}")
    if region is not None and not force and is_edited(model, region):
        message = f"the result of `{script.address}` was edited by hand and is kept: `--force` replaces it"
        raise ResultRefused(message, edited=True)


def _safe_edit(
    model: MagiModel, place: ResultPlace, about: About, text: str, form: str, *, current: bool
) -> Edit | None:
    """Return the first way to write a text that changes nothing around it. A ``current`` result gets the hash of its
    script in the document as it will be read: in an odd one, lines around a region may be cut otherwise."""
    empty = _Tried(model, place.edit(marker(Shape("").described(about)), ""))
    if not empty.is_written or not _fits(model, place, empty):
        return None
    if current:
        about = replace(about, sha256=script_hash(empty.model, empty.script, about.context, about.model_name))
    level = 0 if place.marks else level_at(model, place.span.start)
    for shape in shapes(text, form, level):
        edit = place.edit(marker(shape.described(about)), shape.shown)
        tried = _Tried(model, edit)
        if tried.is_written and tried.is_data(text) and tried.says_around == empty.says_around:
            return edit
    return None


def _fits(model: MagiModel, place: ResultPlace, empty: _Tried) -> bool:
    """Return whether an empty result can stand there. Around one that is replaced, the Markdown may have hung on its
    text."""
    if meaning(empty.model, empty.hole) != meaning(model, place.span):
        return False
    if len(place.span):
        return True
    loose = bool(place.marks)
    if structure(empty.model, empty.hole, loose=loose) != structure(model, place.span, loose=loose):
        return False
    return depth(empty.model, empty.region.span.start) == depth(model, place.inside)


def level_at(model: MagiModel, offset: int) -> int:
    """Return the level of the author's heading above a place, at least 1: a heading of level 1 would be a title."""
    within = inside(model.regions)
    above = [heading for heading in model.document.headings if heading.span.start < offset and not heading.nested]
    return next((heading.level for heading in reversed(above) if not within(heading.span.start)), 1)


class _Tried:
    """A document after an edit. ``hole`` is the stretch that was written."""

    def __init__(self, model: MagiModel, edit: Edit) -> None:
        self.model = model_of(apply_edits(model.source.text, (edit,)))
        self.hole = Span(edit.span.start, edit.span.start + len(edit.replacement))
        self._regions = [region for region in self.model.regions if region.span.start in self.hole]

    @property
    def is_written(self) -> bool:
        """Whether exactly one region came of it, and is the result of a script."""
        pairs = owners_of(self.model).pairs
        return len(self._regions) == 1 and any(region is self.region for _, region in pairs)

    @property
    def region(self) -> Region:
        """The region that came of it."""
        return self._regions[0]

    @property
    def script(self) -> Script:
        """The script whose result it is."""
        return next(script for script, region in owners_of(self.model).pairs if region is self.region)

    @property
    def says_around(self) -> tuple[object, ...]:
        """The content of the document outside of the written text."""
        return meaning(self.model, self.hole), structure(self.model, self.hole)

    def is_data(self, text: str) -> bool:
        """Return whether nothing that was written acts, also for readers who know no regions, and the text can be had
        back."""
        document = self.model.document
        acting = (
            *(fence.span for fence in document.fences if fence.language == LANGUAGE),
            *(definition.span for definition in document.footnote_definitions),
        )
        if any(span.start < self.hole.end and self.hole.start < span.end for span in acting_in_a_chat(document)):
            return False  # not even inside of a command of several lines
        markers = sum(span.start in self.hole for span in document.comments)
        harmless = markers == 2 and not any(span.start in self.hole for span in acting)
        return harmless and region_text(self.model, self.region) == text


class Given(Struct, frozen=True):
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
        """Return the data of its marker; ``now`` is the current hash of its script in the document."""
        return About(
            self.script.script_id or "",
            self.sent or now,
            model_name=self.model_name,
            context=mode,
            answered_by=self.answered_by,
            cut=self.cut,
        )


class _Placed(Struct, frozen=True):
    """A result with its place and its marker. ``current`` is true if nothing changed since the script was sent."""

    place: ResultPlace
    about: About
    current: bool
    text: str
    form: str

    def edit(self, shape: Shape) -> Edit:
        """Return the edit that writes it in a shape."""
        return self.place.edit(marker(shape.described(self.about)), shape.shown)


def written_together(model: MagiModel, results: Sequence[Given], *, force: bool = False) -> tuple[Edit, ...] | None:
    """Return the edits that write these results, of different scripts of the model; None if they cannot be written
    together.

    New results cannot be combined with replacements: each kind compares other text.
    """
    placed = _placed(model, results, force=force)
    if placed is None or len({bool(len(result.place.span)) for result in placed}) != 1:
        return None
    placed.sort(key=lambda result: result.place.span)
    if any(one.place.span.end > other.place.span.start for one, other in pairwise(placed)):
        return None
    empty = _TriedTogether(model, [result.edit(Shape("")) for result in placed])
    if not empty.is_written or not _fit_together(model, placed, empty):
        return None
    contexts = Contexts(empty.model)
    placed = [_as_read(result, script, empty, contexts) for result, script in zip(placed, empty.scripts, strict=True)]
    edits = [_first_way(model, result) for result in placed]
    full = _TriedTogether(model, edits)
    if (
        not full.is_written
        or full.says_around != empty.says_around
        or not full.is_data([result.text for result in placed])
    ):
        return None
    return tuple(edit for edit in edits if model.source.slice(edit.span) != edit.replacement)


def _placed(model: MagiModel, results: Sequence[Given], *, force: bool) -> list[_Placed] | None:
    """Return the results with their places; None where one is refused."""
    owners, contexts = owners_of(model), Contexts(model)
    placeds: list[_Placed] = []
    for result in results:
        region = owners.region_of(result.script)
        edited = region is not None and not force and is_edited(model, region)
        if edited or refusal(result.script) is not None:
            return None
        place = below(model, result.script) if region is None else instead_of(model, region)
        mode = context_mode(result.context)
        now = script_hash(model, result.script, mode, result.model_name, contexts=contexts)
        about = result.about(mode, now)
        placeds.append(_Placed(place, about, about.sha256 == now, normal_text(result.text), result.form))
    return placeds


def _fit_together(model: MagiModel, placed: Sequence[_Placed], empty: _TriedTogether) -> bool:
    """Return whether empty results fit there, with the same test as `results.written`."""
    spans = [result.place.span for result in placed]
    if meaning(empty.model, *empty.holes) != meaning(model, *spans):
        return False
    if len(spans[0]):
        return True
    loose = any(result.place.marks for result in placed)
    if structure(empty.model, *empty.holes, loose=loose) != structure(model, *spans, loose=loose):
        return False
    depths = (depth(model, result.place.inside) for result in placed)
    return all(
        depth(empty.model, region.span.start) == deep for region, deep in zip(empty.regions, depths, strict=True)
    )


def _as_read(placed: _Placed, script: Script, empty: _TriedTogether, contexts: Contexts) -> _Placed:
    """Return a current result gets the hash of its script in the document as it will be read."""
    if not placed.current:
        return placed
    about = placed.about
    sha256 = script_hash(empty.model, script, about.context, about.model_name, contexts=contexts)
    return replace(placed, about=replace(about, sha256=sha256))


def _first_way(model: MagiModel, placed: _Placed) -> Edit:
    level = 0 if placed.place.marks else level_at(model, placed.place.span.start)
    return placed.edit(next(iter(shapes(placed.text, placed.form, level))))


class _TriedTogether:
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
        indexes = [index for region in self.model.regions if (index := self._hole(region.span.start)) is not None]
        return indexes == list(range(len(self.holes))) and all(region.span in self._owner for region in self.regions)

    @kept
    def regions(self) -> list[Region]:
        """The regions that came of them."""
        return [region for region in self.model.regions if self._hole(region.span.start) is not None]

    @property
    def scripts(self) -> list[Script]:
        """The scripts of the results."""
        return [self._owner[region.span] for region in self.regions]

    @kept
    def says_around(self) -> tuple[object, ...]:
        """The content of the document outside of the written text."""
        return meaning(self.model, *self.holes), structure(self.model, *self.holes)

    def is_data(self, texts: Sequence[str]) -> bool:
        """Return whether nothing that was written acts, also for readers who know no regions, and the texts come
        back."""
        document = self.model.document
        # A definition in one result would create links in another, which is not compared here.
        acting = [fence.span for fence in document.fences if fence.language == LANGUAGE]
        acting += [definition.span for definition in document.footnote_definitions]
        acting += [definition.span for definition in document.definitions]
        if any(self._hole(span.start) is not None for span in acting):
            return False
        if any(self._holds(span) for span in acting_in_a_chat(document)):
            return False
        comments = sorted(span.start for span in document.comments)
        counts = (bisect_left(comments, hole.end) - bisect_left(comments, hole.start) for hole in self.holes)
        kept = (region_text(self.model, region) for region in self.regions)
        return all(count == 2 for count in counts) and list(kept) == list(texts)

    def _holds(self, span: Span) -> bool:
        """Return whether a stretch overlaps a span."""
        index = bisect_right(self.holes, span.start, key=_start)
        beside = self.holes[max(0, index - 1) : index + 1]
        return any(span.start < hole.end and hole.start < span.end for hole in beside)

    @kept
    def _owner(self) -> dict[Span, Script]:
        return {region.span: script for script, region in owners_of(self.model).pairs}

    def _hole(self, offset: int) -> int | None:
        """Return the number of the stretch in which a place lies."""
        index = bisect_right(self.holes, offset, key=_start) - 1
        return index if index >= 0 and offset in self.holes[index] else None


def _start(span: Span) -> int:
    return span.start


# Whether edits leave the rest of a document unchanged (X19): a reading in, its content outside of given ranges out.


class _Spanned(Protocol):
    """An element of a document."""

    @property
    def span(self) -> Span:
        """Where it stands."""


E = TypeVar("E", bound=_Spanned)


class OutsideStretches(Struct, frozen=True):
    """Places outside of stretches, which are apart and in order. ``ends`` are theirs, ``cut`` the length of all up to
    each."""

    holes: tuple[Span, ...]
    ends: tuple[int, ...]
    cut: tuple[int, ...]

    def place(self, offset: int) -> int:
        """Return the place without the stretches; any place in one is its beginning."""
        before = bisect_right(self.ends, offset)
        if before < len(self.holes):
            offset = min(offset, self.holes[before].start)
        return offset - (self.cut[before - 1] if before else 0)

    def spans(self, spans: Iterable[Span]) -> list[tuple[int, int]]:
        """Return the spans that start outside."""
        return [(self.place(span.start), self.place(span.end)) for span in spans if self.outside(span.start)]

    def each(self, elements: Iterable[E], content_of: Callable[[E], object]) -> list[tuple[int, int, object]]:
        """Return the elements that start outside, with their content."""
        return [
            (self.place(element.span.start), self.place(element.span.end), content_of(element))
            for element in elements
            if self.outside(element.span.start)
        ]

    def starts(self, spans: Iterable[Span]) -> list[int]:
        """Return where the spans that start outside do so: a container ends with the results in it."""
        return [self.place(span.start) for span in spans if self.outside(span.start)]

    def outside(self, offset: int) -> bool:
        """Return whether a place lies outside."""
        index = bisect_right(self.ends, offset)
        return index == len(self.holes) or offset not in self.holes[index]


def outside_of(holes: Iterable[Span]) -> OutsideStretches:
    """Return what lies around stretches that are apart."""
    ordered = tuple(sorted(holes))
    return OutsideStretches(ordered, tuple(span.end for span in ordered), tuple(accumulate(map(len, ordered))))


def meaning(model: MagiModel, *holes: Span) -> tuple[object, ...]:
    """Return what acts or is relied on: front matter, scripts, relationships, regions, stray markers; the lines of a
    chat."""
    outside = outside_of(holes)
    return (
        (model.front.present, model.front.complete, model.front.body.start, model.front.value),
        [(outside.spans([script.fence.span]), script.fence.containers, script.data) for script in model.scripts],
        [
            (outside.spans([relationship.span]), relationship.label, relationship.data)
            for relationship in model.relationships
        ],
        [outside.spans(relationship.referenced_at) for relationship in model.relationships],
        outside.each(model.regions, lambda region: (region.about, outside.place(region.content.start))),
        outside.spans(model.stray_markers),
        outside.spans(acting_in_a_chat(model.document)),
    )


def acting_in_a_chat(document: Document) -> tuple[Span, ...]:
    """Return what acts where the document is read as a chat (P3, P9): message headings and configuration lines."""
    headings = tuple(heading.span for heading in find_headings(document)[0])
    lines = find_lines(document, tuple(heading.start for heading in headings)).config
    return (*headings, *(line.span for line in lines))


def structure(model: MagiModel, *holes: Span, loose: bool = False) -> tuple[object, ...]:
    """Return all that the Markdown of the rest is: headings and their sections and anchors, notes, links, code,
    comments, lists. The text being the same, places say it all.

    ``loose`` leaves out whether items of lists are paragraphs: a blank line anywhere in a list makes them so.
    """
    outside, document = outside_of(holes), model.document
    return (
        _is_titled_inside(model, outside),
        outside.each(document.headings, lambda heading: (heading.level, heading.nested)),
        [
            (section.anchor, *_end(outside, section))
            for section in document.sections
            if outside.outside(section.span.start)
        ],
        outside.each(document.footnote_definitions, lambda definition: definition.label),
        outside.each(document.footnote_references, lambda reference: reference.label),
        outside.each(document.undefined_footnotes, lambda reference: reference.label),
        outside.each(document.links, _target),
        outside.each(document.images, _target),
        outside.each(document.definitions, _target),
        outside.each(document.wikilinks, lambda wikilink: wikilink.target),
        outside.each(document.fences, lambda fence: (fence.info, fence.closed, fence.containers)),
        outside.each(document.html, lambda html: html.block),
        [] if loose else outside.each(document.paragraphs, lambda paragraph: paragraph.nested),
        *map(outside.spans, (document.indented_code, document.comments)),
        outside.spans(span.span for span in document.code_spans),
        *map(outside.starts, (document.quotes, document.lists, document.items)),
    )


def depth(model: MagiModel, offset: int) -> int:
    """In how many quotations and items of lists a place lies."""
    return sum(offset in span for span in (*model.document.quotes, *model.document.items))


def _is_titled_inside(model: MagiModel, outside: OutsideStretches) -> bool:
    """Return whether a document without a `title` takes its name from a heading inside."""
    first = next((heading for heading in model.document.headings if heading.level == 1 and not heading.nested), None)
    return model.title is None and first is not None and not outside.outside(first.span.start)


def _target(link: Link | LinkDefinition) -> tuple[str, str]:
    return link.destination, link.title


def _end(outside: OutsideStretches, section: Section) -> tuple[int, ...]:
    """Return where a section ends; one in a list or quotation ends with that, wherever the results in it end."""
    return () if section.heading.nested else (outside.place(section.span.end),)
