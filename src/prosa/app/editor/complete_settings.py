"""Completion in the settings of a project: tables and keys, rules, dialects, schemas.

In: a spot in `prosa.toml` or `pyproject.toml`. Out: what its line may hold, by the header above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prosa.app.editor.candidates import NOTHING, Candidate, Completions, completions
from prosa.app.editor.complete_body import rule_names
from prosa.app.editor.complete_documents import attachments
from prosa.app.editor.spot import EditorSpot
from prosa.dialects.magi.fields import REL_TYPES
from prosa.dialects.table import DIALECTS
from prosa.regex import regex
from prosa.settings.model import PYPROJECT_FILE, SETTINGS, Path, Setting
from prosa.source import Span

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


def settings_completions(spot: EditorSpot) -> Completions:
    """Return what may be written at a spot of the settings."""
    inside: Path = ("tool", "prosa") if spot.path.name == PYPROJECT_FILE else ()
    line = spot.line[-MAX_LINE:]
    if (header := _IN_HEADER.match(line)) is not None:
        return _plain(spot, header["name"], _tables(inside))
    table = _table(spot)
    if table[: len(inside)] != inside:
        return NOTHING
    table = table[len(inside) :]
    if (value := _VALUE.match(line)) is not None:
        return _values(spot, (*table, value["key"].strip("\"'")), value["value"])
    listed = _LISTED.search(spot.text, max(0, spot.standing.line.start - MAX_LINE), spot.offset)
    if listed is not None:
        return _values(spot, (*table, listed["key"]), line)
    key = _KEY.match(line)
    return _plain(spot, key["name"], _keys(spot, table)) if key is not None else NOTHING


def _plain(spot: EditorSpot, typed: str, candidates: Iterable[Candidate]) -> Completions:
    rest = _REST.match(spot.text, spot.offset, spot.standing.line.end)
    end = rest.end() if rest else spot.offset
    return completions(spot.path, Span(spot.offset - len(typed), end), typed, candidates)


def _table(spot: EditorSpot) -> Path:
    """Return the parts of the last header above."""
    found: Path = ()
    for match in _HEADER.finditer(spot.text, 0, spot.standing.line.start):
        found = tuple(part[1] or part[2] or part[3] or "" for part in _PART.finditer(match[1]))
    return found


def _ours() -> Iterator[Setting]:
    return (each for each in SETTINGS if each.level == "project")


def _tables(inside: Path) -> Iterator[Candidate]:
    lead = ".".join(inside)
    if lead:
        yield Candidate(lead, "setting", detail="the settings of Prosa")
    for each in dict.fromkeys(each.path[0] for each in _ours() if len(each.path) > 1):
        yield Candidate(f"{lead}.{each}" if lead else each, "setting")


def _keys(spot: EditorSpot, table: Path) -> Iterator[Candidate]:
    """Yield the keys of a table; for names that the writer chooses nothing is known."""
    written = spot.text[max(0, spot.offset - 100_000) : spot.offset + 100_000]
    for each in _ours():
        *above, name = each.path
        fits = len(above) == len(table) and name != "*" and _matches(tuple(above), table)
        if fits and (table or not re.search(rf"^{re.escape(name)}[ \t]*=", written, re.MULTILINE)):
            yield Candidate(name, "setting", f"{name} = ", f"default: {each.default}", each.doc)


def _matches(wanted: Path, table: Path) -> bool:
    return all(one in ("*", two) for one, two in zip(wanted, table, strict=True))


def _values(spot: EditorSpot, path: Path, written: str) -> Completions:
    """Return the values of a key, in quotes where the author has not written any."""
    setting = next((each for each in _ours() if len(each.path) == len(path) and _matches(each.path, path)), None)
    found = _TYPED.search(written)
    if setting is None or found is None:
        return NOTHING
    typed, quote = found["text"], found["quote"]
    rest = _REST.match(spot.text, spot.offset, spot.standing.line.end)
    end = rest.end() if rest else spot.offset
    ending = "" if not quote or spot.text.startswith(quote, end) else quote

    def text(name: str) -> str:
        return f"{name}{ending}" if quote else name if setting.kind == "flag" else f'"{name}"'

    named = (
        Candidate(each.label, each.kind, text(each.label), each.detail, each.documentation, each.names)
        for each in _named(spot, setting, typed)
    )
    return completions(spot.path, Span(spot.offset - len(typed), end), typed, named)


def _named(spot: EditorSpot, setting: Setting, typed: str) -> Iterable[Candidate]:
    if setting.path[-1] in ("select", "ignore"):
        return rule_names()
    if setting.path[0] == "dialects":
        return (Candidate(row.name, "dialect", detail=row.title) for row in DIALECTS)
    if setting.path[0] == "schemas":
        return (each for each in attachments(spot, typed) if each.label.endswith((".json", ".yaml", ".yml")))
    if setting.path[0] == "relations":
        return (Candidate(each, "relation") for each in REL_TYPES)
    return (Candidate(each, "value") for each in ("true", "false")) if setting.kind == "flag" else ()
