"""Strings as YAML scalars on one line: plain where that is safe, else in double quotes (Y25, YW2). Never folded."""

from __future__ import annotations

import json
import re

from prosa.data import Mapping, Scalar, read_yaml

_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\A\s|\s\Z|\A\Z")


def yaml_string(text: str) -> str:
    """A scalar that every YAML 1.2 reader takes for this string. Line ends are escaped, not folded."""
    return text if _is_plain(text) else quoted(text)


def quoted(text: str) -> str:
    """The string in double quotes."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))


def _is_plain(text: str) -> bool:
    if _UNSAFE.search(text):
        return False
    reading = read_yaml(f"key: {text}\n")
    node = reading.node.get("key") if isinstance(reading.node, Mapping) and not reading.problems else None
    return isinstance(node, Scalar) and node.style == "plain" and node.value == text
