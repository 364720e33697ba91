"""The article of a node, by dialect. In: a page. Out: a title heading if the text has one, parts, a table of contents.

What the writer of a document hides from people is left out: ai-script blocks and relationships of MAGI (M42),
configuration lines of a chat, the template of a program as anything but source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias, TypedDict

from msgspec import Struct

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.markdownlang.model import ProgramModel, SchemaModel
from prosa.dialects.prapti.model import ChatMessage, ChatModel
from prosa.dialects.ymj.model import YmjModel
from prosa.document import Document, parse
from prosa.render.json import dump
from prosa.render.page.excerpts import Quoting, with_quotes, without_comments
from prosa.render.page.highlight import highlighted
from prosa.render.page.model import Page, fragment, in_query, site_url
from prosa.render.page.state import Unseen
from prosa.render.page.templates import Html, html
from prosa.render.page.writer import joined_maths
from prosa.schema import describe_inputs
from prosa.schema.wording import shown_value
from prosa.source import SourceText

SCRIPT_LANGUAGE = "ai-script"
MAX_FIELDS = 200
"""Rows of a table of inputs or outputs."""


class Body(Struct, frozen=True):
    """``title`` is the heading of level 1 at the start of the text, empty without one; ``lead`` a description that the
    dialect stores outside the text."""

    title: Html
    parts: tuple[Part, ...]
    contents: tuple[Entry, ...] = ()
    lead: str = ""


def body_of(page: Page) -> Body:
    """Return the article of the page."""
    reading = page.view.reading
    if reading is None:
        return _plain(page, parse(SourceText(page.view.body, page.view.path or page.view.url)))
    model = reading.model
    if isinstance(model, MagiModel):
        return _plain(page, reading.document, _unseen(model))
    if isinstance(model, YmjModel):
        return _record(page, model)
    if isinstance(model, ChatModel):
        return _chat(page, model)
    if isinstance(model, ProgramModel):
        return _program(model)
    return _plain(page, reading.document)


def _plain(page: Page, document: Document, unseen: Unseen | None = None) -> Body:
    if page.vault and unseen is None:
        document = without_comments(document)
    document = _joined(document)
    rendered = _headed(page, document, render_document(page, document, unseen))
    return Body(rendered.title, rendered.parts, contents(document, titled=bool(rendered.title)))


def _joined(document: Document) -> Document:
    """Return the document with each block of mathematics on one line, so that nothing in it is a heading."""
    text = joined_maths(document.parsed.text)
    return document if text == document.parsed.text else parse(SourceText(text, document.source.path))


def _headed(page: Page, document: Document, rendered: Rendered) -> Rendered:
    """Return the text including its first heading, unless that serves as the title of the page: it is equal, or,
    outside vaults, it names the document (X45)."""
    if not rendered.title or " ".join(document.heading_texts[0].split()) == page.view.title:
        return rendered
    if document.title is not None and not page.vault:
        return rendered
    return Rendered("", ({"kind": "html", "html": rendered.title}, *rendered.parts))


def _unseen(model: MagiModel) -> Unseen:
    """Return blocks and relationships, by their numbers in the document."""
    scripts = {block.fence.span.start: block for block in model.scripts}
    held: dict[int, Script | None] = {}
    for number, fence in enumerate(model.document.fences):
        script = scripts.get(fence.span.start)
        if script or fence.language == SCRIPT_LANGUAGE:
            held[number] = script if script and is_interactive(script) else None
    starts = {relationship.definition.span.start for relationship in model.relationships}
    notes = [(at, definition) for at, definition in enumerate(model.document.footnote_definitions)]
    hidden = frozenset(at for at, definition in notes if definition.span.start in starts)
    shown = {definition.label.casefold() for at, definition in notes if at not in hidden}
    labels = frozenset(definition.label.casefold() for at, definition in notes if at in hidden) - shown
    return Unseen(held, hidden, labels)


def _record(page: Page, model: YmjModel) -> Body:
    body = _plain(page, model.document)
    footer = model.footer_value
    if not footer:
        return body
    panel: _SourcePart = {"kind": "source", "title": "Footer", **_code(dump(footer, indent=2), "json"), "open": False}
    return Body(body.title, (*body.parts, panel), body.contents)


def _chat(page: Page, model: ChatModel) -> Body:
    anchors = _Anchors(deque((section.heading.span.start, section.anchor) for section in model.document.sections))
    quoting = Quoting(page.view.path)
    parts: list[Part] = []
    entries: list[Entry] = []
    title = ""
    for number, message in enumerate(model.messages):
        own = anchors.below(message.body.start) if message.heading else []
        inside = anchors.below(message.body.end)
        rendered = render_text(page, message.content, inside, scope=f"{number}:", quoting=quoting)
        if message.heading is None:  # what stands above the first message
            title, (*parts,) = _headed(page, model.document, rendered)
            continue
        inner: list[Part] = [{"kind": "html", "html": rendered.title}] if rendered.title else []
        part = _message(message, [*inner, *rendered.parts], *own[:1])
        parts.append(part)
        entries.append(Entry(_who(message), part["href"], 1))
    few = len(entries) < FEWEST_CONTENTS
    return Body(title, tuple(parts), () if few else tuple(entries[:MAX_CONTENTS]))


class _Anchors(NamedTuple):
    """The places of headings, and their anchors that are not used yet."""

    left: deque[tuple[int, str]]

    def below(self, end: int) -> list[str]:
        """Take those in front of an offset."""
        taken: list[str] = []
        while self.left and self.left[0][0] < end:
            taken.append(self.left.popleft()[1])
        return taken


def _message(message: ChatMessage, parts: list[Part], anchor: str = "") -> _MessagePart:
    why = "" if message.sent else "disabled" if message.disabled else "hidden" if message.hidden else "not sent"
    return {
        "kind": "message",
        "who": _who(message),
        "by": "model" if message.by_model else "person",
        "why": why,
        "anchor": anchor,
        "href": fragment(anchor),
        "parts": parts,
    }


def _who(message: ChatMessage) -> str:
    return f"{message.role.lstrip('_')} · {message.name}" if message.name else message.role.lstrip("_")


def _program(model: ProgramModel) -> Body:
    parts: list[Part] = []
    for title, schema in (("Input", model.input), ("Output", model.output)):
        if schema is not None:
            parts.append(_schema(title, schema))
    if model.body.strip():
        text = model.body.strip("\r\n")
        parts.append({"kind": "source", "title": "Template", **_code(text, "markdown"), "open": True})
    lead = "" if model.derived_description else model.description
    return Body("", tuple(parts), lead=lead)


def _schema(title: str, model: SchemaModel) -> _SchemaPart:
    fields = describe_inputs(model.value)
    rows: list[dict[str, str | bool]] = [
        {
            "name": field.name,
            "type": field.type,
            "required": field.required,
            "description": field.description,
            "default": shown_value(field.default) if field.default is not None else "",
        }
        for field in fields[:MAX_FIELDS]
    ]
    return {"kind": "schema", "title": title, "rows": rows, **_code(dump(model.value, indent=2), "json")}


def _code(text: str, language: str) -> _CodeBlock:
    return {"language": language, "code": html(highlighted(text, language))}


# Markdown as parts of a page: written, cleaned, with the scripts that a reader may start between them.
#
# In: a parsed document, or a text with the anchors of its headings. Out: parts and, apart, the heading that is a
# title.


class _HtmlPart(TypedDict):
    kind: Literal["html"]
    html: Html


class _CodeBlock(TypedDict):
    language: str
    code: Html


class _SourcePart(_CodeBlock):
    kind: Literal["source"]
    title: str
    open: bool


class _SchemaPart(_CodeBlock):
    kind: Literal["schema"]
    title: str
    rows: list[dict[str, str | bool]]


class _MessagePart(TypedDict):
    kind: Literal["message"]
    who: str
    by: Literal["model", "person"]
    why: str
    anchor: str
    href: str
    parts: list[Part]


class _ScriptPart(TypedDict):
    kind: Literal["script"]
    type: str
    address: str
    label: str
    placeholder: str
    state: Literal["ready", "sign-in", "off"]
    url: str
    sign_in: str
    csrf: str


Part: TypeAlias = "_HtmlPart | _SourcePart | _SchemaPart | _MessagePart | _ScriptPart"
"""A part of an article: its ``kind``, which chooses the template, and what that needs."""

MAX_CONTENTS = 200
"""Entries of a table of contents."""

FEWEST_CONTENTS = 3
"""Fewer than these are found without one."""

_DEEPEST, _DEPTHS = 3, 2


class Rendered(NamedTuple):
    """``title`` is the heading of level 1 at the start of the text, empty without one; ``parts`` the rest."""

    title: Html
    parts: tuple[Part, ...]


class Entry(Struct, frozen=True):
    """An entry of a table of contents; ``depth`` is 1 or 2."""

    text: str
    href: str
    depth: int


def render_document(page: Page, document: Document, unseen: Unseen | None = None) -> Rendered:
    """Return the whole Markdown of a document."""
    anchors = [section.anchor for section in document.sections]
    return render_text(page, document.parsed.text, anchors, unseen=unseen)


def render_text(
    page: Page,
    text: str,
    anchors: Iterable[str],
    *,
    unseen: Unseen | None = None,
    scope: str = "",
    quoting: Quoting | None = None,
) -> Rendered:
    """Return a text whose headings have these ``anchors``; ``scope`` keeps its footnotes apart from others on the
    page, and ``quoting`` limits quotations."""
    quoting = quoting or Quoting(page.view.path)
    written, cleaned = with_quotes(page, text, quoting, anchors=anchors, unseen=unseen, scope=scope)
    parts: list[Part] = [
        {"kind": "html", "html": html(piece)} if isinstance(piece, str) else script_part(page, piece)
        for piece in cleaned
    ]
    if written.titled and parts[0]["kind"] == "html":
        return Rendered(parts[0]["html"], tuple(parts[1:]))
    return Rendered("", tuple(parts))


def contents(document: Document, *, titled: bool) -> tuple[Entry, ...]:
    """Return the table of contents, of two levels; empty if there are too few headings. ``titled`` is true if the
    first heading is the title of the page."""
    sections = [section for section in document.sections[titled:] if section.anchor and not section.heading.nested]
    own = [section for section in sections if section.level <= _DEEPEST]
    top = min((section.level for section in own), default=0)
    own = [section for section in own if section.level < top + _DEPTHS]
    if len(own) < FEWEST_CONTENTS:
        return ()
    return tuple(
        Entry(section.heading.plain, fragment(section.anchor), section.level - top + 1)
        for section in own[:MAX_CONTENTS]
    )


INTERACTIVE = ("button", "inputbox")
_LABELS = {"button": "Run", "inputbox": "Send"}


def is_interactive(script: Script) -> bool:
    """Return whether a reader gets something to press."""
    return script.interactive_type in INTERACTIVE


def script_part(page: Page, script: Script) -> Part:
    """Return the part of the page that stands for a script. ``state`` is `ready`, `sign-in` or `off`."""
    frame, kind = page.frame, script.interactive_type or "button"
    return {
        "kind": "script",
        "type": kind,
        "address": script.address,
        "label": script.fields.text("interactive-label") or _LABELS.get(kind, "Run"),
        "placeholder": script.fields.text("interactive-placeholder") or "",
        "state": ("ready" if frame.signed_in else "sign-in") if frame.can_run else "off",
        "url": site_url(frame, f"/mdh/scripts{page.view.url}"),
        "sign_in": f"{frame.prefix}/mdh/sign-in?back={in_query(frame.prefix + page.view.url)}",
        "csrf": frame.csrf,
    }
