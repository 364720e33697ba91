"""JSONPath queries of RFC 9535 on outputs. In: a query as text. Out: the values it finds, each with its JSON pointer.

Queries are untrusted: their length, descents and results are bounded, and patterns run in linear time. The library
loads with the first query.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

from msgspec import Struct

from prosa.data import Value, format_pointer
from prosa.regex import regex

if TYPE_CHECKING:
    from jsonpath_rfc9535 import JSONPathEnvironment, JSONPathQuery

MAX_CHARACTERS = 1_000
"""Of a query."""

MAX_DESCENTS = 2
"""`..` in a query: each may visit the whole output once more."""

MAX_NODES = 10_000
"""What a query may find."""

MAX_AGAIN = 1_000
"""Maximum size of an output that a filter may read as a whole: each value reads it, which is quadratic."""

_MAX_WORDS = 200

MAX_PATTERN = 1_000
"""Characters of a pattern."""

Parts: TypeAlias = tuple[str | int, ...]


class BadQuery(ValueError):
    """An invalid query, or one that costs too much. The message continues after the name of the query."""


class Query(Struct, frozen=True):
    """A compiled query. ``parts`` are the names and indexes of one that leads to at most one value, else None;
    ``again`` is true if a filter in it reads the whole output for each value."""

    text: str
    compiled: JSONPathQuery
    parts: Parts | None
    again: bool = False

    def find(self, value: Value) -> list[tuple[str, Value]]:
        """Return the pointers and values that it finds, in order. Raises `BadQuery`, for more than `MAX_NODES` too."""
        if self.again and _is_large(value):
            raise BadQuery(f"asks for `$` again in a filter, of an output with more than {MAX_AGAIN:,} values")
        try:
            nodes = list(islice(self.compiled.finditer(value), MAX_NODES + 1))
        except Exception as error:
            raise BadQuery(f"cannot be answered: {_words(error)}") from None
        if len(nodes) > MAX_NODES:
            raise BadQuery(f"finds more than {MAX_NODES:,} values")
        return cast("list[tuple[str, Value]]", [(format_pointer(node.location), node.value) for node in nodes])


@lru_cache(maxsize=256)
def compile_query(text: str) -> Query:
    """Return the query in ``text``. Raises `BadQuery`."""
    if len(text) > MAX_CHARACTERS:
        raise BadQuery(f"is longer than {MAX_CHARACTERS:,} characters")
    if text.count("..") > MAX_DESCENTS:
        raise BadQuery(f"descends with `..` more than {MAX_DESCENTS} times")
    try:
        compiled = _environment().compile(text)
        parts = tuple(_parts(compiled)) if compiled.singular_query() else None
    except Exception as error:
        raise BadQuery(f"is not a JSONPath query of RFC 9535: {_words(error)}") from None
    return Query(text, compiled, parts, "$" in _STRING.sub("", text)[1:])


_STRING = regex(r"""'(?:[^'\\]|\\.)*+(?:'|\Z)|"(?:[^"\\]|\\.)*+(?:"|\Z)""")


def _words(error: Exception) -> str:
    """Return the library's message; a foreign error is described by its type."""
    from jsonpath_rfc9535 import JSONPathError

    words = str(error.args[0] if error.args else error).split("\n")[0][:_MAX_WORDS]
    return words if isinstance(error, JSONPathError) else f"{type(error).__name__}: {words}"


def _is_large(value: Value) -> bool:
    left, todo = MAX_AGAIN, [value]
    while todo and left > 0:
        each = todo.pop()
        left -= 1
        if isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, list):
            todo += each
    return left <= 0


def _parts(compiled: JSONPathQuery) -> Iterator[str | int]:
    from jsonpath_rfc9535.selectors import IndexSelector, NameSelector

    for segment in compiled.segments:
        selector = segment.selectors[0]
        if isinstance(selector, NameSelector):
            yield selector.name
        elif isinstance(selector, IndexSelector):
            yield selector.index


@cache
def _environment() -> JSONPathEnvironment:
    """Return an environment whose `match()` and `search()` use RE2: the library's own may backtrack without end."""
    from jsonpath_rfc9535 import JSONPathEnvironment
    from jsonpath_rfc9535.function_extensions import ExpressionType, FilterFunction

    class Matches(FilterFunction):
        arg_types: ClassVar = [ExpressionType.VALUE, ExpressionType.VALUE]
        return_type = ExpressionType.LOGICAL

        def __init__(self, whole: bool) -> None:
            self.whole = whole

        def __call__(self, string: Value, pattern: Value) -> bool:
            if not isinstance(string, str) or not isinstance(pattern, str):
                return False
            try:
                pattern = _DOT.sub(lambda found: "[^\\n\\r]" if found[0] == "." else found[0], pattern)
                return matches(f"^(?:{pattern})$" if self.whole else pattern, string)
            except BadPattern:
                return False

    environment = JSONPathEnvironment()
    environment.function_extensions |= {"match": Matches(True), "search": Matches(False)}
    return environment


_DOT = regex(r"\\.|\[(?:\\.|[^\]])*+\]?|\.")
"""A dot, which matches no end of a line (RFC 9485), or an escape or a class around one."""


class BadPattern(ValueError):
    """A text that RE2 does not take as a pattern."""


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern of RE2 is found in a text, in time linear in it. Raises `BadPattern`."""
    try:
        return compile_pattern(pattern).search(text) is not None
    except UnicodeEncodeError:  # half a surrogate pair is no text to RE2
        return False


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Any:  # noqa: ANN401
    """Return the pattern compiled by RE2, which has no types. Raises `BadPattern`."""
    import re2

    if len(pattern) > MAX_PATTERN:
        raise BadPattern(f"is longer than {MAX_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0] if error.args else ""
        words = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise BadPattern(f"is not a pattern of RE2: {words}") from None
