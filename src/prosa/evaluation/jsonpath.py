"""JSONPath queries of RFC 9535 on outputs. In: a query as text. Out: the values it finds, each with its JSON pointer.

Queries are untrusted: their length, descents, visits and results are bounded, and patterns run in linear time. The
parser loads with the first query.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from prosa.data import Value, format_pointer
from prosa.regex import regex

if TYPE_CHECKING:
    from prosa.evaluation.rfc9535.selectors import Path

MAX_CHARACTERS = 1_000
"""Of a query."""

MAX_DESCENTS = 2
"""`..` in a query: each may visit the whole output once more."""

MAX_NODES = 10_000
"""What a query may find."""

MAX_AGAIN = 1_000
"""Maximum size of an output that a filter may read as a whole: each value reads it, which is quadratic."""


Parts: TypeAlias = tuple[str | int, ...]


class BadQuery(ValueError):
    """An invalid query, or one that costs too much. The message continues after the name of the query."""


class Query(Struct, frozen=True):
    """A compiled query. ``parts`` are the names and indexes of one that leads to at most one value, else None;
    ``again`` is true if a filter in it reads the whole output for each value."""

    text: str
    compiled: Path
    parts: Parts | None
    again: bool = False

    def find(self, value: Value) -> list[tuple[str, Value]]:
        """Return the pointers and values that it finds, in order. Raises `BadQuery`, for more than `MAX_NODES` too."""
        from prosa.evaluation.rfc9535.selectors import Search, TooMuch

        if self.again and _is_large(value):
            raise BadQuery(f"asks for `$` again in a filter, of an output with more than {MAX_AGAIN:,} values")
        try:
            nodes = list(islice(self.compiled.nodes(value, Search(value)), MAX_NODES + 1))
        except TooMuch as error:
            raise BadQuery(str(error)) from None
        except RecursionError:
            raise BadQuery("compares values that are nested too deep") from None
        if len(nodes) > MAX_NODES:
            raise BadQuery(f"finds more than {MAX_NODES:,} values")
        return [(format_pointer(node.location()), node.value) for node in nodes]


@lru_cache(maxsize=256)
def compile_query(text: str) -> Query:
    """Return the query in ``text``. Raises `BadQuery`."""
    from prosa.evaluation.rfc9535.parsing import parse_query
    from prosa.evaluation.rfc9535.text import JsonPathError

    if len(text) > MAX_CHARACTERS:
        raise BadQuery(f"is longer than {MAX_CHARACTERS:,} characters")
    if text.count("..") > MAX_DESCENTS:
        raise BadQuery(f"descends with `..` more than {MAX_DESCENTS} times")
    try:
        compiled = parse_query(text)
    except JsonPathError as error:
        wrong = f"at character {error.offset + 1}, it {error.message}"
        raise BadQuery(f"is not a JSONPath query of RFC 9535: {wrong}") from None
    return Query(text, compiled, compiled.parts, "$" in _STRING.sub("", text)[1:])


_STRING = regex(r"""'(?:[^'\\]|\\.)*+(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z)""")


def _is_large(value: Value) -> bool:
    left, todo = MAX_AGAIN, [value]
    while todo and left > 0:
        item = todo.pop()
        left -= 1
        if isinstance(item, dict):
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return left <= 0
