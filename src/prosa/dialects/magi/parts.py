"""A MAGI document taken apart and put together again: text in, four parts out, and back without loss (MW5).

`decode` gives `front_matter`, `content` (what a person reads), `ai_scripts` and `relationships`, and `layout`, which
stores the place and notation of everything. As long as the four parts match the layout, `encode` returns the original
text, byte for byte; otherwise it writes a new document (M23, M43, MA1, MA8): blocks are pure JSON and relationships
are in backticks. An existing text is never rewritten: it changes by edits.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from prosa.data import Scalar, Value, read_yaml
from prosa.dialects.front import read_front
from prosa.dialects.magi.clean import Removed, clean, put_back
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.read import read
from prosa.document import parse
from prosa.regex import regex
from prosa.source import SourceText

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
        "relationships": [{"ref": each.label, "data": each.data} for each in model.relationships],
        "layout": {
            "head": text[: model.front.body.start],
            "removed": [{"at": each.at, "text": each.text} for each in cleaned.removed],
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
        (text_of(each.get("ref"), "ref"), object_of(each.get("data"), "data"))
        for each in objects_of(parts.get("relationships"), "relationships")
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
    pairs = [(each.get("at"), each.get("text")) if isinstance(each, Mapping) else (None, None) for each in entries]
    found = [Removed(at, text) for at, text in pairs if isinstance(at, int) and isinstance(text, str) and at >= 0]
    return found if len(found) == len(pairs) else None


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
    return [object_of(each, f"an item of {name}") for each in value]


def _original(parts: Mapping[str, Value]) -> str | None:
    layout, content = parts.get("layout"), parts.get("content")
    removed = removed_of(layout)
    head = layout.get("head") if isinstance(layout, Mapping) else None
    if removed is None or not isinstance(head, str) or not isinstance(content, str):
        return None
    return head + put_back(content, removed)


def _says(text: str, parts: Mapping[str, Value]) -> bool:
    """Return whether a text has exactly these parts."""
    found = decode(text)
    return same([found[name] for name in PARTS], [parts.get(name) for name in PARTS])


def same(one: Value, other: Value) -> bool:
    """Return whether two values are the same JSON: to Python, `true` equals `1`."""
    try:
        return json.dumps(one) == json.dumps(other)
    except (TypeError, ValueError, RecursionError):
        return False
