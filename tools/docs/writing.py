"""The Markdown of the reference: pages, tables, and texts that mean nothing in them but themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_PICTURES = {at: 0x2400 + at for at in range(32) if chr(at) not in "\n\t"} | {
    0x7F: 0x2421,
    0x2028: 0x2424,
    0x2029: 0x2424,
}
"""What shows a character that cannot be seen."""

_REQUIREMENTS = re.compile(r" ?\((?:[A-Z]{1,2}\d+[a-z]?(?:[–,] ?)?)+\)")
"""The names of requirements in a docstring: they are for those who change the code."""


class Made(NamedTuple):
    """A page: its path below the reference, and its text."""

    path: str
    text: str


def page(title: str, *parts: str) -> str:
    """Return a page of parts, each of them blocks of Markdown."""
    return (
        "\n\n".join((f"# {title}", *(part.strip("\n") for part in parts if part.strip()))).translate(_PICTURES) + "\n"
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; empty without rows."""
    lines = [f"| {' | '.join(each.replace('|', chr(92) + '|') for each in row)} |" for row in rows]
    return "\n".join((f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines)) if lines else ""


def code(text: str) -> str:
    """Return a text as code on one line."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def prose(text: str) -> str:
    """Return a text of the code as a paragraph: what Markdown would take for markup outside of code is escaped."""
    parts = re.split(r"(`+[^`]*`+)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]])", r"\\\1", part) for part in parts)


def sentence(text: str) -> str:
    """Return a phrase of the help as a sentence; a value in front of a colon stays as it is written."""
    said = prose(text)
    first = said.partition(" ")[0]
    begun = said if first.endswith(":") else f"{said[:1].upper()}{said[1:]}"
    return f"{begun}{'' if said.endswith(('.', '…')) else '.'}" if said else ""


def documentation(docstring: str | None) -> str:
    """Return a docstring as Markdown: its paragraphs, its indented examples as code."""
    made: list[str] = []
    for block in _REQUIREMENTS.sub("", docstring or "").replace("``", "`").split("\n\n"):
        lines = block.strip("\n").split("\n")
        indented = all(line.startswith("    ") or not line for line in lines)
        made.append("```python\n" + "\n".join(line[4:] for line in lines) + "\n```" if indented else _block(lines))
    return "\n\n".join(each for each in made if each)


def _block(lines: list[str]) -> str:
    """Return a paragraph; lines of a list stay lines."""
    if any(line.lstrip().startswith("- ") for line in lines):
        return "\n".join(lines)
    return prose(" ".join(line.strip() for line in lines))
