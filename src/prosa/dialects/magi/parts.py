"""A MAGI document taken apart and put together again without loss (MW5), and the body that a person reads (M42).

`decode` gives `front_matter`, `content` (what a person reads), `ai_scripts` and `relationships`, and `layout`, which
stores the place and notation of everything. As long as the four parts match the layout, `encode` returns the original
text, byte for byte; otherwise it writes a new document (M23, M43, MA1, MA8): blocks are pure JSON and relationships are
in backticks. An existing text is never rewritten: it changes by edits.

The body that a person reads lacks ai-script blocks and relationships, whose places are stored: `restored` returns the
original, byte for byte. Ordinary footnotes, results and comments stay.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from prosa.data import Plain, Scalar, Value, read_yaml
from prosa.dialects.front import read_front
from prosa.dialects.magi.model import MagiModel, Relationship, Script
from prosa.dialects.magi.read import read
from prosa.document import parse
from prosa.regex import regex
from prosa.source import SourceText, Span

_MARKS = " \t>"
_BLANK_LINES = regex(r"(?:[ \t]*(?:\r\n|\n|\r))*")


class Removed(Struct, frozen=True):
    """A stretch of text that was left out; ``at`` is the offset in the text that stayed at which it goes back."""

    at: int
    text: str


class Clean(Struct, frozen=True):
    """The remaining ``text`` and the ``removed`` parts, in order."""

    text: str
    removed: tuple[Removed, ...]

    @property
    def restored(self) -> str:
        """The original."""
        return put_back(self.text, self.removed)


def put_back(text: str, removed: Iterable[Removed]) -> str:
    """Return ``text`` with everything back in its place. Offsets outside the text count as its ends."""
    pieces: list[str] = []
    done = 0
    for removal in sorted(removed, key=lambda item: item.at):
        at = min(max(removal.at, done), len(text))
        pieces += (text[done:at], removal.text)
        done = at
    return "".join((*pieces, text[done:]))


def clean(model: MagiModel) -> Clean:
    """Return the body as a person reads it, without the blank lines that front matter leaves above it."""
    blocks = [
        *map(_with_hint, model.scripts),
        *(_definition(model, relationship) for relationship in model.relationships),
    ]
    references = [span for relationship in model.relationships for span in relationship.referenced_at]
    body = model.front.body
    blank = _BLANK_LINES.match(model.source.text, body.start)
    above = Span(body.start, blank.end() if blank else body.start)
    return left_out(model.source, body, [above, *without_blocks(model, blocks), *references])


def not_for_readers(model: MagiModel) -> tuple[Span, ...]:
    """Return what a reader of the body does not see, or should not take for the author's words, in order: blocks,
    relationships with their references, comments, and managed regions, whose text is a model's (MA11, X19)."""
    alone = [span for span in model.document.comments if _stands_alone(model, span)]
    blocks = [
        *map(_with_hint, model.scripts),
        *(_definition(model, relationship) for relationship in model.relationships),
        *alone,
    ]
    blocks += [region.span for region in model.regions]
    references = [span for relationship in model.relationships for span in relationship.referenced_at]
    spans = (*without_blocks(model, blocks), *references, *model.document.comments)
    return tuple(_merged(span for span in spans if len(span)))


def unseen(model: MagiModel) -> tuple[Span, ...]:
    """Return what a page that is made of the document does not show (M42): blocks, relationships with their references,
    and comments, in order. Results are shown."""
    blocks = (
        *map(_with_hint, model.scripts),
        *(_definition(model, relationship) for relationship in model.relationships),
    )
    references = [span for relationship in model.relationships for span in relationship.referenced_at]
    return tuple(_merged(span for span in (*blocks, *references, *model.document.comments) if len(span)))


def without_scripts(model: MagiModel) -> Clean:
    """Return the whole document, front matter and relationships included, without its ai-script blocks."""
    return left_out(model.source, model.source.whole, without_blocks(model, map(_with_hint, model.scripts)))


def left_out(source: SourceText, whole: Span, spans: Iterable[Span]) -> Clean:
    """Return the text of ``whole`` without ``spans``, which may touch and overlap."""
    kept: list[str] = []
    removed: list[Removed] = []
    done, length = whole.start, 0
    for span in _merged(span for span in spans if len(span)):
        kept.append(source.text[done : span.start])
        length += span.start - done
        removed.append(Removed(length, source.slice(span)))
        done = span.end
    return Clean("".join((*kept, source.text[done : whole.end])), tuple(removed))


def _stands_alone(model: MagiModel, span: Span) -> bool:
    """Return whether a comment shares its lines with no other text."""
    lines = model.source.lines
    first, last = (model.source.position(place).line for place in (span.start, max(span.start, span.end - 1)))
    end = lines.starts[last] if last < lines.count else len(model.source.text)
    before = model.source.text[lines.starts[first - 1] : span.start]
    return not before.strip(_MARKS) and not model.source.text[span.end : end].strip()


def _with_hint(script: Script) -> Span:
    return Span(script.hint.start if script.hint else script.fence.span.start, script.fence.span.end)


