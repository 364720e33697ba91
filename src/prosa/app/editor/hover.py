"""Hover: the description of the item at an offset (a field, a value, a name of a template, a link, an id, a rule, an
action), and the preview of a document or a part of it, in a few lines of Markdown.

Text of documents is included as plain text, so that an editor shows no picture and follows no link of an author. Fields
are explained by the tables that check them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.complete_template import members_at, template_at_cursor
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.cursor import CursorContext
from prosa.app.editor.definition import definitions
from prosa.app.editor.targets import section_named
from prosa.corpus.snippet import snippet
from prosa.data import Value
from prosa.dialects.magi.choosing import State, state_of
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.mdh.model import ActionModel
from prosa.dialects.prapti.configuration import effective
from prosa.dialects.prapti.fields import ABOUT_ACTIONS, path_of, setting_of
from prosa.dialects.reading import DialectReading
from prosa.dialects.shapes import Member, member_at
from prosa.dialects.table import DOCUMENT_SUFFIXES, MAGI, MARKDOWNLANG, MDH, PRAPTI, dialect
from prosa.document.model import Section
from prosa.document.standing import standing
from prosa.graph.records import title_of
from prosa.regex import regex
from prosa.render.plain import safe
from prosa.rules.findings import MARK
from prosa.rules.registry import find_rule, page_of
from prosa.schema import describe_inputs
from prosa.schema.inputs import InputField
from prosa.settings.model import PROJECT_FILES, SETTINGS
from prosa.site.identity import summary_of
from prosa.source import Span
from prosa.template.funcs import ABOUT, KEYWORDS_ABOUT

MAX_LINE = 2_000
"""Maximum number of characters on each side of an offset that are read."""

MAX_PAGE = 40
"""Lines of the page of a rule."""

_RULE = regex(r"[\w-]+")
_CONFIG = regex(r"[ \t]{0,3}(?:>[ \t]{0,4})*(?://)?%%?!?[ \t]*(?P<name>[\w.-]+)")
_KEY = regex(r"[ \t]*(?P<name>[\w-]+)[ \t]*=")
_EXAMPLES = "\n## What to do\n"

STATES: dict[State, str] = {
    "absent": "it has no result yet",
    "fresh": "its result is up to date",
    "stale": "its result was made from an earlier version",
    "edited": "its result was changed by hand",
}


class Hover(Struct, frozen=True):
    """``text`` is Markdown about the characters of ``place``."""

    place: DocumentSpan
    text: str


def hover(workspace: Workspace, path: Path, offset: int) -> Hover | None:
    """Return what stands at an offset."""
    cursor = CursorContext.at(workspace, path, offset)
    if cursor is None:
        return None
    looks: tuple[Callable[[CursorContext], Hover | None], ...] = (
        _rule,
        _template,
        _line,
        _linked,
        _script,
        _action,
        _data,
    )
    if path.name in PROJECT_FILES:
        looks = (_rule, _setting)
    return next((tooltip for look in looks if (tooltip := look(cursor)) is not None), None)


def _hover(cursor: CursorContext, span: Span, *parts: str) -> Hover | None:
    text = "\n\n".join(part for part in parts if part)
    return Hover(DocumentSpan(cursor.path, span.start, span.end), text) if text else None


def _word(cursor: CursorContext, pattern: str = "-") -> Span:
    """Return the word at the offset, with further characters that belong to one."""
    text, line = cursor.text, cursor.standing.line
    start = end = cursor.offset
    while start > line.start and (text[start - 1].isalnum() or text[start - 1] in f"_{pattern}"):
        start -= 1
    while end < line.end and (text[end].isalnum() or text[end] in f"_{pattern}"):
        end += 1
    return Span(start, end)


def _rule(cursor: CursorContext) -> Hover | None:
    """Return a rule that a suppression or the settings name."""
    line = cursor.standing.line
    if len(line) > MAX_LINE or (MARK not in line.of(cursor.text) and cursor.path.name not in PROJECT_FILES):
        return None
    span = _word(cursor)
    name = span.of(cursor.text)
    rule = find_rule(name) if len(name) > 2 and name != MARK else None
    if rule is None:
        return None
    page = page_of(rule).partition("\n")[2].strip().partition(_EXAMPLES)[0].splitlines()
    lines = page[:MAX_PAGE]
    if sum(row.startswith("````") for row in lines) % 2:
        lines.append("````")
    return _hover(cursor, span, f"**{rule.name}** · {rule.code} · {rule.severity}", "\n".join(lines))


def _setting(cursor: CursorContext) -> Hover | None:
    """Return a key of the settings."""
    match = _KEY.match(cursor.text, cursor.standing.line.start, cursor.standing.line.end)
    if match is None or not match.start("name") <= cursor.offset <= match.end("name"):
        return None
    known = next(
        (setting for setting in SETTINGS if setting.level == "project" and setting.path[-1] == match["name"]), None
    )
    if known is None:
        return None
    return _hover(cursor, Span(*match.span("name")), f"{code(known.key)} · default: {known.default}", known.doc)


# ---- data ----


def _data(cursor: CursorContext) -> Hover | None:
    """Return the meaning of a field, or that of a value or its field."""
    data = cursor.data
    if data is None or not len(data.place.span):
        return None
    place, name = data.place, data.place.span.of(cursor.text)
    if place.slot != "value":
        member = member_at(data.shapes, place.path, name)
        if member is not None and (place.slot == "key" or place.colon):
            return _hover(cursor, place.span, *_told(member))
    way = place.path[:-1] if place.path and place.path[-1] is None else place.path
    meaning = next((choice.about for shape in data.shapes for choice in shape.choices(place.path)
                    if choice.about and value_text(choice.value) == code(name)), "")  # fmt: skip
    field = member_at(data.shapes, way[:-1], way[-1] or "") if way else None
    return _hover(cursor, place.span, _sentence(meaning), *(_told(field) if field is not None else ()))


def _told(member: Member) -> tuple[str, str]:
    need = ", required" if member.required else ""
    return f"{code(member.name)} · {member.type}{need}", _sentence(member.about)


def _sentence(text: str) -> str:
    """Return the description in a table or a schema, as plain text except for code in backticks of Prosa's tables."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return plain(text)
    return "".join(code(part) if at % 2 else _spaced(part) for at, part in enumerate(parts))


