"""JSON Pointers (RFC 6901) and the places they name in a tree.

In: a pointer as text (``""`` is the root, ``/a/0`` the first item under ``a``). Out: its parts, a node, a span.
"""

from __future__ import annotations

from collections.abc import Iterable

from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence
from prosa.regex import regex
from prosa.source import Span

_INDEX = regex(r"0|[1-9][0-9]{0,18}")
_BAD_ESCAPE = regex(r"~(?![01])")


def format_pointer(parts: Iterable[str | int]) -> str:
    """Return the pointer with these parts, ``~`` and ``/`` escaped (RFC 6901 section 3)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def parse_pointer(text: str) -> tuple[str, ...]:
    """Return the parts of a pointer, unescaped. Raises ValueError for a text that is not a pointer."""
    if not text:
        return ()
    if not text.startswith("/"):
        raise ValueError(f"a JSON Pointer is empty or starts with `/`, not `{text[:40]}`")
    if _BAD_ESCAPE.search(text):
        raise ValueError(f"in the JSON Pointer `{text[:40]}` a `~` is followed by neither 0 nor 1")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/"))


def node_at(node: Node, pointer: str) -> Node | None:
    """Return the node a pointer names, or None when there is none."""
    target, missing, _ = _walk(node, parse_pointer(pointer))
    return None if missing else target


def span_at(node: Node, pointer: str) -> Span:
    """Return the span of the node a pointer names, or of its nearest ancestor that exists."""
    return _walk(node, parse_pointer(pointer))[0].span


def key_span_at(node: Node, pointer: str) -> Span:
    """Return the span of the key in front of that node where there is one, else as `span_at`."""
    target, _, entry = _walk(node, parse_pointer(pointer))
    return entry.key.span if entry else target.span


def _walk(node: Node, parts: tuple[str, ...]) -> tuple[Node, bool, Entry | None]:
    """Return the deepest node on the path, whether parts are left, and the entry that holds the node."""
    entry: Entry | None = None
    for part in parts:
        step = _step(node, part)
        if step is None:
            return node, True, entry
        entry = step if isinstance(step, Entry) else None
        node = step.value if isinstance(step, Entry) else step
    return node, False, entry


def _step(node: Node, part: str) -> Entry | Node | None:
    if isinstance(node, Mapping):
        return node.entry(part)
    if isinstance(node, Sequence) and _INDEX.fullmatch(part) and int(part) < len(node.items):
        return node.items[int(part)]
    assert isinstance(node, Scalar | Sequence)
    return None
