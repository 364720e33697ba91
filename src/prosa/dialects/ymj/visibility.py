"""`ops.visibility` (Y12, YA20): `public`, `private`, the text `role:[a,b]` or the object `{"role": ["a", "b"]}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from prosa.data import Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Problem
from prosa.dialects.fields import shown

_ROLES = re.compile(r"role:\s*\[([^\[\]]*)\]\s*")
_WANTED = '`public`, `private`, `role:[NAME,…]` or {"role": ["NAME", …]}'


@dataclass(frozen=True, slots=True)
class Visibility:
    """Who may see a record: everybody when ``public``, else the ``roles``, nobody else but its owner."""

    public: bool
    roles: tuple[str, ...] = ()


def read_visibility(node: Node) -> tuple[Visibility | None, tuple[Problem, ...]]:
    """The visibility, or None and a problem. Who reads None must not take it for public."""
    if isinstance(node, Scalar) and isinstance(node.value, str):
        found = _of_text(node.value.strip())
        if found is None:
            message = f"`{shown(node.text)}` is not a value of `ops.visibility`; it is {_WANTED}"
            return None, (Problem("unknown-value", message, node.span),)
        return found, ()
    role = node.get("role") if isinstance(node, Mapping) and len(node.entries) == 1 else None
    names = _names(role) if role is not None else None
    if names is None:
        return None, (Problem("wrong-type", f"`ops.visibility` must be {_WANTED}", node.span),)
    return Visibility(public=False, roles=names), ()


def _of_text(text: str) -> Visibility | None:
    if text in ("public", "private"):
        return Visibility(public=text == "public")
    match = _ROLES.fullmatch(text)
    if match is None:
        return None
    roles = tuple(name.strip().strip("\"'") for name in match[1].split(","))
    return Visibility(public=False, roles=roles) if all(roles) else None


def _names(node: Node) -> tuple[str, ...] | None:
    if isinstance(node, Scalar) and isinstance(node.value, str) and node.value.strip():
        return (node.value,)
    if not isinstance(node, Sequence) or not node.items:
        return None
    names = tuple(item.value for item in node.items if isinstance(item, Scalar) and isinstance(item.value, str))
    return names if len(names) == len(node.items) else None
