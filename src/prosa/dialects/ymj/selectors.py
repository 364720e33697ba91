"""Selectors: how a record points at its payload (Y27). One table, one row for every type, and the one way from a text
to a finder.

`first_fenced:<lang>`, `nth_fenced:<lang>:<n>` and `block_id:<id>` take fences from the one parse of the body, so the
footer is never among them and a fence quoted inside a longer one does not count (YA14, YA15). `section:<heading>` and
`heading_path:<h1>/<h2>/… [-> fenced:<lang>]` take headings from it; a heading matches by what a reader sees of it or by
its source, and runs of spaces count as one. `regex:<pattern>[/flags]` and `between:<start>:<end>` come from the
document, so only RE2 runs them: its time is linear in the text, and the product of pattern and text is bounded before
it starts (YA16, X20).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from msgspec import Struct

from prosa.dialects.ymj.sections import normalised
from prosa.document import Document, Fence, Heading, Section
from prosa.regex import regex
from prosa.source import Span


class BadSelector(ValueError):
    """A selector without a possible meaning; the message says why."""


class TooCostly(Exception):
    """A pattern that is too expensive for a body of this size; the message says so."""


class Body(Struct, frozen=True):
    """The text that a selector searches: the body as Markdown, and its text with LF line ends."""

    document: Document
    text: str


class Target(Struct, frozen=True):
    """What was found: its text with LF line ends, and its span where it is one stretch of the source."""

    text: str
    span: Span | None = None


Finder = Callable[[Body], Target | None]
"""Searches once, in linear time. Returns None if there is no such target; may raise `TooCostly`."""


class SelectorType(Struct, frozen=True):
    """A row of the registry. ``form`` shows its notation; ``prepare`` turns the text after the first colon into a
    finder or raises `BadSelector`. ``pattern`` is true if it holds a regular expression (strict: a warning, Y27)."""

    name: str
    form: str
    prepare: Callable[[str], Finder]
    pattern: bool = False


_NUMBER = regex(r"[1-9][0-9]{0,8}")
_BRACES = regex(r"\{([^{}]*)\}")
_ID_WORD = regex(r"#([^\s{}#.]+)")
_ID_PAIR = regex(r"""(?:^|[\s{,])id\s*=\s*("[^"]*"|'[^']*'|[^\s{},"']+)""")
_COMMENT = regex(r"<!--\s*+block_id\s*+:(.*?)-->", re.DOTALL)


def first_fenced(rest: str) -> Finder:
    """Return the first fence of a language."""
    return _nth(_language(rest), 1)


def nth_fenced(rest: str) -> Finder:
    """Return the n-th fence of a language, counted from 1."""
    name, colon, number = rest.rpartition(":")
    if not colon or not _NUMBER.fullmatch(number.strip()):
        raise BadSelector("ends with `:` and a number that counts from 1, `nth_fenced:csv:2` for example")
    return _nth(_language(name), int(number))


def block_id(rest: str) -> Finder:
    """Return the fence with an id: `{#id}` or `id=…` in its info string, or a comment `block_id: id` right before
    it."""
    name = rest.strip()
    if not name or re.search(r"\s", name):
        raise BadSelector("needs an id without spaces, `block_id:prices` for example")

    def find(body: Body) -> Target | None:
        by_comment = _commented(body.document)
        for fence in body.document.fences:
            if name in info_ids(fence.info) or by_comment.get(fence.span.start) == name:
                return target_of(body.document, fence)
        return None

    return find


def fence_language(fence: Fence) -> str:
    """Return the first word of the info string in lower case, attributes left out."""
    return fence.language.partition("{")[0].lower()


def target_of(document: Document, fence: Fence) -> Target:
    """Return the code of a fence."""
    span = fence.content[0] if len(fence.content) == 1 else None
    return Target(normalised(document.fence_text(fence)), span or fence.span)


def nth_of(fences: tuple[Fence, ...], language: str, number: int) -> Fence | None:
    """Return the n-th of the fences in a language."""
    return next(islice((fence for fence in fences if fence_language(fence) == language), number - 1, None), None)


def info_ids(info: str) -> tuple[str, ...]:
    """Return the ids in the info string of a fence."""
    ids = [word for braces in _BRACES.findall(info) for word in _ID_WORD.findall(braces)]
    return (*ids, *(pair.strip("\"'") for pair in _ID_PAIR.findall(info)))


def _nth(language: str, number: int) -> Finder:
    def find(body: Body) -> Target | None:
        fence = nth_of(body.document.fences, language, number)
        return target_of(body.document, fence) if fence else None

    return find


def _language(text: str) -> str:
    name = text.strip().lower()
    if not name or re.search(r"[\s`]", name):
        raise BadSelector("names the language of a fence, `first_fenced:csv` for example")
    return name


def _commented(document: Document) -> dict[int, str]:
    """Return where a fence with an id from a comment starts: only blanks are between the two."""
    starts = [fence.span.start for fence in document.fences]
    ids: dict[int, str] = {}
    for html in document.html:
        match = _COMMENT.match(html.text) if html.comment else None
        at = bisect_right(starts, html.span.start)
        if match is None or at == len(starts) or starts[at] < html.span.start + match.end():
            continue
        between = html.text[match.end() :] + document.source.text[html.span.end : starts[at]]
        if not between.strip():
            ids.setdefault(starts[at], match[1].strip())
    return ids


MAX_PATH = 6
"""Headings have six levels."""

_ARROW = regex(r"(?<!\s)\s*+->\s*+")
_FENCED = regex(r"(?:first_)?fenced:\s*([^\s`:]+)\s*")


def section(rest: str) -> Finder:
    """Return what stands under the first heading with this text, up to the next of its level or above."""
    name = _name(rest)
    if not name:
        raise BadSelector("needs the text of a heading, `section:Results` for example")

    def find(body: Body) -> Target | None:
        chosen = next((candidate for candidate in body.document.sections if _is(candidate.heading, name)), None)
        return _content(body.document, chosen) if chosen else None

    return find


def heading_path(rest: str) -> Finder:
    """Return the section at the end of a path of headings, or the first fence of a language in it."""
    path, arrow, after = _split(rest)
    names = [_name(part) for part in path.split("/")]
    fenced = _FENCED.fullmatch(after)
    if not all(names) or len(names) > MAX_PATH or (arrow and fenced is None):
        raise BadSelector("is a path of headings, `heading_path:Report/Data -> fenced:csv` for example")
    language = fenced[1].lower() if fenced else None

    def find(body: Body) -> Target | None:
        chosen = _walk(body.document.sections, names)
        if chosen is None or language is None:
            return _content(body.document, chosen) if chosen else None
        inside = (fence for fence in body.document.fences if fence.span.start in chosen.span)
        fence = next((fence for fence in inside if fence_language(fence) == language), None)
        return target_of(body.document, fence) if fence else None

    return find


def _split(rest: str) -> tuple[str, bool, str]:
    parts = _ARROW.split(rest, maxsplit=1)
    return parts[0], len(parts) == 2, parts[1] if len(parts) == 2 else ""


def _walk(sections: Iterable[Section], names: list[str]) -> Section | None:
    """Return the first section reached by the path of headings: one pass, each name searched below the last match.

    Every open section stores how much of the path it matches, so that a later heading of the same name may succeed
    where the first one has no match below it.
    """
    open_sections: list[tuple[Section, int]] = []
    for current in sections:
        while open_sections and current.span.start >= open_sections[-1][0].span.end:
            open_sections.pop()
        reached = open_sections[-1][1] if open_sections else 0
        if _is(current.heading, names[reached]):
            reached += 1
        if reached == len(names):
            return current
        open_sections.append((current, reached))
    return None


def _is(heading: Heading, name: str) -> bool:
    return name in (_name(heading.text), _name(heading.plain))


def _name(text: str) -> str:
    """Return a heading as it is compared."""
    return " ".join(text.split())


def _content(document: Document, chosen: Section) -> Target:
    """Return the section without its heading and without the blank lines around it."""
    text = document.source.text
    start = min(chosen.heading.span.end, chosen.span.end)
    inner = text[start : chosen.span.end]
    begin = start + len(inner) - len(inner.lstrip("\r\n"))
    end = max(begin, start + len(inner.rstrip()))
    return Target(normalised(text[begin:end]), Span(begin, end))


MAX_PATTERN = 1_000
"""Maximum length of a pattern."""

MAX_WORK = 25_000_000
"""Instructions of the compiled pattern times bytes of the body: about 100 ms in the worst case (YA16)."""

MAX_MEMORY = 8 * 1024 * 1024
"""Bytes that RE2 may use for one pattern; a pattern that expands beyond it is refused."""

_FLAGS = regex(r"[imsx]*")


def by_pattern(rest: str) -> Finder:
    """Return the first group of the first match, or all of the match where the pattern has no group."""
    pattern, flags = _with_flags(rest)
    compiled = _compile(pattern, flags)

    def find(body: Body) -> Target | None:
        _affordable(compiled, body.text)
        match = _search(compiled, body.text)
        if match is None:
            return None
        text = match.group(1 if compiled.groups else 0)
        return Target(text) if text is not None else None

    return find


def between(rest: str) -> Finder:
    """Return what stands between the first match of one pattern and the next match of another."""
    first, second = _two_patterns(rest)

    def find(body: Body) -> Target | None:
        _affordable(first, body.text)
        _affordable(second, body.text)
        start = _search(first, body.text)
        end = _search(second, body.text, start.end()) if start else None
        if start is None or end is None:
            return None
        return Target(body.text[start.end() : end.start()].strip("\n"))

    return find


def _with_flags(rest: str) -> tuple[str, str]:
    """Return a pattern and its flags. A pattern may contain slashes: the text after the last one counts as flags only
    if it is empty or valid."""
    pattern, slash, flags = rest.rpartition("/")
    if not slash or not _FLAGS.fullmatch(flags):
        return rest, ""
    if "x" in flags:
        raise BadSelector("asks for the flag `x`, which RE2 does not have: write the pattern without spaces")
    return pattern, flags


def _two_patterns(rest: str) -> tuple[Any, Any]:
    r"""Split at the first colon that leaves two patterns; `\\:` never does."""
    problem = BadSelector("needs two patterns, `between:<!-- start -->:<!-- end -->` for example")
    for first, second in _halves(rest):
        try:
            return _compile(first, ""), _compile(second, "")
        except BadSelector as error:
            problem = error
    raise problem


def _halves(rest: str) -> Iterator[tuple[str, str]]:
    if len(rest) > 2 * MAX_PATTERN:
        raise BadSelector(f"is longer than {MAX_PATTERN:,} characters")
    for match in re.finditer(r"(?<!\\):", rest):
        if rest[: match.start()] and rest[match.end() :]:
            yield rest[: match.start()], rest[match.end() :]


class _Match(Protocol):
    """The part of a match of RE2 that is used; the library has no types."""

    def start(self, group: int = 0, /) -> int: ...

    def end(self, group: int = 0, /) -> int: ...

    def group(self, group: int = 0, /) -> str | None: ...


class _Pattern(Protocol):
    """The part of a pattern of RE2 that is used."""

    programsize: int
    groups: int

    def search(self, text: str, start: int = 0, /) -> _Match | None: ...


def _compile(pattern: str, flags: str) -> _Pattern:
    """Return the pattern compiled by RE2. Raises `BadSelector`."""
    import re2  # only here: few records have a pattern

    if not pattern or len(pattern) > MAX_PATTERN:
        raise BadSelector(f"needs a pattern of 1 to {MAX_PATTERN:,} characters")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    options.case_sensitive = "i" not in flags
    inline = "".join(flag for flag in "ms" if flag in flags)
    try:
        compiled: _Pattern = re2.compile(f"(?{inline}){pattern}" if inline else pattern, options)
    except re2.error as error:
        raise BadSelector(f"is not a pattern of RE2: {_words(error)}") from None
    except UnicodeEncodeError:
        raise BadSelector("holds a character that cannot be searched for") from None
    return compiled


def _words(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


def _affordable(compiled: _Pattern, text: str) -> None:
    """Refuse work beyond the limit before any of it is done."""
    if compiled.programsize * len(text) > MAX_WORK:
        raise TooCostly(f"the pattern is too expensive for a body of {len(text):,} characters")


def _search(compiled: _Pattern, text: str, start: int = 0) -> _Match | None:
    """Return the first match, or None; RE2 refuses a text with half a surrogate pair."""
    try:
        return compiled.search(text, start)
    except UnicodeEncodeError:
        return None


REGISTRY_VERSION = "0.7"
"""The specification that these types are those of; `section` and `between` come from its registry page."""

SELECTORS: tuple[SelectorType, ...] = (
    SelectorType("first_fenced", "first_fenced:<lang>", first_fenced),
    SelectorType("nth_fenced", "nth_fenced:<lang>:<n>", nth_fenced),
    SelectorType("block_id", "block_id:<id>", block_id),
    SelectorType("section", "section:<heading>", section),
    SelectorType("heading_path", "heading_path:<h1>/<h2> -> fenced:<lang>", heading_path),
    SelectorType("regex", "regex:<pattern>[/flags]", by_pattern, pattern=True),
    SelectorType("between", "between:<start>:<end>", between, pattern=True),
)

MAX_SELECTOR = 2_100
"""Characters of a selector: two patterns and a name."""


class UnknownSelector(ValueError):
    """A selector of a type that is not in the registry; ``name`` is the type."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def selector_type(selector: str) -> SelectorType | None:
    """Return the row of a selector."""
    name = selector.partition(":")[0].strip()
    return next((row for row in SELECTORS if row.name == name), None)


def prepare(selector: str) -> Finder:
    """Return the finder of a selector. Raises `UnknownSelector` and `BadSelector`."""
    name, colon, rest = selector.partition(":")
    row = selector_type(selector)
    if row is None:
        raise UnknownSelector(name.strip())
    if not colon or not rest.strip() or len(selector) > MAX_SELECTOR:
        raise BadSelector(f"is written `{row.form}`")
    return row.prepare(rest)