def _spaced(part: str) -> str:
    """Return a text with the blanks at its ends, which `plain` takes for nothing."""
    lead = " " if part[:1].isspace() else ""
    trail = " " if part.strip() and part[-1:].isspace() else ""
    return f"{lead}{plain(part)}{trail}"


# ---- templates ----


def _template(cursor: CursorContext) -> Hover | None:
    """Return a name of the input, a variable, a function or a word of the template language."""
    match = template_at_cursor(cursor)
    if match is None:
        return None
    place, start = match
    span = place.span.shift(start)
    name = span.of(cursor.text)
    if place.slot == "name" and place.path is not None:
        member = next((candidate for candidate in members_at(cursor, place.path) if candidate.name == name), None)
        return _hover(cursor, span, *_told(member)) if member is not None else None
    if place.slot == "variable":
        path = place.variables.get(f"${name}")
        shown = ".".join("[]" if step is None else step for step in path) if path is not None else ""
        return _hover(cursor, span, f"{code(f'${name}')} holds {code(f'.{shown}')}") if path is not None else None
    about = ABOUT.get(name) or KEYWORDS_ABOUT.get(name) if place.slot == "word" else None
    return _hover(cursor, span, code(about[0]), _sentence(about[1])) if about is not None else None


# ---- chats ----


def _line(cursor: CursorContext) -> Hover | None:
    """Return the name in a configuration line of a chat."""
    line = cursor.standing.line
    match = _CONFIG.match(cursor.text, line.start, line.end) if cursor.dialect == "prapti" else None
    if match is None or not match.start("name") <= cursor.offset <= match.end("name"):
        return None
    name, span = match["name"], Span(*match.span("name"))
    if name in ABOUT_ACTIONS:
        return _hover(cursor, span, f"{code(name)} · a command", ABOUT_ACTIONS[name])
    setting = setting_of(name)
    model = cursor.reading.model_of(PRAPTI) if cursor.reading is not None else None
    value = effective(model).get(path_of(name)) if model is not None else None
    holds = f"In effect: {value_text(value.value)}" if value is not None and not value.problem else ""
    if setting is None:
        return _hover(cursor, span, code(path_of(name)), holds)
    return _hover(cursor, span, f"{code(setting.path)} · {setting.type}", setting.about, holds)


