"""Write a new MAGI document: front matter, text, ai-script blocks, relationships in; a text out (M23, M43, MA1, MA8).

Blocks are pure JSON and relationships stand in backticks. An existing text is never written anew: it changes by edits.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping

from prosa.data import Scalar, Value, read_yaml

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN_TEXT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/@+-]*(?<! )")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udfff]")
_RUN = re.compile(r"`+")
_LABEL = re.compile(r"[^\s\[\]^`\\]+")

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
    """The document. ``relationships`` are pairs of a footnote label and an object; ``hints`` puts a comment in front of
    every block. Raises ValueError for a label that is none and for values that JSON does not have."""
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
    """The definition of a relationship, with its line end. Raises ValueError for a label that is none."""
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
    """A value on one line: JSON, which YAML reads, with simple strings left plain."""
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
    """Whether YAML reads the bare text as this string."""
    node = read_yaml(text).node
    return isinstance(node, Scalar) and node.value == text and isinstance(node.value, str)


def _quoted(text: str) -> str:
    """A double-quoted string that JSON and YAML read alike."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