def _definition(model: MagiModel, relationship: Relationship) -> Span:
    span = relationship.definition.span
    return Span(span.start, max(span.start, span.start + len(model.source.slice(span).rstrip())))


def without_blocks(model: MagiModel, blocks: Iterable[Span]) -> Iterator[Span]:
    """Yield what to leave out for these blocks: their lines, with blank lines where these would be too many.

    Where a block shares its first line with the mark of a list, the mark stays.
    """
    source, lines = model.source, model.source.lines
    whole: list[Span] = []
    for span in blocks:
        start = lines.starts[source.position(span.start).line - 1]
        last = source.position(max(span.start, span.end - 1)).line
        end = lines.starts[last] if last < lines.count else len(source.text)
        if start < model.front.body.start or source.text[start : span.start].strip(_MARKS):
            yield span
        else:
            whole.append(Span(start, end))
    yield from (_with_blank_lines(model, lines) for lines in _merged(whole))


def _with_blank_lines(model: MagiModel, block: Span) -> Span:
    """Whole lines and the blank lines above them when others follow; at the top of the body, those below.

    Where the neighbours would become one paragraph, an empty line stays between them.
    """
    source, top = model.source, model.front.body.start
    above = _before_blank_lines(source, block.start, top)
    if above == top:
        below = _BLANK_LINES.match(source.text, block.end)
        return Span(above, below.end() if below else block.end)
    if block.end == len(source.text) or not source.lines.line_text(source.position(block.end).line).strip():
        return Span(above, block.end)
    return Span(block.start, block.end if above < block.start else _before_line_end(source.text, block.end))


def _before_line_end(text: str, end: int) -> int:
    return end - 2 if text.endswith("\r\n", 0, end) else end - 1


def _before_blank_lines(source: SourceText, offset: int, first: int) -> int:
    """Return where the blank lines before a line start."""
    line = source.position(offset).line
    while line > 1 and source.lines.starts[line - 2] >= first and not source.lines.line_text(line - 1).strip():
        line -= 1
    return source.lines.starts[line - 1]


def _merged(spans: Iterable[Span]) -> Iterator[Span]:
    pending: Span | None = None
    for span in sorted(spans):
        if pending is None:
            pending = span
        elif span.start <= pending.end:
            pending = Span(pending.start, max(pending.end, span.end))
        else:
            yield pending
            pending = span
    if pending is not None:
        yield pending


# A MAGI document taken apart and put together again: text in, four parts out, and back without loss (MW5).

_PLAIN_KEY = regex(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN_TEXT = regex(r"[A-Za-z0-9][A-Za-z0-9 ._/@+-]*(?<! )")
_UNPRINTABLE = regex("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_RUN = regex(r"`+")
_LABEL = regex(r"[^\s\[\]^`\\]+")

HINT = "<!-- AI-PROCESSOR: the ai-script block below is an instruction for programs and is not shown to people -->\n"
"""The comment that may stand in front of a block (M40)."""


def write(
    front_matter: Mapping[str, Value] | None = None,
    content: str = "",
    scripts: Iterable[Mapping[str, Value]] = (),
    relationships: Iterable[tuple[str, Mapping[str, Value]]] = (),
    *,
    hints: bool = False,
) -> str:
    """Return the document. ``relationships`` are pairs of a footnote label and an object; ``hints`` puts a comment in
    front of every block. Raises ValueError for a label that is none and for values that JSON does not have."""
    blocks = [(HINT if hints else "") + script_block(script) for script in scripts]
    notes = "".join(footnote(label, data) for label, data in relationships)
    blocks += [notes] if notes else []
    head = f"---\n{_yaml(front_matter)}---\n" if front_matter is not None else ""
    if not content and not blocks:
        return head
    parts = [_line_ended(content, bool(blocks)), *blocks] if content else blocks
    return ("\n" if head else "").join((head, "\n".join(parts)))


def script_block(data: Mapping[str, Value]) -> str:
    """One ai-script block of pure JSON, with its line end."""
    text = json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False)
    return f"```ai-script\n{text}\n```\n"


def footnote(label: str, data: Mapping[str, Value]) -> str:
    """Return the definition of a relationship, with its line end. Raises ValueError for a label that is none."""
    if not _LABEL.fullmatch(label):
        raise ValueError(f"`{label[:40]}` cannot be the label of a footnote: it is one word without brackets")
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    ticks = "`" * (1 + max((len(run) for run in _RUN.findall(text)), default=0))
    return f"[^{label}]: {ticks}{text}{ticks}\n"


def _line_ended(content: str, more: bool) -> str:
    return content if content.endswith(("\n", "\r")) or not more else f"{content}\n"


def _yaml(fields: Mapping[str, Value]) -> str:
    return "".join(f"{_key(name)}: {_yaml_value(value)}\n" for name, value in fields.items())


def _key(name: str) -> str:
    return name if _PLAIN_KEY.fullmatch(name) and _is_plain(name) else _quoted(name)