# ---- what leads elsewhere ----


def _linked(cursor: CursorContext) -> Hover | None:
    """Return the target of a link, a wikilink, an id, an import or a footnote."""
    made = definitions(cursor.workspace, cursor.path, cursor.offset)
    # A definition in this document is visible already.
    elsewhere = [definition for definition in made if definition.name != definition.origin]
    if not elsewhere:
        return None
    first = elsewhere[0]
    span = Span(first.origin.start, first.origin.end)
    about = [
        text for text in (_leads_to(cursor, definition.whole, definition.name) for definition in elsewhere[:3]) if text
    ]
    return _hover(cursor, span, *dict.fromkeys(about))


def _leads_to(cursor: CursorContext, whole: DocumentSpan, name: DocumentSpan) -> str:
    reading = cursor.workspace.reading(whole.path) if whole.path != cursor.path else cursor.reading
    if reading is None:
        return preview(cursor.workspace, whole.path)
    if whole.path == cursor.path and (note := _footnote(cursor, reading, whole)):
        return note
    action = next((model for model in _actions(reading) if model.node.span.start == whole.start), None)
    if action is not None:
        return _about_action(action)
    sections = reading.document.sections
    section = next((entry for entry in sections if entry.heading.content.start == name.start and whole.end), None)
    if whole.path == cursor.path and section is None:
        return _own_line(cursor, name)
    return preview_of(cursor.workspace, reading, whole.path, section)


def _own_line(cursor: CursorContext, place: DocumentSpan) -> str:
    """Return the line of the body that a name is defined on; a field is explained as a field."""
    if cursor.front is not None and place.start <= cursor.front.end:
        return ""
    line = standing(cursor.text, place.start).line
    return code(line.of(cursor.text)[:MAX_LINE]) if place.end else ""


def _footnote(cursor: CursorContext, reading: DialectReading[object], place: DocumentSpan) -> str:
    """Return a footnote of the document itself: its text, or the relationship that it holds."""
    note = next(
        (
            definition
            for definition in reading.document.footnote_definitions
            if definition.span.start <= place.start < definition.span.end
        ),
        None,
    )
    if note is None:
        return ""
    model = reading.model_of(MAGI)
    for relationship in model.relationships if model is not None else ():
        if label_key(relationship.label) == label_key(note.label):
            text = relationship.fields.text
            return _about_relationship(cursor, text("rel-type"), text("doc-id"), text("source-url"), text("rel-desc"))
    return plain(note.content.of(cursor.text)[:MAX_LINE])


def _about_relationship(
    cursor: CursorContext, rel: str | None, doc_id: str | None, url: str | None, about: str | None
) -> str:
    known = next((document for document in cursor.catalogue.documents if doc_id and doc_id in document.ids), None)
    target = f"**{plain(known.title or known.stem)}** ({code(known.path)})" if known is not None else ""
    lead = f"{code(rel or '')} {target or code(doc_id or url or '')}".strip()
    return "\n\n".join(part for part in (lead, plain(about or "")) if part)


def _actions(reading: DialectReading[object]) -> tuple[ActionModel, ...]:
    node = reading.model_of(MDH)
    return node.actions if node is not None else ()


def _action(cursor: CursorContext) -> Hover | None:
    """Return the action with an id, as a client would call it."""
    for action in _actions(cursor.reading) if cursor.reading is not None and cursor.dialect == "mdh" else ():
        if action.id is not None and action.id.span.start <= cursor.offset <= action.id.span.end:
            return _hover(cursor, action.id.span, _about_action(action))
    return None


def _about_action(action: ActionModel) -> str:
    called = f"{plain(action.verb)} {code(action.url.text if action.url else '')}"
    named = {entry.key.text: getattr(entry.value, "text", "") for entry in action.node}
    texts = (plain(named.get(name, "")) for name in ("title", "description"))
    return "\n\n".join(part for part in (called, *texts) if part)


