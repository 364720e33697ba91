"""The preview of a document, or a part of it, in a few lines of Markdown: shown beside a link to it.

In: a workspace and a real path, perhaps with a section. Out: Markdown. Text of documents is included as plain text, so
that an editor shows no picture and follows no link of an author.
"""

from __future__ import annotations

import re
from pathlib import Path

from prosa.app.check.workspace import Workspace
from prosa.app.editor.corpus import EditorCorpus
from prosa.app.editor.targets import section_named
from prosa.corpus.snippet import snippet
from prosa.data import Value
from prosa.dialects.reading import DialectReading
from prosa.dialects.table import DOCUMENT_SUFFIXES, MARKDOWNLANG, MDH, dialect
from prosa.document.model import Section
from prosa.graph.records import title_of
from prosa.regex import regex
from prosa.render.plain import safe
from prosa.schema import describe_inputs
from prosa.schema.inputs import InputField
from prosa.site.identity import summary_of
from prosa.source import Span

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
        given = describe_inputs(program.output.value) if program.output is not None else ()
        return _joined(_rows("Takes", taken), _rows("Gives", given))
    node = reading.model_of(MDH)
    if node is None or not node.actions:
        return ""
    called = ((each, each.url.text if each.url else "") for each in node.actions[:MAX_ROWS])
    lines = [f"- {code(each.id.text if each.id else '')} {plain(each.verb)} {code(url)}" for each, url in called]
    return "\n".join(("Actions:", "", *lines))


def _rows(title: str, fields: tuple[InputField, ...]) -> str:
    if not fields:
        return ""
    lines = [f"- {code(each.name)} {plain(_said(each))}" for each in fields[:MAX_ROWS]]
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
