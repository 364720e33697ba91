"""The reading every dialect starts from (X1): front matter and body of a source, before any format gives them meaning.

In: a source. Out: the front matter as a tree with places, the span of the body, and the problems that are wrong in any
document. Never fails. There are two readings: that of all dialects, and a looser one for plain Markdown, which accepts
front matter as other tools do (MA4): templates of Hugo hold `title: {{ … }}`, rules of editors `globs: *.ts`. Such a
value is read as text and hidden from the YAML reader.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping as AbcMapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Entry, FrontMatter, Mapping, Node, Scalar, Value, read_yaml, split_front_matter, to_value
from prosa.diagnostics import Problem
from prosa.dialects import DialectName
from prosa.regex import regex
from prosa.source import SourceText, Span
from prosa.source.values import kept

if TYPE_CHECKING:
    from prosa.document import Document

_FIELD = regex(r"(?:\r\n|\n|\r)(?:#[^\r\n]*(?:\r\n|\n|\r))?[\w\"'.-]{1,64}[ \t]*:(?=[ \t\r\n]|\Z)")

_BREAK = regex(r"(?:[ \t]*+(?>\r\n|\n|\r)){2}(?:[ \t]*+(?:#[^\r\n]*+)?(?>\r\n|\n|\r))*+(?!\S{1,64}[ \t]*:(?:\s|\Z))")
"""A blank line below the first fence, and no field on the first line that is neither blank nor a comment: where that
is no YAML either, the fence is a thematic break, as slides begin with."""

LOOSE: tuple[DialectName, ...] = ("plain", "context")
"""Dialects whose front matter may be written as other tools read it."""

_CUT_SHORT = frozenset({"yaml-syntax", "nested-too-deep", "alias-bomb", "custom-tag", "complex-key"})
"""Problems after which the tree may lack fields that the author wrote."""

_TEMPLATE = regex(r"^[\w.-]+:[ \t]+(\{\{[^\r\n]*\}\})[ \t]*(?=\r?$)", re.MULTILINE)
_GLOBS = regex(r"^globs:[ \t]+([^\s\"'\[{|>#](?:[^\r\n]*\S)?)[ \t]*(?=\r?$)", re.MULTILINE)
_RULE_SUFFIX = ".mdc"
_LOOSE_SIGNS = ("---", "...", "{{")
"""One of these stands in front matter, or it has the same parts however it is read."""
_FILLER = "x"


class FrontReading(Struct, frozen=True, dict=True):
    """``fields`` is the front matter; None when there is none, or when it is not a mapping that can be read.

    ``present`` is true if there is a front matter block, readable or not. ``anchor`` is where problems of missing
    fields point: its opening fence, or the first character of the document. ``complete`` is true if all fields were
    read: after a syntax error the rest of the block is unread, and no field may be reported missing. ``loose`` is true
    if it uses forms that only plain Markdown allows.
    """

    source: SourceText
    fields: Mapping | None
    present: bool
    anchor: Span
    body: Span
    problems: tuple[Problem, ...]
    complete: bool = True
    loose: bool = False

    def reread(self, text: str) -> FrontReading:
        """Return what ``text`` in place of the text is read as, by the same rules."""
        return (read_loose_front if self.loose else read_front)(replace(self.source, text=text))

    @property
    def value(self) -> dict[str, Value] | None:
        """The front matter as plain data, or None."""
        return {entry.key.text: to_value(entry.value) for entry in self.fields} if self.fields is not None else None

    @kept
    def document(self) -> Document:
        """The whole body as Markdown, parsed on first access."""
        from prosa.document import parse  # only here: it loads the Markdown parser

        return parse(self.source, body=self.body)


def read_front(source: SourceText) -> FrontReading:
    """Front matter and body of ``source`` as every dialect but plain Markdown reads them."""
    return _read_strictly(source, *split_front_matter(source.text))


def _read_strictly(source: SourceText, front: FrontMatter | None, problems: tuple[Problem, ...]) -> FrontReading:
    """Return the reading of a text that was split so."""
    bom = 1 if source.text.startswith("\ufeff") else 0
    if front is None:
        meant = tuple(problem for problem in problems if _looks_like_fields(source.text, problem.span.end))
        return FrontReading(source, None, bool(meant), Span(bom, bom), Span(bom, len(source.text)), meant)
    if problems:  # too large: nothing of it is read
        return FrontReading(source, None, True, front.open, front.body, problems)
    reading = read_yaml(source.slice(front.yaml), offset=front.yaml.start)
    fields, complaint = _as_mapping(reading.node, front.yaml, had_problems=bool(reading.problems))
    complete = not any(problem.rule in _CUT_SHORT for problem in reading.problems)
    if (fields is None or not complete) and _BREAK.match(source.text, front.open.end):
        return FrontReading(source, None, False, Span(bom, bom), Span(bom, len(source.text)), ())
    return FrontReading(source, fields, True, front.open, front.body, (*reading.problems, *complaint), complete)


def read_loose_front(source: SourceText) -> FrontReading:
    """Return the same as plain Markdown reads them: what only it may do is well where it is well otherwise."""
    strict = split_front_matter(source.text)
    if strict[0] is not None and not strict[1] and _is_the_same(source, strict[0]):
        return _read_strictly(source, *strict)
    return _read_loosely(source, strict[0]) or _read_strictly(source, *strict)


def _is_the_same(source: SourceText, front: FrontMatter) -> bool:
    """Return whether a quick look shows that plain Markdown reads these parts as any other dialect does."""
    yaml = source.slice(front.yaml)
    return not any(sign in yaml for sign in _LOOSE_SIGNS) and not source.path.lower().endswith(_RULE_SUFFIX)


def front_under(source: SourceText, name: DialectName) -> FrontReading:
    """Front matter and body of ``source`` as the dialect ``name`` reads them."""
    return read_loose_front(source) if name in LOOSE else read_front(source)


def _read_loosely(source: SourceText, strict: FrontMatter | None) -> FrontReading | None:
    """Return the reading of front matter that is valid only for plain Markdown; None if it is invalid, or valid
    without the exception, as the ``strict`` parts are."""
    front, problems = split_front_matter(source.text, loose=True)
    if front is None or problems:
        return None
    yaml, texts = _texts_in(source.slice(front.yaml), source.path)
    if not texts and front == strict:
        return None
    reading = read_yaml(yaml, offset=front.yaml.start)
    if reading.problems or not isinstance(reading.node, Mapping):
        return None
    fields = _with_texts(reading.node, texts, front.yaml.start)
    return FrontReading(source, fields, True, front.open, front.body, (), loose=True)


def _looks_like_fields(text: str, fence_end: int) -> bool:
    """Return whether a fence that is not closed, or not quite one, was meant: a line `name: value` follows it.

    In plain Markdown a first line of hyphens may also be a thematic break.
    """
    return _FIELD.match(text, fence_end) is not None


def _as_mapping(node: Node | None, yaml: Span, *, had_problems: bool) -> tuple[Mapping | None, tuple[Problem, ...]]:
    """Return an empty block, or one with nothing but comments, is an empty mapping."""
    if isinstance(node, Mapping):
        return node, ()
    if node is None and had_problems:
        return None, ()
    if node is None or (isinstance(node, Scalar) and node.value is None):
        return Mapping((), Span(yaml.start, yaml.start)), ()
    actual = "a list" if not isinstance(node, Scalar) else "a single value"
    message = f"the front matter is {actual}, not a mapping of names to values"
    return None, (Problem("front-matter-not-a-mapping", message, node.span, ("write one `name: value` per line",)),)


def _texts_in(yaml: str, name: str) -> tuple[str, AbcMapping[int, str]]:
    """Return the YAML with filler in place of values that are plain text, and these texts by their start."""
    texts: dict[int, str] = {}

    def hide(match: re.Match[str]) -> str:
        texts[match.start(1)] = match[1]
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:start] + _FILLER * (end - start) + match[0][end:]

    if posixpath.splitext(name)[1].lower() == _RULE_SUFFIX:
        yaml = _GLOBS.sub(hide, yaml)
    return (_TEMPLATE.sub(hide, yaml) if "{{" in yaml else yaml), texts


def _with_texts(fields: Mapping, texts: AbcMapping[int, str], offset: int) -> Mapping:
    """Return the fields with these texts restored; ``offset`` is where the YAML starts."""

    def restored(entry: Entry) -> Entry:
        text = texts.get(entry.value.span.start - offset)
        if text is None or not isinstance(entry.value, Scalar):
            return entry
        return Entry(entry.key, Scalar(text, text, entry.value.span))

    return Mapping(tuple(map(restored, fields)), fields.span)
