"""`tools-without-spaces`: `allowed-tools` separated by commas, or a list, where the specification has spaces."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Node, Scalar
from prosa.diagnostics import Fix, Problem
from prosa.dialects.skill_md.model import SkillModel
from prosa.dialects.skill_md.tools import split_tools
from prosa.rules.subject import Subject
from prosa.source import Edit

_UNSAFE_IN_YAML = ("#", ": ", "'", '"', "[", "{", "&", "*", "!", "|", ">", "%", "@", "`")
"""What a plain scalar cannot begin with, or hold: such a text is left to its author."""


def check(subject: Subject) -> Iterator[Problem]:
    """At the value. Some clients take it, and some take it for one tool with an odd name."""
    model: SkillModel = subject.model
    entry = model.entries.get("allowed-tools")
    if entry is None or not model.allowed_tools or _is_spaced(entry.value):
        return
    form = "separated by commas" if isinstance(entry.value, Scalar) else "a list"
    message = f"the tools are {form}; the specification has one text with spaces between them"
    yield Problem("tools-without-spaces", message, entry.value.span, fix=_fix(entry.value))


def _is_spaced(node: Node) -> bool:
    """Whether a client that splits at spaces alone finds the same tools."""
    return isinstance(node, Scalar) and not any("," in gap for gap in _gaps(node.text))


def _gaps(text: str) -> Iterator[str]:
    """What stands between the tools of a text."""
    end = 0
    for tool in split_tools(text):
        start = text.index(tool, end)
        yield text[end:start]
        end = start + len(tool)
    yield text[end:]


def _fix(node: Node) -> Fix | None:
    if not isinstance(node, Scalar) or node.style != "plain":
        return None
    tools = " ".join(split_tools(node.text))
    if tools.startswith(_UNSAFE_IN_YAML) or "#" in tools or ": " in tools:
        return None
    return Fix("put spaces between the tools", (Edit(node.span, tools),))
