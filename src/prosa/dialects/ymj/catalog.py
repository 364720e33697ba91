"""The card catalog (Y4, YA5, YA6): the summary of a record from the first two lines of its file, without reading on.

In: the beginning of a text, two whole lines or more. Out: the summary, or None where these lines do not give it. The
rest of the record is not looked at, so a catalog entry says nothing about whether it is well-formed.
"""

from __future__ import annotations

import re

from prosa.data import Mapping, Scalar, read_yaml

HEAD_CHARACTERS = 4_096
"""Enough for two lines: a summary has at most 120 characters, and one ten times as long is still catalogued."""

MAX_SUMMARY = 120
"""Code points of `doc_summary` (Y4)."""

_HEAD = re.compile(r"\ufeff?---(?:\r\n|\n|\r)(doc_summary:[^\r\n]*)(?:(?:\r\n|\n|\r)([ \t]*[^ \t\r\n])?|\Z)")
_BLOCK = ("literal", "folded")


def read_catalog(head: str, *, whole: bool = False) -> str | None:
    """`doc_summary` as the second line gives it. None when the first line is not `---`, the second does not begin with
    `doc_summary:`, it cannot be parsed alone, or its value goes on in the next line.

    ``whole`` says that ``head`` is the whole text; else a second line without its end is taken as cut off.
    """
    match = _HEAD.match(head)
    if match is None or (match.end(1) == len(head) and not whole):
        return None
    if match[2] and match[2][0] in " \t" and not match[2].lstrip().startswith("#"):
        return None  # an indented third line continues the value
    return summary_of_line(match[1])


def summary_of_line(line: str) -> str | None:
    """The summary that the second line gives when it is parsed alone, or None."""
    reading = read_yaml(line)
    if reading.problems or not isinstance(reading.node, Mapping):
        return None
    value = reading.node.get("doc_summary")
    if not isinstance(value, Scalar) or value.style in _BLOCK or value.value is None or len(reading.node.entries) != 1:
        return None
    return value.text
