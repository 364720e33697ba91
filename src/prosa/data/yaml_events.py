"""YAML from the events of libyaml, for texts that are not as plain as most front matter. In: text. Out: a `Reading`;
never an exception.

The events come one by one, so nothing is built that a limit forbids. PyYAML is loaded at the first reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from prosa.data.reading import Findings, Reading, shown
from prosa.data.yaml_build import StopReading, TreeBuilder
from prosa.data.yaml_shield import shield
from prosa.diagnostics import Annotation
from prosa.regex import import_uncompiled, regex

if TYPE_CHECKING:
    from yaml import YAMLError


def read_events(text: str, offset: int) -> Reading:
    """Return the data of a YAML document as `read_yaml` does, whatever the text holds."""
    yaml = _yaml()
    if text.startswith("\ufeff"):
        text, offset = text[1:], offset + 1  # libyaml skips a byte-order mark without counting it
    findings = Findings(offset)
    shielded = shield(text, findings)
    builder = TreeBuilder(text, shielded, findings)
    parser = _parser_class()(shielded.text)
    try:
        _feed(parser, builder, findings)
    except StopReading:
        pass
    except yaml.YAMLError as error:
        add_syntax_problem(error, text, findings)
    finally:
        parser.dispose()
    return Reading(builder.close(), tuple(findings.problems))


@cache
def _yaml() -> Any:
    return import_uncompiled("yaml")


def _parser_class() -> Any:
    """libyaml's parser, or PyYAML's own with the same events, ten times slower, where it was built without."""
    return getattr(_yaml(), "CSafeLoader", _yaml().SafeLoader)


_HANDLERS: dict[str, Callable[[TreeBuilder, Any], None]] = {
    "MappingStartEvent": partial(TreeBuilder.on_start, mapping=True),
    "SequenceStartEvent": partial(TreeBuilder.on_start, mapping=False),
    "MappingEndEvent": TreeBuilder.on_end,
    "SequenceEndEvent": TreeBuilder.on_end,
    "AliasEvent": TreeBuilder.on_alias,
}


def _feed(parser: Any, builder: TreeBuilder, findings: Findings) -> None:
    documents = 0
    while True:
        event = parser.get_event()
        name = type(event).__name__
        if name == "ScalarEvent":  # most events are; a `match` would compare one name after the other as well
            builder.on_scalar(event)
        elif name in _HANDLERS:
            _HANDLERS[name](builder, event)
        elif name == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                notes = ("Only the first document was read.",)
                start, end = event.start_mark.index, event.end_mark.index
                findings.add("several-documents", "a second YAML document", start, end, notes=notes)
                return
        elif name == "StreamEndEvent":
            return


# What libyaml complains about, said in words an author understands.
#
# In: an exception of the parser. Out: a ``yaml-syntax`` problem at the narrowest place known.

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
        "The line is indented differently from the lines above, or a quoted value continues after its closing quote.",
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
_AFTER = {
    "did not find expected key",
    "did not find expected '-' indicator",
    "block sequence entries are not allowed in this context",
}
"""What libyaml reports for text behind a value that has ended, and for more than that."""
_OPENING = regex(r"""[ ]*+(?:-[ ]++)*+(?:[^\s:'"\[{][^:]*+:[ ]++)?+(?P<opening>[\["'{])""")
_CLOSING = {"[": "]", "{": "}", '"': '"', "'": "'"}
_CLOSED_AT_CONTEXT = {"found unexpected end of stream", "found unexpected document indicator"}
_ESCAPE = regex(r"\\.", re.DOTALL)


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
    if problem in _AFTER and (opening := _value_before(text, start)) is not None:
        context, (headline, advice) = opening, _behind(text[opening])
    if text[start:end] == "\t" and problem.startswith("found character"):  # any other message fits a tab too
        headline, advice = _TAB
    actual = _named(text[start:end])
    first = None
    if context is not None and context < start:
        first = Annotation(findings.span(context, context + 1), "it began here")
    message = headline.format(found=actual) if "{found}" in headline else headline
    findings.add("yaml-syntax", message, start, end, notes=(advice,) if advice else (), first=first)


def _named(text: str) -> str:
    return "a space" if text == " " else shown(text) if text else "the end of the text"


def _value_before(text: str, place: int) -> int | None:
    """Return where the list, mapping or quoted value starts that ends just before a place in the same line."""
    start = text.rfind("\n", 0, place) + 1
    match = _OPENING.match(text, start, place) if place < len(text) and text[place] not in "\r\n" else None
    if match is None or not text[match.end() : place].rstrip(" ").endswith(_CLOSING[match["opening"]]):
        return None
    return match.start("opening")


def _behind(opening: str) -> tuple[str, str]:
    """Return the message for text behind a value that starts with a bracket or a quote."""
    if opening in "[{":
        ends = f"A value that starts with `{opening}` ends at its `{_CLOSING[opening]}`."
        return "text after a value that has ended", f"{ends} Quote the whole value if it is one text."
    return "text after a quoted value", "Put the whole value in quotes, of the other kind if this quote is part of it."


def _stretch(text: str, place: int) -> tuple[int, int]:
    """Return one character at a place (an escape counts as one), nothing at a line end or at the end."""
    place = min(place, len(text))
    if text[place : place + 1] in ("", "\n", "\r"):
        return place, place
    match = _ESCAPE.match(text, place)
    return place, match.end() if match else place + 1
