"""The table of dialects. Adding one is a row here and a package with `model`, `read` and `fields`; nothing is loaded
before a document needs it."""

from __future__ import annotations

from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.dialect import Dialect, DialectName

DIALECTS: tuple[Dialect, ...] = (
    Dialect("magi", "MAGI document", module="prosa.dialects.magi", suffixes=(".mda",)),
    Dialect("markdownlang", "markdownlang program", module="prosa.dialects.markdownlang.as_dialect"),
    Dialect("ymj", "YMJ record", module="prosa.dialects.ymj", suffixes=(".ymj",)),
    Dialect("mdh", "MDH node", module="prosa.dialects.mdh"),
    Dialect("prapti", "Prapti chat", module="prosa.dialects.prapti"),
    Dialect("skill_md", "Agent Skill", module="prosa.dialects.skill_md", file_names=("SKILL.md",)),
    Dialect("plain", "Markdown document", module="prosa.dialects.plain", suffixes=(".mdx", ".mdc")),
)

DOCUMENT_SUFFIXES: tuple[str, ...] = (".md", ".markdown", ".mda", ".ymj", ".mdx", ".mdc")
"""The files that `check` picks up in a folder."""

WHICH_DOCUMENTS = (
    f"Prosa looks for {', '.join(DOCUMENT_SUFFIXES[:-1])} and {DOCUMENT_SUFFIXES[-1]} that git does not ignore"
)
"""What to say where a folder holds none."""

AGENT_FOLDERS = frozenset({".agents", ".claude", ".codex", ".cursor", ".gemini", ".github", ".windsurf"})
"""The hidden folders that `check` looks into all the same: agents act on what lies there."""


def dialect(name: str) -> Dialect:
    """The row of a name. Raises KeyError."""
    for row in DIALECTS:
        if row.name == name:
            return row
    raise KeyError(name)


def known_dialect(name: str) -> DialectName:
    """The dialect that a user names. Raises `UnknownName`."""
    row = next((row for row in DIALECTS if row.name == name), None)
    if row is None:
        raise UnknownName("dialect", name, [row.name for row in DIALECTS])
    return row.name


def dialect_of_file_name(name: str) -> DialectName | None:
    """The dialect that the last part of a path decides, or None when the shape has to (X3)."""
    lowered = name.lower()
    for row in DIALECTS:
        if lowered in (file_name.lower() for file_name in row.file_names) or lowered.endswith(row.suffixes or ("\0",)):
            return row.name
    return None
