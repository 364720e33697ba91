"""The one matcher of globs: of `.gitignore`, of `prosa.toml`, of `globs` in meta files and of searches.

In: a pattern and a path with `/`, both bytes. Out: whether it matches. The grammar is that of git's wildmatch: `*` and
`?` stay inside a folder, `**` as a whole part of a path crosses folders, `[a-z]`, `[!a-z]` and `[[:digit:]]` are one
byte of a set, a backslash escapes. A pattern becomes an automaton whose positions are the bits of one number; every
byte of a path moves all of them at once. So matching takes one step per byte, for any pattern. Where a work tree says
`core.ignoreCase`, the letters of ASCII are folded as git folds them.
"""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TypeAlias

from msgspec import Struct

from prosa.regex import regex

MAX_GLOB = 1_024
"""Characters of a glob that a document or a setting writes; a longer one is some other text and matches nothing."""

_SLASH = 0x2F
_SPECIAL = regex(rb"[*?\[\\]")
_STARS = regex(rb"\*+")


_Gap: TypeAlias = int
"""What takes any number of bytes: `_PART` within a part of the path, the others across parts. `_FOLDERS` is `**` before
a slash, which is left out with its slash where no folder is meant."""

_PART, _ANY, _FOLDERS = 1, 2, 3

_Item: TypeAlias = frozenset[int] | _Gap


class _Automaton(Struct, frozen=True):
    """Positions as bits. ``takes`` has those that each byte moves on; ``gaps`` stay at a byte and ``deep`` at a slash
    too; ``optional`` are those that may be left out with the slash behind them."""

    takes: tuple[int, ...]
    gaps: int
    deep: int
    optional: int
    end: int

    def accepts(self, text: bytes) -> bool:
        state = self._beyond(1, 0)
        for byte in text:
            stays = self.deep if byte == _SLASH else self.gaps
            state = self._beyond((state & self.takes[byte]) << 1, state & stays)
            if not state:
                return False
        return bool(state & self.end)

    def _beyond(self, arrived: int, stayed: int) -> int:
        """Return the positions with those reached without a byte: after every gap, and after optional parts."""
        state = arrived | (arrived & self.optional) << 2 | stayed
        return state | (state & self.gaps) << 1


class Wildcard(Struct, frozen=True):
    """A pattern for whole texts. ``prefix`` and ``suffix`` are the literal bytes at its ends, which decide most texts;
    the automaton reads what lies between, and is None for a pattern without a wildcard."""

    prefix: bytes
    suffix: bytes = b""
    automaton: _Automaton | None = None

    def matches(self, text: bytes) -> bool:
        """Return whether the pattern is about all of ``text``."""
        if self.automaton is None:
            return text == self.prefix
        if not text.endswith(self.suffix) or not text.startswith(self.prefix):
            return False
        start, end = len(self.prefix), len(text) - len(self.suffix)
        return end >= start and self.automaton.accepts(text[start:end])


class PathGlob(Struct, frozen=True):
    """A glob as in a line of `.gitignore`: with a slash, not counting one at its end, it is about the whole path, else
    about a name at any depth. One that ends with a slash is about folders."""

    wildcard: Wildcard | None
    anchored: bool
    only_folders: bool
    folds: bool = False

    def matches(self, path: bytes, *, is_folder: bool) -> bool:
        """Return whether the glob is about the file or folder at ``path``, and not only about a folder above it."""
        return self.names(path, path[path.rfind(b"/") + 1 :], is_folder=is_folder)

    def names(self, path: bytes, name: bytes, *, is_folder: bool) -> bool:
        """Return `matches` for one who has the last part of the path at hand."""
        if self.wildcard is None or (self.only_folders and not is_folder):
            return False
        text = path if self.anchored else name
        return self.wildcard.matches(text.lower() if self.folds else text)

    def covers(self, path: bytes) -> bool:
        """Return whether the glob is about the file at ``path`` or about a folder that it is in."""
        if self.matches(path, is_folder=False):
            return True
        ends = (at for at, byte in enumerate(path) if byte == _SLASH)
        return any(self.matches(path[:end], is_folder=True) for end in ends)


@lru_cache(maxsize=4_096)
def path_glob(pattern: bytes, *, folds: bool = False) -> PathGlob:
    """Return the glob of one line, without the `!` in front of it. A broken set in brackets makes it match nothing."""
    only_folders = pattern.endswith(b"/")
    body = pattern[:-1] if only_folders else pattern
    return PathGlob(wildcard(body.removeprefix(b"/"), folds=folds), b"/" in body, only_folders, folds)


def glob_matches(glob: str, path: str) -> bool:
    """Return whether a glob of a setting or an option matches a path below the root, or a folder that it is in."""
    if len(glob) > MAX_GLOB:
        return False
    return path_glob(as_bytes(glob.removeprefix("./"))).covers(as_bytes(path))


def is_glob(glob: str) -> bool:
    """Return whether a glob in a setting can match any path."""
    pattern = path_glob(as_bytes(glob.removeprefix("./"))) if len(glob) <= MAX_GLOB else None
    return pattern is not None and pattern.wildcard not in (None, Wildcard(b""))


