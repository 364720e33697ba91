"""Hover: the description of the item at an offset: a field, a value, a name of a template, a link, an id, a rule, an
action.

In: a workspace, a real path, an offset. Out: a `Hover`, Markdown about a range of characters, or None. Text of
documents is included as plain text (`preview`). Fields are explained by the tables that check them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from prosa.app.check.workspace import Workspace
from prosa.app.editor.complete_template import members_at, template_spot
from prosa.app.editor.definition import definitions
from prosa.app.editor.place import Place
from prosa.app.editor.preview import code, plain, preview, preview_of, value_text
from prosa.app.editor.spot import EditorSpot
from prosa.dialects.magi.choosing import State, state_of
from prosa.dialects.magi.relationships import label_key
from prosa.dialects.mdh.model import ActionModel
from prosa.dialects.prapti.configuration import effective
from prosa.dialects.prapti.fields import ABOUT_ACTIONS, path_of, setting_of
from prosa.dialects.reading import DialectReading
from prosa.dialects.shapes import Member, member_at
from prosa.dialects.table import MAGI, MDH, PRAPTI
from prosa.document.standing import standing
from prosa.regex import regex
from prosa.rules.registry import find_rule, page_of
from prosa.rules.suppressions import MARK
from prosa.settings.model import PROJECT_FILES, SETTINGS
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
    "fresh": "its result is what it asks for now",
    "stale": "its result was made of something else than it asks for now",
    "edited": "its result was changed by hand",
}


class Hover(Struct, frozen=True):
    """``text`` is Markdown about the characters of ``place``."""

    place: Place
    text: str


def hover(workspace: Workspace, path: Path, offset: int) -> Hover | None:
    """Return what stands at an offset."""
    spot = EditorSpot.at(workspace, path, offset)
    if spot is None:
        return None
    looks: tuple[Callable[[EditorSpot], Hover | None], ...] = (
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
    return next((found for look in looks if (found := look(spot)) is not None), None)


def _hover(spot: EditorSpot, span: Span, *parts: str) -> Hover | None:
    text = "\n\n".join(part for part in parts if part)
    return Hover(Place(spot.path, span.start, span.end), text) if text else None


def _word(spot: EditorSpot, pattern: str = "-") -> Span:
    """Return the word at the offset, with further characters that belong to one."""
    text, line = spot.text, spot.standing.line
    start = end = spot.offset
    while start > line.start and (text[start - 1].isalnum() or text[start - 1] in f"_{pattern}"):
        start -= 1
    while end < line.end and (text[end].isalnum() or text[end] in f"_{pattern}"):
        end += 1
    return Span(start, end)


def _rule(spot: EditorSpot) -> Hover | None:
    """Return a rule that a suppression or the settings name."""
    line = spot.standing.line
    if len(line) > MAX_LINE or (MARK not in line.of(spot.text) and spot.path.name not in PROJECT_FILES):
        return None
    span = _word(spot)
    name = span.of(spot.text)
    rule = find_rule(name) if len(name) > 2 and name != MARK else None
    if rule is None:
        return None
    page = page_of(rule).partition("\n")[2].strip().partition(_EXAMPLES)[0].splitlines()
    lines = page[:MAX_PAGE]
    if sum(each.startswith("````") for each in lines) % 2:
        lines.append("````")
    return _hover(spot, span, f"**{rule.name}** · {rule.code} · {rule.severity}", "\n".join(lines))


def _setting(spot: EditorSpot) -> Hover | None:
    """Return a key of the settings."""
    found = _KEY.match(spot.text, spot.standing.line.start, spot.standing.line.end)
    if found is None or not found.start("name") <= spot.offset <= found.end("name"):
        return None
    known = next((each for each in SETTINGS if each.level == "project" and each.path[-1] == found["name"]), None)
    if known is None:
        return None
    return _hover(spot, Span(*found.span("name")), f"{code(known.key)} · default: {known.default}", known.doc)


# ---- data ----


def _data(spot: EditorSpot) -> Hover | None:
    """Return the meaning of a field, or that of a value or its field."""
    data = spot.data
    if data is None or not len(data.place.span):
        return None
    place, name = data.place, data.place.span.of(spot.text)
    if place.slot != "value":
        member = member_at(data.shapes, place.path, name)
        if member is not None and (place.slot == "key" or place.colon):
            return _hover(spot, place.span, *_told(member))
    way = place.path[:-1] if place.path and place.path[-1] is None else place.path
    meaning = next((each.about for shape in data.shapes for each in shape.choices(place.path)
                    if each.about and value_text(each.value) == code(name)), "")  # fmt: skip
    field = member_at(data.shapes, way[:-1], way[-1] or "") if way else None
    return _hover(spot, place.span, _sentence(meaning), *(_told(field) if field is not None else ()))


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


def _template(spot: EditorSpot) -> Hover | None:
    """Return a name of the input, a variable, a function or a word of the template language."""
    found = template_spot(spot)
    if found is None:
        return None
    place, start = found
    span = place.span.shift(start)
    name = span.of(spot.text)
    if place.slot == "name" and place.path is not None:
        member = next((each for each in members_at(spot, place.path) if each.name == name), None)
        return _hover(spot, span, *_told(member)) if member is not None else None
    if place.slot == "variable":
        path = place.variables.get(f"${name}")
        shown = ".".join("[]" if step is None else step for step in path) if path is not None else ""
        return _hover(spot, span, f"{code(f'${name}')} holds {code(f'.{shown}')}") if path is not None else None
    about = ABOUT.get(name) or KEYWORDS_ABOUT.get(name) if place.slot == "word" else None
    return _hover(spot, span, code(about[0]), _sentence(about[1])) if about is not None else None


# ---- chats ----


def _line(spot: EditorSpot) -> Hover | None:
    """Return the name in a configuration line of a chat."""
    line = spot.standing.line
    found = _CONFIG.match(spot.text, line.start, line.end) if spot.dialect == "prapti" else None
    if found is None or not found.start("name") <= spot.offset <= found.end("name"):
        return None
    name, span = found["name"], Span(*found.span("name"))
    if name in ABOUT_ACTIONS:
        return _hover(spot, span, f"{code(name)} · a command", ABOUT_ACTIONS[name])
    setting = setting_of(name)
    model = spot.reading.model_of(PRAPTI) if spot.reading is not None else None
    value = effective(model).get(path_of(name)) if model is not None else None
    holds = f"In effect: {value_text(value.value)}" if value is not None and not value.problem else ""
    if setting is None:
        return _hover(spot, span, code(path_of(name)), holds)
    return _hover(spot, span, f"{code(setting.path)} · {setting.type}", setting.about, holds)


# ---- what leads elsewhere ----


def _linked(spot: EditorSpot) -> Hover | None:
    """Return the target of a link, a wikilink, an id, an import or a footnote."""
    made = definitions(spot.workspace, spot.path, spot.offset)
    found = [each for each in made if each.name != each.origin]  # a definition in this document is visible already
    if not found:
        return None
    first = found[0]
    span = Span(first.origin.start, first.origin.end)
    about = [each for each in (_leads_to(spot, each.whole, each.name) for each in found[:3]) if each]
    return _hover(spot, span, *dict.fromkeys(about))


def _leads_to(spot: EditorSpot, whole: Place, name: Place) -> str:
    reading = spot.workspace.reading(whole.path) if whole.path != spot.path else spot.reading
    if reading is None:
        return preview(spot.workspace, whole.path)
    if whole.path == spot.path and (note := _footnote(spot, reading, whole)):
        return note
    action = next((each for each in _actions(reading) if each.node.span.start == whole.start), None)
    if action is not None:
        return _about_action(action)
    sections = reading.document.sections
    section = next((each for each in sections if each.heading.content.start == name.start and whole.end), None)
    if whole.path == spot.path and section is None:
        return _own_line(spot, name)
    return preview_of(spot.workspace, reading, whole.path, section)


def _own_line(spot: EditorSpot, place: Place) -> str:
    """Return the line of the body that a name is defined on; a field is explained as a field."""
    if spot.front is not None and place.start <= spot.front.end:
        return ""
    found = standing(spot.text, place.start).line
    return code(found.of(spot.text)[:MAX_LINE]) if place.end else ""


def _footnote(spot: EditorSpot, reading: DialectReading[object], place: Place) -> str:
    """Return a footnote of the document itself: its text, or the relationship that it holds."""
    note = next(
        (each for each in reading.document.footnote_definitions if each.span.start <= place.start < each.span.end), None
    )
    if note is None:
        return ""
    model = reading.model_of(MAGI)
    for each in model.relationships if model is not None else ():
        if label_key(each.label) == label_key(note.label):
            return _about_relationship(spot, each.fields.text("rel-type"), each.fields.text("doc-id"),
                                       each.fields.text("source-url"), each.fields.text("rel-desc"))  # fmt: skip
    return plain(note.content.of(spot.text)[:MAX_LINE])


def _about_relationship(
    spot: EditorSpot, rel: str | None, doc_id: str | None, url: str | None, about: str | None
) -> str:
    known = next((each for each in spot.catalogue.documents if doc_id and doc_id in each.ids), None)
    target = f"**{plain(known.title or known.stem)}** ({code(known.path)})" if known is not None else ""
    lead = f"{code(rel or '')} {target or code(doc_id or url or '')}".strip()
    return "\n\n".join(part for part in (lead, plain(about or "")) if part)


def _actions(reading: DialectReading[object]) -> tuple[ActionModel, ...]:
    node = reading.model_of(MDH)
    return node.actions if node is not None else ()


def _action(spot: EditorSpot) -> Hover | None:
    """Return the action with an id, as a client would call it."""
    for each in _actions(spot.reading) if spot.reading is not None and spot.dialect == "mdh" else ():
        if each.id is not None and each.id.span.start <= spot.offset <= each.id.span.end:
            return _hover(spot, each.id.span, _about_action(each))
    return None


def _about_action(action: ActionModel) -> str:
    called = f"{plain(action.verb)} {code(action.url.text if action.url else '')}"
    named = {entry.key.text: getattr(entry.value, "text", "") for entry in action.node}
    said = (plain(named.get(name, "")) for name in ("title", "description"))
    return "\n\n".join(part for part in (called, *said) if part)


def _script(spot: EditorSpot) -> Hover | None:
    """Return the id of an ai-script: how its result stands."""
    if spot.standing.part != "fence" or spot.dialect != "magi" or spot.reading is None:
        return None
    model = spot.reading.model_of(MAGI)
    for each in model.scripts if model is not None else ():
        span = each.span("script-id")
        if model is not None and "script-id" in each.fields and span.start <= spot.offset <= span.end:
            return _hover(
                spot, span, f"{code(each.address)}: {STATES[state_of(model, each)]}", _run(spot, each.address)
            )
    return None


def _run(spot: EditorSpot, address: str) -> str:
    return f"Run it: {code(f'prosa run {spot.here} {address}')}"
