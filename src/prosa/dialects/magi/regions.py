"""Managed regions: results that a run has written into a document (X19). A parsed document in, regions out.

A region stands between two HTML comments, `<!-- ai-result {"script-id": …, "sha256": …} -->` and `<!-- /ai-result
-->`, each a block of its own. Its content is data: no fence in it is a script and no footnote a relationship. A marker
without its partner makes no region.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.data import JsonError, Value, parse_json
from prosa.document import Document
from prosa.regex import regex
from prosa.source import Span

Form: TypeAlias = Literal["plain", "fenced", "image"]
"""The form of a result in its region: Markdown, the code of one fence, or the address of one image."""

END = "<!-- /ai-result -->"
"""The comment behind a result."""

MAX_MARKS = 100
"""Maximum number of escapes in one result, each a number in its marker; a result with more is put in a fence."""

_MARKER = regex(r"<!--[ \t]*(?:ai-result[ \t]+(?P<about>\{[^\r\n]*\})|(?P<end>/ai-result))[ \t]*-->")
_FORMS: Mapping[object, Form] = {"plain": "plain", "fenced": "fenced", "image": "image"}
_ENDS_COMMENT = regex(r"[<>]|(?<=-)-")


class About(Struct, frozen=True):
    """The data in the first marker of a region.

    ``sha256`` is the hash of everything that produced the result, ``written`` that of the written text, None if
    absent. ``model_name`` and ``context`` are the requested model and the context mode of the run; ``answered_by`` is
    the model that answered according to the service, and ``cut`` is true if the answer ends at its length limit.
    ``escaped`` are the places in the result before which a backslash was added; ``closed`` is true if a line was added
    that closes an open fence.
    """

    script_id: str
    sha256: str
    written: str | None = None
    model_name: str = ""
    context: str = "document"
    form: Form = "plain"
    escaped: tuple[int, ...] = ()
    closed: bool = False
    answered_by: str = ""
    cut: bool = False


class Region(Struct, frozen=True):
    """The result of one script. ``span`` covers both markers, ``content`` what is between them; ``sha256`` is the hash
    of everything that produced it, as written."""

    script_id: str
    sha256: str
    span: Span
    content: Span
    about: About

    @property
    def opening(self) -> Span:
        """The first marker."""
        return Span(self.span.start, self.content.start)


def read_regions(document: Document) -> tuple[tuple[Region, ...], tuple[Span, ...]]:
    """Return the regions in order, and the markers that belong to none."""
    regions: list[Region] = []
    stray: list[Span] = []
    opened: tuple[Span, About] | None = None
    for html in document.html:
        match = _MARKER.fullmatch(html.text.strip()) if html.block and html.comment else None
        if match is None:
            continue
        if match["end"] is None:
            about = _about(match["about"])
            if about is None or opened is not None:
                stray.append(html.span)
            else:
                opened = (html.span, about)
        elif opened is None:
            stray.append(html.span)
        else:
            start, about = opened
            span = Span(start.start, html.span.end)
            regions.append(Region(about.script_id, about.sha256, span, Span(start.end, html.span.start), about))
            opened = None
    return tuple(regions), tuple(sorted((*stray, *((opened[0],) if opened else ()))))


def inside(regions: Sequence[Region]) -> Callable[[int], bool]:
    """Return a function that says whether a place lies inside one of the regions, which are in order."""
    starts = [region.span.start for region in regions]

    def within(offset: int) -> bool:
        index = bisect_right(starts, offset) - 1
        return index >= 0 and offset in regions[index].span

    return within


def marker(about: About) -> str:
    """Return the first marker of a region: one line that no reader of HTML takes for the end of the comment."""
    fields: dict[str, Value] = {
        "script-id": about.script_id,
        "sha256": about.sha256,
        "written": about.written,
        "model": about.model_name,
    }
    if about.answered_by:
        fields["answered_by"] = about.answered_by
    fields["context"] = about.context
    if about.cut:
        fields["cut"] = True
    if about.form != "plain":
        fields["form"] = about.form
    if about.escaped:
        fields["escaped"] = list(about.escaped)
    if about.closed:
        fields["closed"] = True
    text = _ENDS_COMMENT.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(fields))
    return f"<!-- ai-result {text} -->"


def _about(text: str) -> About | None:
    try:
        fields = parse_json(text)
    except JsonError:
        return None
    if not isinstance(fields, dict):
        return None
    script_id, sha256 = fields.get("script-id"), fields.get("sha256")
    if not isinstance(script_id, str) or not isinstance(sha256, str):
        return None
    return About(
        script_id,
        sha256,
        written=_text(fields.get("written")),
        model_name=_text(fields.get("model")) or "",
        context=_text(fields.get("context")) or "document",
        form=_form(fields.get("form")),
        escaped=_places(fields.get("escaped")),
        closed=fields.get("closed") is True,
        answered_by=_text(fields.get("answered_by")) or "",
        cut=fields.get("cut") is True,
    )


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None


def _form(value: Value) -> Form:
    return _FORMS.get(value, "plain") if isinstance(value, str) else "plain"


def _places(value: Value) -> tuple[int, ...]:
    """Ascending numbers; a list with anything else in it was not written by us."""
    items = value if isinstance(value, list) and len(value) <= MAX_MARKS else []
    places = tuple(item for item in items if isinstance(item, int) and not isinstance(item, bool) and item >= 0)
    return places if len(places) == len(items) and list(places) == sorted(set(places)) else ()
