"""Which dialect a document is written in (X3).

In: a front reading, and the user's hints. Out: one dialect, and `ambiguous-dialect` when two shapes fit at once: such
a document is read as plain Markdown, never as a guess. Order: `--as`, then the globs of the project, then the file
name, then the command's own dialect, then the shape.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa import data  # the reader of JSON loads where a file is named that may hold requests
from prosa.data import Entry, Mapping, Node, Sequence
from prosa.diagnostics import Problem
from prosa.dialects import DialectName
from prosa.dialects.dialect import Hints
from prosa.dialects.front import FrontReading
from prosa.dialects.table import dialect, dialect_of_file_name
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.document import Heading

_MESSAGE = regex(r"(?://\s*)?@(?P<role>[\w.-]+)(?:/[\w.-]+)?\s*+(?P<colon>:?)\s*+")
_MAYBE_MESSAGE = regex(r"###[ \t]+\\?(?:@|//)")
"""Text in every message heading, and elsewhere. It begins with plain text, so it is found fastest."""
_ROLES = frozenset({"user", "assistant", "system", "prompt", "completion"})


class Detection(Struct, frozen=True):
    """The dialect and what was wrong in finding it."""

    dialect: DialectName
    problems: tuple[Problem, ...] = ()


NO_HINTS = Hints()


@lru_cache(maxsize=16)
def decided(path: str, hints: Hints = NO_HINTS) -> DialectName | None:
    """Return the dialect that hints and the file name decide, or None if the shape must decide.

    A command forces its dialect only on a document whose name and location decide nothing: a `.mda` stays a MAGI
    document.
    """
    return hints.explicit or hints.glob or dialect_of_file_name(PurePath(path).name) or hints.forced


def detect(front: FrontReading, hints: Hints = NO_HINTS) -> Detection:
    """Return the dialect of a document, with `ambiguous-dialect` where two shapes fit at once."""
    if name := decided(front.source.path, hints):
        return Detection(name)
    if front.source.path.lower().endswith(".json") and holds_requests(front.source.text):
        return Detection("evals")
    shapes = _shapes(front)
    if len(shapes) > 1:
        return Detection("plain", (_ambiguous(shapes),))
    return Detection(next(iter(shapes), "plain"))


def _shapes(front: FrontReading) -> dict[DialectName, Span]:
    """Every shape the document has, and where it shows."""
    found: dict[DialectName, Span] = {}
    if front.fields is not None:
        entries = {entry.key.text: entry for entry in front.fields}
        if (span := _program_shape(entries)) is not None:
            found["markdownlang"] = span
        if (span := _node_shape(entries)) is not None:
            found["mdh"] = span
    if (span := _chat_shape(front)) is not None:
        found["prapti"] = span
    return found


def holds_requests(text: str) -> bool:
    """Return whether a text is a JSON list of requests with `should_trigger`, whatever the name of its file."""
    if '"should_trigger"' not in text:
        return False
    node = data.read_json(text).node
    first = node.items[0] if isinstance(node, Sequence) and node.items else None
    return isinstance(first, Mapping) and None not in (first.entry("query"), first.entry("should_trigger"))


def likely_dialect(names: Collection[str]) -> DialectName | None:
    """Return the most likely dialect of front matter with these fields, for front matter that is being edited and
    cannot be read."""
    if {"imports", "mcp_servers"} & {*names} or ({"input", "output"} & {*names} and {"name", "description"} & {*names}):
        return "markdownlang"
    node = "id" in names and ("type" in names or bool({"links", "actions"} & {*names}))
    return "mdh" if node else None


def may_have_shape(text: str, names: Collection[str]) -> bool:
    """Return whether a quick look at a text leaves room for another dialect than plain Markdown."""
    return not {"imports", "mcp_servers", "input", "output", "links", "actions", "type"}.isdisjoint(names) or (
        _MAYBE_MESSAGE.search(text) is not None
    )


def _program_shape(entries: dict[str, Entry]) -> Span | None:
    """Return `imports` or `mcp_servers`, or `input` or `output` beside `name` or `description`."""
    own = [entries[name] for name in ("imports", "mcp_servers") if name in entries]
    if not own and ("name" in entries or "description" in entries):
        own = [entries[name] for name in ("input", "output") if name in entries]
    return own[0].key.span if own else None


def _node_shape(entries: dict[str, Entry]) -> Span | None:
    """Return `id` and `type`; or one of `id`, `type`, `title` beside `links` or `actions` that hold mappings."""
    if "id" in entries and "type" in entries:
        return entries["id"].key.span
    if not entries.keys() & {"id", "type", "title"}:
        return None
    holders = [entries[name] for name in ("links", "actions") if name in entries]
    return next((entry.key.span for entry in holders if _holds_mappings(entry.value)), None)


def _holds_mappings(node: Node) -> bool:
    if isinstance(node, Sequence):
        return any(isinstance(item, Mapping) for item in node.items)
    return isinstance(node, Mapping) and any(isinstance(entry.value, Mapping) for entry in node)


def _chat_shape(front: FrontReading) -> Span | None:
    """Return a top-level `### @role` heading: with its colon, or with a role that only a chat has."""
    if not _MAYBE_MESSAGE.search(front.source.slice(front.body)):
        return None  # saves a parse
    return next((heading.span for heading in front.document.headings if _is_message(heading)), None)


def _is_message(heading: Heading) -> bool:
    match = _MESSAGE.fullmatch(heading.text)
    if heading.level != 3 or heading.nested or match is None:
        return False
    role = match["role"].lower()
    return bool(match["colon"]) or role in _ROLES or role.startswith("_")


def _ambiguous(shapes: dict[DialectName, Span]) -> Problem:
    titles = " and ".join(dialect(name).title for name in shapes)
    span = next(iter(shapes.values()))
    choices = " or ".join(f"`--as {name}`" for name in shapes)
    return Problem(
        "ambiguous-dialect", f"the document has two shapes at once: {titles}", span, (f"say which it is: {choices}",)
    )