def _script(cursor: CursorContext) -> Hover | None:
    """Return the id of an ai-script: how its result stands."""
    if cursor.standing.part != "fence" or cursor.dialect != "magi" or cursor.reading is None:
        return None
    model = cursor.reading.model_of(MAGI)
    for script in model.scripts if model is not None else ():
        span = script.span("script-id")
        if model is not None and "script-id" in script.fields and span.start <= cursor.offset <= span.end:
            return _hover(
                cursor, span, f"{code(script.address)}: {STATES[state_of(model, script)]}", _run(cursor, script.address)
            )
    return None


def _run(cursor: CursorContext, address: str) -> str:
    return f"Run it: {code(f'prosa run {cursor.here} {address}')}"


MAX_TEXT = 4_000
"""Characters of a part from which its first lines are taken."""

MAX_ROWS = 12
"""Inputs, outputs or actions that are listed."""

_TICKS = regex(r"`+")
_MARKUP = regex(r"[\\`*_\[\]<>~|]")
_LEADING = regex(r"\A(?:[#+-]|\d+(?=[.)]))")


def preview(workspace: Workspace, real: Path, fragment: str = "") -> str:
    """Return the preview of a document: its title, its topic, its beginning; with a fragment the section of that name.
    Empty if it cannot be read."""
    if real.suffix.lower() not in DOCUMENT_SUFFIXES:
        return code(EditorCorpus(workspace).path_of(real))
    reading = workspace.reading(real)
    if reading is None:
        return ""
    section = section_named(reading, fragment) if fragment else None
    return preview_of(workspace, reading, real, section)


def preview_of(workspace: Workspace, reading: DialectReading[object], real: Path, section: Section | None) -> str:
    """Return the same of a reading, or of a section of it."""
    path = EditorCorpus(workspace).path_of(real)
    title = title_of(reading, path)
    head = f"**{plain(title)}** · {dialect(reading.name).title} · {code(path)}"
    if section is not None:
        return _joined(head, f"**{plain(section.heading.plain)}**", _beginning(reading, section.span))
    return _joined(head, plain(summary_of(reading)), _interface(reading) or _beginning(reading, None))


def _joined(*parts: str) -> str:
    return "\n\n".join(dict.fromkeys(part for part in parts if part))


def _beginning(reading: DialectReading[object], span: Span | None) -> str:
    """Return the first lines of a part as a reader sees them."""
    document = reading.document
    whole = span or document.body
    text = document.source.text[whole.start : min(whole.end, whole.start + MAX_TEXT)]
    stripped = text.lstrip("\r\n")
    return plain(snippet(stripped, None, heading=span is not None or stripped.startswith("#")).text)


def _interface(reading: DialectReading[object]) -> str:
    """Return the input and output of a program, or the actions of a node."""
    program = reading.model_of(MARKDOWNLANG)
    if program is not None:
        taken = describe_inputs(program.input.value) if program.input is not None else ()
        fields = describe_inputs(program.output.value) if program.output is not None else ()
        return _joined(_rows("Takes", taken), _rows("Gives", fields))
    node = reading.model_of(MDH)
    if node is None or not node.actions:
        return ""
    called = ((action, action.url.text if action.url else "") for action in node.actions[:MAX_ROWS])
    lines = [f"- {code(model.id.text if model.id else '')} {plain(model.verb)} {code(url)}" for model, url in called]
    return "\n".join(("Actions:", "", *lines))


def _rows(title: str, fields: tuple[InputField, ...]) -> str:
    if not fields:
        return ""
    lines = [f"- {code(field.name)} {plain(_said(field))}" for field in fields[:MAX_ROWS]]
    more = [f"- and {len(fields) - MAX_ROWS} more"] if len(fields) > MAX_ROWS else []
    return "\n".join((f"{title}:", "", *lines, *more))


def _said(field: InputField) -> str:
    need = ", required" if field.required else ""
    about = f": {field.description}" if field.description else ""
    return f"{field.type}{need}{about}"


def plain(text: str) -> str:
    """Return a text as Markdown that shows it unchanged, on one line."""
    return _LEADING.sub(_escaped, _MARKUP.sub(_escaped, " ".join(safe(text).split())))


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}" if not match[0].isdigit() else f"{match[0]}\\"


def code(text: str) -> str:
    """Return a text as code within a line, whatever it holds."""
    line = " ".join(safe(text).split())
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}" if line else ""


def value_text(value: Value) -> str:
    """Return a value as a line shows it."""
    return code(value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value))
