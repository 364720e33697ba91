"""Names of people and participants: as a model service takes them, and as somebody is spoken to (P7, PA4, PA18)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from prosa.document import parse
from prosa.source import SourceText

MAX_NAME = 64
"""Characters of a name in a request."""

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")
_MENTION = re.compile(r"(?<![\w@./-])@(?P<name>\w[\w.-]*)")


def wire_names(names: Iterable[str]) -> Mapping[str, str]:
    """Each name reduced to letters, digits, `_` and `-`, at most 64; two names stay two (PA4)."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        if name not in made:
            made[name] = _apart(_reduced(name), taken)
            taken.add(made[name])
    return made


def mentioned(text: str, participants: Iterable[str]) -> tuple[str, ...]:
    """The participants that a text speaks to as `@NAME`, in the order of the first time, case aside."""
    known = {name.lower(): name for name in participants}
    found: dict[str, None] = {}
    for match in _MENTION.finditer(text):
        name = known.get(match["name"].lower()) or known.get(match["name"].rstrip(".-").lower())
        if name is not None:
            found[name] = None
    return tuple(found)


def without_code(text: str) -> str:
    """A text without its code, in which nobody is spoken to (PA1)."""
    document = parse(SourceText(text))
    code = (*(each.span for each in document.fences), *document.indented_code, *(s.span for s in document.code_spans))
    pieces, at = [], 0
    for span in sorted(code):
        pieces.append(text[at : max(at, span.start)])
        at = max(at, span.end)
    return " ".join((*pieces, text[at:]))


def _reduced(name: str) -> str:
    """Without marks on letters, everything else that is not allowed as an underscore."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name) if not unicodedata.combining(char))
    return _NOT_ALLOWED.sub("_", plain)[:MAX_NAME]


def _apart(name: str, taken: set[str]) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        end = f"-{number}"
        made = name[: MAX_NAME - len(end)] + end
    return made
