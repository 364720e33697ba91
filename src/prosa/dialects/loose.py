"""Front matter as other tools let people write it: what plain Markdown may do and no dialect of ours (X1, MA4).

In: the YAML of a front matter. Out: a form of it that can be read, and the way back. Templates of Hugo hold
`title: {{ … }}`, rules of editors `globs: *.ts`. Such a value is its text, put out of the sight of the YAML reader.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as AbcMapping
from pathlib import PurePath

from prosa.data import Entry, Mapping, Scalar

_TEMPLATE = re.compile(r"^[\w.-]+:[ \t]+(\{\{[^\r\n]*\}\})[ \t]*(?=\r?$)", re.MULTILINE)
_GLOBS = re.compile(r"^globs:[ \t]+([^\s\"'\[{|>#](?:[^\r\n]*\S)?)[ \t]*(?=\r?$)", re.MULTILINE)
_RULE_SUFFIX = ".mdc"
_FILLER = "x"


def texts_in(yaml: str, name: str) -> tuple[str, AbcMapping[int, str]]:
    """The YAML with filler in place of values that are meant as text, and these by where they begin."""
    found: dict[int, str] = {}

    def hide(match: re.Match[str]) -> str:
        found[match.start(1)] = match[1]
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:start] + _FILLER * (end - start) + match[0][end:]

    if PurePath(name).suffix.lower() == _RULE_SUFFIX:
        yaml = _GLOBS.sub(hide, yaml)
    return (_TEMPLATE.sub(hide, yaml) if "{{" in yaml else yaml), found


def with_texts(fields: Mapping, texts: AbcMapping[int, str], offset: int) -> Mapping:
    """The fields with these texts back in their places; ``offset`` is where the YAML begins."""

    def restored(entry: Entry) -> Entry:
        text = texts.get(entry.value.span.start - offset)
        if text is None or not isinstance(entry.value, Scalar):
            return entry
        return Entry(entry.key, Scalar(text, text, entry.value.span))

    return Mapping(tuple(map(restored, fields)), fields.span)