def _yaml_value(value: Value) -> str:
    """Return a value on one line: JSON, which YAML reads, with simple strings left plain."""
    if isinstance(value, str):
        return value if _PLAIN_TEXT.fullmatch(value) and _is_plain(value) else _quoted(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_yaml_value(item) for item in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)}: {_yaml_value(item)}' for key, item in value.items())}}}"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else f"{'-' if value < 0 else ''}.inf"
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    """Return whether YAML reads the bare text as this string."""
    node = read_yaml(text).node
    return isinstance(node, Scalar) and node.value == text and isinstance(node.value, str)


def _quoted(text: str) -> str:
    """Return a double-quoted string that JSON and YAML read alike."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


PARTS = ("front_matter", "content", "ai_scripts", "relationships")


class EnvelopeError(ValueError):
    """Parts or an envelope of the wrong shape; the message says what was found and expected."""


def decode(text: str) -> dict[str, Value]:
    """Return the parts of a document. Blocks and footnotes that cannot be read stay in the layout and are no part of
    it.

    ``relationships`` are ``{"ref": label, "data": object}``, ``ai_scripts`` the objects as written.
    """
    model = model_of(text)
    cleaned = clean(model)
    return {
        "front_matter": model.front.value,
        "content": cleaned.text,
        "ai_scripts": [script.data for script in model.scripts if script.data is not None],
        "relationships": [
            {"ref": relationship.label, "data": relationship.data} for relationship in model.relationships
        ],
        "layout": {
            "head": text[: model.front.body.start],
            "removed": [{"at": removed.at, "text": removed.text} for removed in cleaned.removed],
        },
    }


def encode(parts: Mapping[str, Value]) -> str:
    """Return the document of these parts: the original where the layout still fits, else a new one. Raises
    `EnvelopeError`.

    Every part may be left out. A line end is added to a content that needs one.
    """
    original = _original(parts)
    if original is not None and _says(original, parts):
        return original
    front_matter = parts.get("front_matter")
    if front_matter is not None and not isinstance(front_matter, Mapping):
        raise EnvelopeError("`front_matter` must be an object or null")
    relationships = [
        (text_of(relationship.get("ref"), "ref"), object_of(relationship.get("data"), "data"))
        for relationship in objects_of(parts.get("relationships"), "relationships")
    ]
    content, scripts = text_of(parts.get("content"), "content"), objects_of(parts.get("ai_scripts"), "ai_scripts")
    return written(front_matter, content, scripts, relationships)


def written(
    front_matter: Mapping[str, Value] | None,
    content: str,
    scripts: Sequence[Mapping[str, Value]],
    relationships: Sequence[tuple[str, Mapping[str, Value]]],
) -> str:
    """Return a new document. Raises `EnvelopeError` for values that JSON does not have."""
    try:
        return write(front_matter, content, scripts, relationships)
    except (TypeError, ValueError, RecursionError) as error:
        raise EnvelopeError(str(error)) from None


def model_of(text: str) -> MagiModel:
    """Return the model of a text."""
    front = read_front(SourceText(text))
    return read(front, parse(front.source, body=front.body))[0]


def removed_of(layout: Value) -> list[Removed] | None:
    """Return what a layout lists as left out, or None if it is not a layout."""
    entries = layout.get("removed") if isinstance(layout, Mapping) else None
    if not isinstance(entries, list):
        return None
    pairs = [(entry.get("at"), entry.get("text")) if isinstance(entry, Mapping) else (None, None) for entry in entries]
    removeds = [Removed(at, text) for at, text in pairs if isinstance(at, int) and isinstance(text, str) and at >= 0]
    return removeds if len(removeds) == len(pairs) else None


def text_of(value: Value, name: str) -> str:
    """Return a string, empty for null. Raises `EnvelopeError`."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise EnvelopeError(f"`{name}` must be a string, not {type(value).__name__}")
    return value


def object_of(value: Value, name: str) -> Mapping[str, Value]:
    """Return an object. Raises `EnvelopeError`."""
    if not isinstance(value, Mapping):
        raise EnvelopeError(f"`{name}` must be an object, not {type(value).__name__}")
    return value


def objects_of(value: Value, name: str) -> list[Mapping[str, Value]]:
    """Return a list of objects, empty for null. Raises `EnvelopeError`."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise EnvelopeError(f"`{name}` must be a list of objects, not {type(value).__name__}")
    return [object_of(item, f"an item of {name}") for item in value]


def _original(parts: Mapping[str, Value]) -> str | None:
    layout, content = parts.get("layout"), parts.get("content")
    removed = removed_of(layout)
    head = layout.get("head") if isinstance(layout, Mapping) else None
    if removed is None or not isinstance(head, str) or not isinstance(content, str):
        return None
    return head + put_back(content, removed)


def _says(text: str, parts: Mapping[str, Value]) -> bool:
    """Return whether a text has exactly these parts."""
    decoded = decode(text)
    return same([decoded[name] for name in PARTS], [parts.get(name) for name in PARTS])


def same(one: Plain, other: Plain) -> bool:
    """Return whether two values are the same JSON: to Python, `true` equals `1`."""
    try:
        return json.dumps(one) == json.dumps(other)
    except (TypeError, ValueError, RecursionError):
        return False
