"""Text → tokens, as Go's `text/template/parse` lexes them: plain text, and the pieces between ``{{`` and ``}}``.

In: any text. Out: tokens with offsets, trim markers already applied, comments removed. Where no token can start, an
error token replaces the rest of the action. It sees no data. One pass, each character read a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from prosa.regex import regex
from prosa.template.errors import TemplateError, quoted

Kind: TypeAlias = Literal[
    "text", "open", "close", "space", "field", "variable", "word", "number", "char", "string", "raw", "dot",
    "|", "(", ")", ",", "=", ":=", "end", "error",
]  # fmt: skip

OPEN, CLOSE = "{{", "}}"
SPACES = " \t\r\n"

_CLOSE = regex(r"[ \t\r\n]-\}\}|\}\}")
_SPACE = regex(r"[ \t\r\n]+")
_TRIM_CLOSE = regex(r"-\}\}")
_NAME = regex(r"\w+")
_FIELD = regex(r"\.(\w+(?:-+\w+)*)")
_VARIABLE = regex(r"\$\w*")
_NUMBER = regex(
    r"[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*|0[bB][01_]*"
    r"|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?"
)
_STRING = regex(r'"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"')
_CHAR = regex(r"'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'")
_TERMINATORS = frozenset(" \t\r\n.,|:()")
_DIGITS = frozenset("0123456789")


class Token(Struct, frozen=True):
    """A piece of the template. ``text`` is the source of the piece; for fields without the dot."""

    kind: Kind
    text: str
    start: int
    end: int


def lex(text: str) -> tuple[list[Token], Mapping[int, TemplateError]]:
    """Return all tokens, an ``end`` token last, and the errors by the offset of their ``error`` token.

    Errors are not raised here, because the parser may find an earlier mistake. Lexing continues after the action that
    contains one.
    """
    lexer = _Lexer(text)
    lexer.run()
    return lexer.tokens, lexer.failures


def is_name(text: str) -> bool:
    """Return whether a text is made of letters and decimal digits of any script, ``_`` as in Go, and ``-`` (X11)."""
    if text.isascii():
        return True
    from unicodedata import category  # only here: most names are in ASCII

    return all(char in "_-" or category(char)[0] == "L" or category(char) == "Nd" for char in text)


class _Lexer:
    """The state of one pass."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.failures: dict[int, TemplateError] = {}
        self.parens: list[int] = []

    def run(self) -> None:
        """Lexes everything."""
        text, at, trim = self.text, 0, False
        while True:
            opened = text.find(OPEN, at)
            stop = len(text) if opened < 0 else opened
            self._plain(at, stop, trim, trim_end=opened >= 0 and self._trims_left(opened))
            if opened < 0:
                self._add("end", len(text), len(text))
                return
            begun = len(self.tokens)
            try:
                at, trim = self._action(opened)
            except TemplateError as error:
                at, trim = self._behind(opened, begun, error), False

    def _behind(self, opened: int, begun: int, error: TemplateError) -> int:
        """Add the error token, end its action, and return the offset where lexing continues."""
        if len(self.tokens) == begun:
            self._add("open", opened, opened + len(OPEN))
        failed = max(error.offset, self.tokens[-1].end)
        self.failures[error.offset] = error
        self.tokens.append(Token("error", error.fragment, error.offset, error.offset))
        closed = self.text.find(CLOSE, failed)
        if closed < 0:
            return len(self.text)
        self._add("close", closed, closed + len(CLOSE))
        return closed + len(CLOSE)

    def _trims_left(self, opened: int) -> bool:
        marker = opened + len(OPEN)
        return self.text[marker : marker + 1] == "-" and self.text[marker + 1 : marker + 2] in (" ", "\t", "\r", "\n")

    def _plain(self, start: int, stop: int, trim_start: bool, *, trim_end: bool) -> None:
        text = self.text
        if trim_start:
            while start < stop and text[start] in SPACES:
                start += 1
        if trim_end:
            while stop > start and text[stop - 1] in SPACES:
                stop -= 1
        if stop > start:
            self._add("text", start, stop)

    def _action(self, opened: int) -> tuple[int, bool]:
        """Lexes from ``{{`` to behind ``}}``, and return that offset, and whether the text after it is trimmed."""
        at = opened + len(OPEN)
        if self._trims_left(opened):
            at += 2
        if self.text.startswith("/*", at):
            return self._comment(opened, at)
        self._add("open", opened, at)
        self.parens.clear()
        while True:
            closed = _CLOSE.match(self.text, at)
            if closed:
                return self._close(closed.start(), closed.end())
            at = self._token(at, opened)

    def _close(self, start: int, end: int) -> tuple[int, bool]:
        if self.parens:
            raise self._error("unclosed parenthesis: a ) is missing", self.parens[-1], start)
        self._add("close", start, end)
        return end, end - start > len(CLOSE)

    def _comment(self, opened: int, at: int) -> tuple[int, bool]:
        ended = self.text.find("*/", at + 2)
        if ended < 0:
            raise self._error("unclosed comment: it ends with */}}", opened, at + 2)
        closed = _CLOSE.match(self.text, ended + 2)
        if closed is None:
            raise self._error("a comment ends with */ directly before }}", opened, ended + 2)
        return closed.end(), closed.end() - closed.start() > len(CLOSE)

    def _token(self, at: int, opened: int) -> int:
        """Read one token inside an action and return the offset after it."""
        first = self.text[at : at + 1]
        if not first:
            raise self._error("unclosed action: it ends with }}", opened, len(self.text))
        if first in SPACES:
            return self._space(at)
        if first == "." and self.text[at + 1 : at + 2] not in _DIGITS:
            return self._field(at)
        if first == "$":
            return self._named(self._match(_VARIABLE, "variable", at), at)
        if first in "+-." or first in _DIGITS:
            return self._number(at)
        if first == "_" or first.isalnum():
            return self._named(self._match(_NAME, "word", at), at)
        return self._quoted(first, at) or self._punctuation(first, at)

    def _space(self, at: int) -> int:
        end = _SPACE.match(self.text, at).end()  # type: ignore[union-attr]
        if _TRIM_CLOSE.match(self.text, end):
            end -= 1
        if end > at:
            self._add("space", at, end)
        return end

    def _field(self, at: int) -> int:
        match = _FIELD.match(self.text, at)
        if match is None:
            self._add("dot", at, at + 1)
            return self._ended(at + 1, at)
        name = match.group(1)
        if not is_name(name):
            hint = f'a name is made of letters, digits, _ and -; write (index . "{name}")'
            raise self._error(f"{quoted(match.group())} is not a name: {hint}", at, match.end())
        self.tokens.append(Token("field", name, at, match.end()))
        return self._ended(match.end(), at)

    def _named(self, end: int, start: int) -> int:
        """Return the end of a variable or word, which is a name as in Go."""
        name = self.text[start:end].removeprefix("$")
        if not is_name(name):
            raise self._error(f"{quoted(name)} is not a name: it is made of letters, digits and _", start, end)
        return self._ended(end, start)

    def _number(self, at: int) -> int:
        end = _NUMBER.match(self.text, at).end()  # type: ignore[union-attr]
        follows = self.text[end : end + 1]
        if end == at or follows == "_" or follows.isalnum():
            raise self._error("not a number", at, end + 1)
        self._add("number", at, end)
        return end

    def _quoted(self, first: str, at: int) -> int:
        if first == "`":
            end = self.text.find("`", at + 1) + 1
            if not end:
                raise self._error("unclosed raw string: a ` is missing", at, at + 1)
            self._add("raw", at, end)
            return end
        if first not in "\"'":
            return 0
        match = (_STRING if first == '"' else _CHAR).match(self.text, at)
        if match is None:
            what = "string" if first == '"' else "character constant"
            raise self._error(f"unclosed {what}: a {first} is missing on this line", at, at + 1)
        self._add("string" if first == '"' else "char", at, match.end())
        return match.end()

    def _punctuation(self, first: str, at: int) -> int:
        if first == ":":
            if not self.text.startswith(":=", at):
                raise self._error("expected :=, found :", at, at + 1)
            self._add(":=", at, at + 2)
            return at + 2
        if first == "(":
            self.parens.append(at)
        elif first == ")":
            if not self.parens:
                raise self._error("unexpected ): no parenthesis is open", at, at + 1)
            self.parens.pop()
        elif first not in "|,=":
            raise self._error(f"unexpected character {first!r} in an action", at, at + 1)
        self.tokens.append(Token(first, first, at, at + 1))  # type: ignore[arg-type]
        return at + 1

    def _match(self, pattern: re.Pattern[str], kind: Kind, at: int) -> int:
        end = pattern.match(self.text, at).end()  # type: ignore[union-attr]
        self._add(kind, at, end)
        return end

    def _ended(self, end: int, start: int) -> int:
        """Names must be followed by a space, a closing delimiter or punctuation that can follow a name."""
        follows = self.text[end : end + 1]
        if not follows or follows in _TERMINATORS or self.text.startswith(CLOSE, end):
            return end
        raise self._error(f"unexpected character {follows!r} after {quoted(self.text[start:end])}", end, end + 1)

    def _add(self, kind: Kind, start: int, end: int) -> None:
        self.tokens.append(Token(kind, self.text[start:end], start, end))

    def _error(self, message: str, start: int, end: int) -> TemplateError:
        return TemplateError(message, text=self.text, offset=start, fragment=self.text[start:end])
