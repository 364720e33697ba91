"""The table of forms, and which of them a source is in. Adding one is a row here and a module with its `FORM`, which is
loaded when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath

from msgspec import Struct

from prosa.convert.form import Form
from prosa.convert.neutral import FormName
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.dialects.reading import dialect_of
from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.regex import regex
from prosa.source import SourceText


class FormRow(Struct, frozen=True):
    """A form before it is loaded. ``suffix`` is the end of the names of its documents; a skill has a folder of
    its name."""

    name: FormName
    title: str
    suffix: str

    def path(self, name: str) -> str:
        """Return the path of a document of that name, below a folder."""
        return f"{name}/{self.suffix}" if self.name == "skill" else f"{name}{self.suffix}"


ROWS: Mapping[str, FormRow] = {
    row.name: row
    for row in (
        FormRow("program", "a markdownlang program", ".md"),
        FormRow("skill", "an Agent Skill: a folder with SKILL.md", "SKILL.md"),
        FormRow("command", "a command for an agent", ".md"),
        FormRow("agent", "an agent", ".agent.md"),
        FormRow("instructions", "instructions for agents", ".instructions.md"),
        FormRow("dotprompt", "a prompt file", ".prompt"),
        FormRow("chat", "a chat", ".md"),
        FormRow("openai", "messages of the OpenAI API, as JSON", ".json"),
        FormRow("llm", "a log of the tool llm, as JSON", ".json"),
        FormRow("markdown", "Markdown with front matter", ".md"),
        FormRow("magi", "a MAGI document", ".mda"),
        FormRow("ymj", "a YMJ record", ".ymj"),
        FormRow("mdh", "a node of an MDH site", ".md"),
    )
}

OUTPUTS: Mapping[str, str] = {
    "agents-md": "AGENTS.md compiled from an MDA document; only a target",
    "claude-md": "CLAUDE.md compiled from an MDA document; only a target",
    "mcp-server-md": "MCP-SERVER.md and mcp-server.json compiled from an MDA document; only a target",
}

ONE_WAY: Mapping[str, str] = {
    "promptfoo": "a configuration of promptfoo, as YAML or JSON; only a source, of tests",
    "mda": "an MDA document; only a source, of what is compiled from it",
    "test": "tests: a test document and its programs; only a target, of promptfoo",
    **OUTPUTS,
}
"""Sources and targets that are no forms of one document: a configuration becomes several, and compiling has one way."""

ORIGINS, TARGETS = ("promptfoo", "mda"), ("test", *OUTPUTS)

_BY_DIALECT: Mapping[DialectName, FormName] = {
    "markdownlang": "program",
    "skill_md": "skill",
    "prapti": "chat",
    "magi": "magi",
    "mda": "magi",
    "ymj": "ymj",
    "mdh": "mdh",
    "test": "markdown",
    "evals": "openai",
    "context": "markdown",
    "plain": "markdown",
}


_LOG = regex(r'"(?:response|conversation_id|datetime_utc|prompt)"\s*:')
"""What only a log of `llm` has."""


def form_of(name: FormName) -> Form:
    """Return the reader and the writer of a form."""
    form: Form = import_module(f"prosa.convert.{name}").FORM
    return form


def known_form(name: str) -> FormName:
    """Return the form that a user names. Raises `UnknownName`."""
    row = ROWS.get(name)
    if row is None:
        raise UnknownName("form", name, [*ROWS, *ONE_WAY])
    return row.name


def is_promptfoo(path: str) -> bool:
    """Return whether a file has the name of a configuration of promptfoo."""
    name = PurePath(path).name.lower()
    return name.startswith("promptfooconfig") and name.endswith((".yaml", ".yml", ".json"))


def form_in(source: SourceText) -> FormName:
    """Return the form of a source: its name decides before its shape does."""
    path = PurePath(source.path)
    named = _by_name(path)
    if named is not None:
        return named
    if source.text.lstrip("\ufeff \t\r\n")[:1] in ("[", "{") and not path.name.lower().endswith(DOCUMENT_SUFFIXES):
        return "llm" if _LOG.search(source.text[:20_000]) else "openai"
    return _BY_DIALECT[dialect_of(source)]


def _by_name(path: PurePath) -> FormName | None:
    """Return the form that the name and the folder of a file decide."""
    name, folder = path.name.lower(), path.parent.name
    if name.endswith(".prompt"):
        return "dotprompt"
    if name.endswith(".agent.md") or (folder == "agents" and name.endswith(".md")):
        return "agent"
    if name.endswith((".instructions.md", ".mdc")) or path.name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md"):
        return "instructions"
    return "command" if folder == "commands" and name.endswith(".md") else None


def stem_of(path: str) -> str:
    """Return what a document without a name is called, by its file; a skill by its folder."""
    place = PurePath(path)
    name = place.name
    if name == "SKILL.md":
        return place.parent.name or "skill"
    for suffix in (".agent.md", ".instructions.md", ".prompt.md", ".chat.md"):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)] or "document"
    return place.stem.strip("<>.") or "document"
