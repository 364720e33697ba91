"""The tools a skill may use without asking: one text with spaces between them, by the specification.

In the wild they are also separated by commas, or a YAML list. Spaces inside parentheses belong to a tool:
`Bash(git add:*) Read`.
"""

from __future__ import annotations

from prosa.data import Node, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.fields import type_name


def read_tools(node: Node) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """The tools, and `wrong-type` where they cannot be any."""
    if isinstance(node, Scalar):
        return split_tools(node.text), ()
    if isinstance(node, Sequence) and all(isinstance(item, Scalar) for item in node.items):
        return tuple(item.text.strip() for item in node.items if isinstance(item, Scalar) and item.text.strip()), ()
    message = f"`allowed-tools` must be the names of tools, separated by spaces, not {type_name(node)}"
    return (), (Problem("wrong-type", message, node.span),)


def split_tools(text: str) -> tuple[str, ...]:
    """The tools of a text: split at spaces and commas outside parentheses."""
    tools: list[str] = []
    start = depth = 0
    for at, char in enumerate(f"{text} "):
        depth = max(depth + (char == "(") - (char == ")"), 0)
        if char in " \t\r\n," and (not depth or at == len(text)):
            if at > start:
                tools.append(text[start:at].strip())
            start = at + 1
    return tuple(tool for tool in tools if tool)
