"""The page of each dialect, with everything that the tables of its fields say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

from prosa.dialects import plain
from prosa.dialects.context import fields as context
from prosa.dialects.evals.document import fields as suite
from prosa.dialects.evals.suite import fields as evals
from prosa.dialects.fields import WANTED, Field
from prosa.dialects.magi import fields as magi
from prosa.dialects.markdownlang import fields as markdownlang
from prosa.dialects.mda import fields as mda
from prosa.dialects.mdh import fields as mdh
from prosa.dialects.skill_md import model as skill_md
from prosa.dialects.table import DIALECTS
from prosa.dialects.ymj import fields as ymj
from tools.docs.writing import Made, page, prose, table

TABLES = {
    ("markdownlang", "Fields"): markdownlang.PROGRAM,
    ("magi", "Front matter"): magi.FRONT,
    ("magi", "ai-script blocks"): magi.SCRIPT,
    ("magi", "Relationships"): magi.RELATIONSHIP,
    ("mda", "Fields"): mda.SOURCE,
    ("mda", "Relationships"): mda.RELATIONSHIP,
    ("ymj", "Header"): ymj.HEADER,
    ("ymj", "Footer"): ymj.FOOTER,
    ("mdh", "Fields of a node"): mdh.NODE,
    ("mdh", "Fields of an action"): mdh.ACTION,
    ("skill_md", "Fields"): skill_md.SKILL,
    ("skill_md", "Fields of single clients"): skill_md.CLIENT,
    ("test", "Fields"): suite.FRONT,
    ("evals", "Cases"): evals.TOP,
    ("evals", "Requests"): evals.QUERY,
    ("test", "Matchers"): suite.WORDS,
    ("test", "How a run has to go"): suite.RUN,
    ("plain", "Fields"): plain.DOCUMENT,
    ("context", "Agents of Claude Code"): context.CLAUDE_AGENT,
    ("context", "Rules of Claude Code"): context.CLAUDE_RULE,
    ("context", "Commands of Claude Code"): context.CLAUDE_COMMAND,
    ("context", "Agents of GitHub Copilot"): context.COPILOT_AGENT,
    ("context", "Instructions of GitHub Copilot"): context.COPILOT_INSTRUCTIONS,
    ("context", "Prompts of GitHub Copilot"): context.COPILOT_PROMPT,
    ("context", "Rules of Cursor"): context.CURSOR_RULE,
    ("context", "Agents of Gemini CLI"): context.GEMINI_AGENT,
}
"""The tables of fields by the page and the heading that they stand below."""

ELSEWHERE = {"actions"}
"""Fields whose inner ones have a table of their own on the same page."""

_ROWS = r"^(?P<head>##+ {}\n(?:(?!##).*\n)*?)\| \w+ \| \w+ \|\n\|---\|---\|\n(?:\|.*\n)*"


def dialect_pages() -> Iterator[Made]:
    """Yield the pages, and their list."""
    for row in DIALECTS:
        yield Made(f"dialects/{row.name}.md", _dialect(row.name))
    rows = [(f"[{row.name}]({row.name}.md)", prose(row.title)) for row in DIALECTS]
    about = "The fields of each dialect. [Formats](../../formats.md) explains how a document is recognised."
    yield Made("dialects/README.md", page("Dialects", about, table(("dialect", "what it is"), rows)))


def _dialect(name: str) -> str:
    text = files("prosa.dialects").joinpath("docs", f"{name}.md").read_text(encoding="utf-8")
    for (page_name, heading), fields in TABLES.items():
        if page_name == name:
            whole = table(("field", "type", "value"), _rows(fields)) + "\n"
            found = re.compile(_ROWS.format(re.escape(heading)), re.MULTILINE)
            text = found.sub(lambda match, whole=whole: match["head"] + whole, text, count=1)
    return text.rstrip("\n") + "\n"


def _rows(fields: tuple[Field, ...], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    for field in fields:
        if field.about:
            said = f"{'required; ' if field.required else ''}{field.about}"
            yield f"`{prefix}{field.name}`", _type(field), f"{said}{_choices(field)}"
        if field.name not in ELSEWHERE:
            yield from _rows(field.inner, f"{prefix}{field.name}.")


def _type(field: Field) -> str:
    return "a choice" if field.choices else prose(WANTED[field.kind])


def _choices(field: Field) -> str:
    """Return the values of a closed set, where the words do not name them all."""
    if all(f"`{each}`" in field.about for each in field.choices):
        return ""
    return f": {', '.join(f'`{each}`' for each in field.choices)}"
