"""What libyaml complains about, said in words an author understands.

In: an exception of the parser. Out: a ``yaml-syntax`` problem at the narrowest place known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prosa.data.reading import Findings, shown
from prosa.diagnostics import Annotation

if TYPE_CHECKING:
    from yaml import YAMLError

_QUOTE = "Quote the value if this is meant as text."

_TAB = ("a tab cannot indent YAML", "Indent with spaces.")

# libyaml's problem -> (headline, what to do)
_WORDS: dict[str, tuple[str, str]] = {
    "mapping values are not allowed in this context": (
        "a `:` that cannot start a value here",
        "Either the line is indented wrongly, or a value that holds `: ` needs quotes.",
    ),
    "found character that cannot start any token": ("{found} cannot start an unquoted value", _QUOTE),
    "could not find expected ':'": ("expected `:` after this key", "Each line of a mapping is `key: value`."),
    "did not find expected key": (
        "expected a `key: value` line here",
        "The line is indented differently from the lines above, or a value that starts with a quote goes on after it.",
    ),
    "did not find expected '-' indicator": (
        "expected another `- item` of the list here",
        "Indent the line like the items above, or end the list before it.",
    ),
    "did not find expected ',' or ']'": ("expected `,` or `]`", "A `[` opened a list that is not closed."),
    "did not find expected ',' or '}'": (
        "expected `,` or `}`",
        "A `{` opened a mapping that is not closed. A template action as a value needs quotes.",
    ),
    "found unexpected end of stream": ("a quoted value is never closed", "Expected the same quote again."),
    "found unexpected document indicator": ("a quoted value is never closed", "Expected the same quote again."),
    "found unknown escape character": (
        "unknown escape {found}",
        "Write a backslash as `\\\\`, or put the value in single quotes.",
    ),
    "did not find expected hexdecimal number": ("{found} is not followed by enough hexadecimal digits", ""),
    "did not find expected hexadecimal number": ("{found} is not followed by enough hexadecimal digits", ""),
    "found invalid Unicode character escape code": ("{found} is not a character", ""),
    "block sequence entries are not allowed in this context": (
        "a list item cannot start here",
        "Put the list on the lines after its key.",
    ),
    "block mapping keys are not allowed in this context": ("a `?` key cannot start here", ""),
    "found a tab character where an indentation space is expected": _TAB,
    "found a tab character that violates indentation": _TAB,
    "did not find expected <document start>": (
        "text after the end of the YAML document",
        "Expected nothing more; remove `...` or the text after it.",
    ),
    "did not find expected node content": ("expected a value here", ""),
    "found undefined tag handle": ("an unknown tag", "Remove the `!` tag, or quote the value."),
    "found incompatible YAML document": ("this version of YAML is not supported", "Expected `%YAML 1.2`."),
    "found duplicate %YAML directive": ("a second `%YAML` line", ""),
    "did not find expected comment or line break": (
        "text after a value that has ended",
        "Expected a comment or the end of the line.",
    ),
    "did not find expected alphabetic or numeric character": (
        "{found} cannot follow `*` or `&` here",
        "`*` and `&` start a YAML alias or anchor; quote the value if it is text.",
    ),
}
_CLOSED_AT_CONTEXT = {"found unexpected end of stream", "found unexpected document indicator"}
_ESCAPE = re.compile(r"\\.", re.DOTALL)


def add_syntax_problem(error: YAMLError, text: str, findings: Findings) -> None:
    """Record a libyaml error as a problem of ``text``."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    context_mark = getattr(error, "context_mark", None)
    context = min(context_mark.index, len(text)) if context_mark else None
    mark = getattr(error, "problem_mark", None)
    place = mark.index if mark else getattr(error, "position", 0) or 0
    if context is not None and problem in _CLOSED_AT_CONTEXT:
        place, context = context, None
    start, end = _stretch(text, place)
    headline, advice = _WORDS.get(problem, ("YAML cannot be read here: " + problem, ""))
    if text[start:end] == "\t" and problem.startswith("found character"):  # any other message fits a tab too
        headline, advice = _TAB
    found = shown(text[start:end]) if start < end else "the end of the text"
    first = None
    if context is not None and context < start:
        first = Annotation(findings.span(context, context + 1), "it began here")
    message = headline.format(found=found) if "{found}" in headline else headline
    findings.add("yaml-syntax", message, start, end, notes=(advice,) if advice else (), first=first)


def _stretch(text: str, place: int) -> tuple[int, int]:
    """One character at a place (an escape counts as one), nothing at a line end or at the end."""
    place = min(place, len(text))
    if text[place : place + 1] in ("", "\n", "\r"):
        return place, place
    match = _ESCAPE.match(text, place)
    return place, match.end() if match else place + 1
