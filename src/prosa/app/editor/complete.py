"""Completion at an offset, by what may be written there; and in settings: tables, keys and values of `prosa.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from prosa.app.check.workspace import Workspace
from prosa.app.editor.candidates import NOTHING, Candidate, Completions, completions
from prosa.app.editor.complete_body import body_completions, fence_completions, front_words, rule_names
from prosa.app.editor.complete_data import data_completions
from prosa.app.editor.complete_documents import attachments
from prosa.app.editor.complete_template import template_at_cursor, template_completions
from prosa.app.editor.cursor import CursorContext
from prosa.dialects.magi.fields import REL_TYPES
from prosa.dialects.table import DIALECTS
from prosa.regex import regex
from prosa.settings.model import PROJECT_FILES, PYPROJECT_FILE, SETTINGS, Setting
from prosa.settings.model import Path as SettingPath
from prosa.source import Span

TRIGGERS = ("[", "(", "#", "^", "{", ".", "$", "|", "@", "/", "%", '"', ":", " ", "-", "`", "!")
"""Characters behind which something may be offered that was not there before."""


def complete(workspace: Workspace, path: Path, offset: int) -> Completions:
    """Return the completions at an offset, if there are any."""
    cursor = CursorContext.at(workspace, path, offset)
    if cursor is None:
        return NOTHING
    if path.name in PROJECT_FILES:
        return settings_completions(cursor)
    part = cursor.standing.part
    if part == "front":
        words = front_words(cursor)
        return words if words is not None else _of_data(cursor)
    if part == "mark":
        return NOTHING
    if (match := template_at_cursor(cursor)) is not None:
        return template_completions(cursor, *match)
    if part == "opening":
        return fence_completions(cursor)
    made = _of_data(cursor)
    return made if made.items or part == "fence" else body_completions(cursor)


def _of_data(cursor: CursorContext) -> Completions:
    data = cursor.data
    return data_completions(cursor, data) if data is not None else NOTHING


MAX_LINE = 2_000
"""Maximum length of a line that is read."""

_HEADER = regex(r"^[ \t]*\[([^\[\]\r\n]*)\][ \t]*(?:#[^\r\n]*)?$", re.MULTILINE)
_PART = regex(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_IN_HEADER = regex(r"[ \t]*\[(?P<name>[\w.-]*)\Z")
_KEY = regex(r"[ \t]*(?P<name>[\w-]*)\Z")
_VALUE = regex(r"[ \t]*(?P<key>\"[^\"]*\"|'[^']*'|[\w-]+)[ \t]*=[ \t]*(?P<value>[^\r\n]*)\Z")
_LISTED = regex(r"^[ \t]*(?P<key>[\w-]+)[ \t]*=[ \t]*\[[^\]]*\Z", re.MULTILINE)
_TYPED = regex(r"(?P<quote>[\"']?)(?P<text>[^\"',\[\]= \t]*)\Z")
_REST = regex(r"[^\"',\[\]\s]*")


def settings_completions(cursor: CursorContext) -> Completions:
    """Return what may be written at a cursor of the settings."""
    inside: SettingPath = ("tool", "prosa") if cursor.path.name == PYPROJECT_FILE else ()
    line = cursor.line[-MAX_LINE:]
    if (header := _IN_HEADER.match(line)) is not None:
        return _plain(cursor, header["name"], _tables(inside))
    table = _table(cursor)
    if table[: len(inside)] != inside:
        return NOTHING
    table = table[len(inside) :]
    if (value := _VALUE.match(line)) is not None:
        return _values(cursor, (*table, value["key"].strip("\"'")), value["value"])
    listed = _LISTED.search(cursor.text, max(0, cursor.standing.line.start - MAX_LINE), cursor.offset)
    if listed is not None:
        return _values(cursor, (*table, listed["key"]), line)
    key = _KEY.match(line)
    return _plain(cursor, key["name"], _keys(cursor, table)) if key is not None else NOTHING


def _plain(cursor: CursorContext, typed: str, candidates: Iterable[Candidate]) -> Completions:
    rest = _REST.match(cursor.text, cursor.offset, cursor.standing.line.end)
    end = rest.end() if rest else cursor.offset
    return completions(cursor.path, Span(cursor.offset - len(typed), end), typed, candidates)


def _table(cursor: CursorContext) -> SettingPath:
    """Return the parts of the last header above."""
    path: SettingPath = ()
    for match in _HEADER.finditer(cursor.text, 0, cursor.standing.line.start):
        path = tuple(part[1] or part[2] or part[3] or "" for part in _PART.finditer(match[1]))
    return path


def _ours() -> Iterator[Setting]:
    return (setting for setting in SETTINGS if setting.level == "project")


def _tables(inside: SettingPath) -> Iterator[Candidate]:
    lead = ".".join(inside)
    if lead:
        yield Candidate(lead, "setting", detail="the settings of Prosa")
    for fromkey in dict.fromkeys(our.path[0] for our in _ours() if len(our.path) > 1):
        yield Candidate(f"{lead}.{fromkey}" if lead else fromkey, "setting")


def _keys(cursor: CursorContext, table: SettingPath) -> Iterator[Candidate]:
    """Yield the keys of a table; for names that the writer chooses nothing is known."""
    written = cursor.text[max(0, cursor.offset - 100_000) : cursor.offset + 100_000]
    for our in _ours():
        *above, name = our.path
        fits = len(above) == len(table) and name != "*" and _matches(tuple(above), table)
        if fits and (table or not re.search(rf"^{re.escape(name)}[ \t]*=", written, re.MULTILINE)):
            yield Candidate(name, "setting", f"{name} = ", f"default: {our.default}", our.doc)


def _matches(wanted: SettingPath, table: SettingPath) -> bool:
    return all(one in ("*", two) for one, two in zip(wanted, table, strict=True))


def _values(cursor: CursorContext, path: SettingPath, written: str) -> Completions:
    """Return the values of a key, in quotes where the author has not written any."""
    setting = next((our for our in _ours() if len(our.path) == len(path) and _matches(our.path, path)), None)
    match = _TYPED.search(written)
    if setting is None or match is None:
        return NOTHING
    typed, quote = match["text"], match["quote"]
    rest = _REST.match(cursor.text, cursor.offset, cursor.standing.line.end)
    end = rest.end() if rest else cursor.offset
    ending = "" if not quote or cursor.text.startswith(quote, end) else quote

    def text(name: str) -> str:
        return f"{name}{ending}" if quote else name if setting.kind == "flag" else f'"{name}"'

    named = (
        Candidate(
            candidate.label,
            candidate.kind,
            text(candidate.label),
            candidate.detail,
            candidate.documentation,
            candidate.names,
        )
        for candidate in _named(cursor, setting, typed)
    )
    return completions(cursor.path, Span(cursor.offset - len(typed), end), typed, named)


def _named(cursor: CursorContext, setting: Setting, typed: str) -> Iterable[Candidate]:
    if setting.path[-1] in ("select", "ignore"):
        return rule_names()
    if setting.path[0] == "dialects":
        return (Candidate(row.name, "dialect", detail=row.title) for row in DIALECTS)
    if setting.path[0] == "schemas":
        return (
            attachment
            for attachment in attachments(cursor, typed)
            if attachment.label.endswith((".json", ".yaml", ".yml"))
        )
    if setting.path[0] == "relations":
        return (Candidate(rel, "relation") for rel in REL_TYPES)
    return (Candidate(word, "value") for word in ("true", "false")) if setting.kind == "flag" else ()