def as_bytes(text: str) -> bytes:
    """Return a text in the encoding of the file system. Characters that no file name can hold become question marks."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


@lru_cache(maxsize=4_096)
def wildcard(pattern: bytes, *, folds: bool = False) -> Wildcard | None:
    """Return the parsed pattern, or None if it can match nothing. As in git, a `**` at the first wildcard crosses
    folders whatever precedes it. A pattern that ``folds`` is for texts in lower case."""
    special = _SPECIAL.search(pattern)
    if special is None:
        return Wildcard(pattern.lower() if folds else pattern)
    items = _items(pattern[special.start() :], folds=folds)
    if items is None:
        return None
    tail = _literal_tail(items)
    suffix = bytes(next(iter(item)) for item in items[tail:] if isinstance(item, frozenset))
    prefix = pattern[: special.start()]
    return Wildcard(prefix.lower() if folds else prefix, suffix, _automaton(items[:tail]))


def _literal_tail(items: list[_Item]) -> int:
    """Return where the literal bytes at the end start, excluding the slash of a `**`."""
    tail = len(items)
    while tail and isinstance(item := items[tail - 1], frozenset) and len(item) == 1:
        if tail > 1 and items[tail - 2] == _FOLDERS:
            break
        tail -= 1
    return tail


def _automaton(items: list[_Item]) -> _Automaton:
    def bits(*kinds: _Gap) -> int:
        return sum(1 << at for at, item in enumerate(items) if item in kinds)

    takes = [0] * 256
    for at, item in enumerate(items):
        for byte in item if isinstance(item, frozenset) else ():
            takes[byte] |= 1 << at
    deep = bits(_ANY, _FOLDERS)
    return _Automaton(tuple(takes), deep | bits(_PART), deep, bits(_FOLDERS), 1 << len(items))


def _items(pattern: bytes, *, folds: bool) -> list[_Item] | None:
    """Return the pattern in order; None where a set is broken or nothing follows a backslash. git folds no letter
    behind a backslash, and none that stands alone in a set."""
    items: list[_Item] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        if byte == b"*":
            gap, at = _gap(pattern, at)
            if gap == _FOLDERS and items[-2:-1] == [gap]:
                at += 1  # `**/**/` is `**/`
            else:
                items.append(gap)
        elif byte == b"?":
            items.append(_ANY_BYTE)
            at += 1
        elif byte == b"[":
            char_set = _set(pattern, at + 1, folds=folds)
            if char_set is None:
                return None
            items.append(char_set[0] - {_SLASH})
            at = char_set[1]
        else:
            escaped = byte == b"\\"
            at += escaped
            if at == len(pattern):
                return None
            literal = pattern[at : at + 1]
            items.append(frozenset(literal.lower() if folds and not escaped else literal))
            at += 1
    return items


def _gap(pattern: bytes, at: int) -> tuple[_Gap, int]:
    """Return what the stars at ``at`` mean, and where they end."""
    match = _STARS.match(pattern, at)
    assert match is not None
    end = match.end()
    after = pattern[end:]
    whole = (at == 0 or pattern[at - 1] == _SLASH) and (not after or after.startswith((b"/", b"\\/")))
    if end - at == 1 or not whole:
        return _PART, end
    return (_FOLDERS if after.startswith(b"/") else _ANY), end


def _set(pattern: bytes, at: int, *, folds: bool) -> tuple[frozenset[int], int] | None:
    """Return the bytes of the set that starts at ``at``, after its bracket, and where it ends; None for a broken set.
    Its first byte never closes it, and the first byte of a range counts even if the range is empty."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    before, first = -1, True
    while first or pattern[at : at + 1] != b"]":
        first = False
        if (
            pattern.startswith(b"[:", at)
            and (close := pattern.find(b"]", at + 2)) > at + 2
            and pattern[close - 1] == 0x3A
        ):
            named = _CLASSES.get(pattern[at + 2 : close - 1])
            if named is None:
                return None
            members |= _LOWER if folds and named == _UPPER else named
            before, at = -1, close + 1
            continue
        is_range = before >= 0 and pattern[at : at + 1] == b"-" and pattern[at + 1 : at + 2] not in (b"", b"]")
        at += is_range
        at += pattern[at : at + 1] == b"\\"
        if at >= len(pattern):
            return None
        byte = pattern[at]
        taken = range(before, byte + 1) if is_range else (byte,)
        members.update(taken)
        if folds and is_range:
            members.update(bytes(taken).lower())
        before, at = (-1 if is_range else byte), at + 1
    return (_ALL - members if negated else frozenset(members)), at + 1


def _span(*ranges: str) -> frozenset[int]:
    return reduce(frozenset.union, (frozenset(range(ord(bounds[0]), ord(bounds[-1]) + 1)) for bounds in ranges))


_ALL = frozenset(range(256))
_ANY_BYTE = _ALL - {_SLASH}
_DIGIT, _UPPER, _LOWER = _span("09"), _span("AZ"), _span("az")
_GRAPH = _span("!~")
_CLASSES = {
    b"alnum": _DIGIT | _UPPER | _LOWER,
    b"alpha": _UPPER | _LOWER,
    b"blank": frozenset(b" \t"),
    b"cntrl": _span("\0\x1f", "\x7f"),
    b"digit": _DIGIT,
    b"graph": _GRAPH,
    b"lower": _LOWER,
    b"print": _GRAPH | {0x20},
    b"punct": _GRAPH - _DIGIT - _UPPER - _LOWER,
    b"space": frozenset(b" \t\n\r"),
    b"upper": _UPPER,
    b"xdigit": _DIGIT | _span("AF", "af"),
}
