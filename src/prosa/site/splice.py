"""Fields added to a document's front matter, the author's text unchanged around them (H9).

In: a front reading and fields that are not in it. Out: the text. Where lines can be added to the front matter, they
are; where they cannot, as in one that is a single flow mapping or is no YAML, a new one is written, and what could not
be read becomes part of the body, so that nothing is lost (HW5).
"""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value, split_front_matter, to_value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.front import FrontReading


def spliced(front: FrontReading, fields: Mapping[str, Value]) -> str:
    """Return the text of the document with ``fields`` in its front matter. The body keeps every byte."""
    text, lines = front.source.text, write_yaml(fields)
    if "\r\n" in text:
        lines = lines.replace("\n", "\r\n")
    if front.fields is None or not front.complete:
        return _above(text, lines)
    parts, _ = split_front_matter(text)
    if parts is None:
        return _rewritten(front, fields)
    added = text[: parts.close.start] + lines + text[parts.close.start :]
    return added if _says(added, front, fields) else _rewritten(front, fields)


def _above(text: str, lines: str) -> str:
    """Return a front matter of its own above everything that is there."""
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    end = "\r\n" if "\r\n" in lines else "\n"
    return f"{bom}---{end}{lines}---{end}{text[len(bom) :]}"


def _says(text: str, front: FrontReading, fields: Mapping[str, Value]) -> bool:
    """Return whether a text means what its document meant before, and the new fields too."""
    read = front.reread(text)
    if read.fields is None or not read.complete:
        return False
    wanted = {**(front.value or {}), **fields}
    return read.value == wanted and read.source.slice(read.body) == front.source.slice(front.body)


def _rewritten(front: FrontReading, fields: Mapping[str, Value]) -> str:
    """Return the fields of both as a new front matter; its comments are lost, its data is not."""
    assert front.fields is not None
    old = {entry.key.text: to_value(entry.value) for entry in front.fields}
    return _above(front.source.slice(front.body), write_yaml({**old, **fields}))
