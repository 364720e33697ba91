"""The text of a condition → tokens. Raises `WhereError` for an unclosed string and for characters that start no token.

word     = characters other than blanks, quotes, `( ) , = ! < > ~` string   = '"' … '"' | "'" … "'"      a backslash
takes the next character as it is operator = "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from prosa.corpus.where.errors import WhereError, quoted
from prosa.regex import regex

MAX_WHERE = 8_000
"""Characters of a condition. A list of a hundred ids fits; a longer text is some mistake."""

TokenKind: TypeAlias = Literal["word", "string", "operator", "(", ")", ",", "end"]

_TOKEN = regex(
    r"""(?P<blank>\s+)|(?P<operator>[=!<>]=|!~|[=<>~])|(?P<mark>[(),])|(?P<word>[^\s"'(),=!<>~]+)
        |(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = regex(r"\\(.)", re.DOTALL)


class Token(NamedTuple):
    """A piece of a condition. ``text`` of a string is without quotes and escapes; ``offset`` is its start."""

    kind: TokenKind
    text: str
    offset: int

    @property
    def shown(self) -> str:
        """The token in a message."""
        return "the end" if self.kind == "end" else quoted(self.text)


def lex(text: str) -> list[Token]:
    """All tokens, an ``end`` token last."""
    if len(text) > MAX_WHERE:
        raise WhereError(text, MAX_WHERE, f"{len(text):,} characters", f"at most {MAX_WHERE:,}")
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _no_token(text, at)
        if match.lastgroup != "blank":
            tokens.append(_token(match, at))
        at = match.end()
    return [*tokens, Token("end", "", len(text))]


def _token(match: re.Match[str], at: int) -> Token:
    if match.lastgroup == "string":
        return Token("string", _ESCAPED.sub(r"\1", match[0][1:-1]), at)
    if match.lastgroup == "operator":
        return Token("operator", "=" if match[0] == "==" else match[0], at)
    if match.lastgroup == "word":
        return Token("word", match[0], at)
    return Token(match[0], match[0], at)  # type: ignore[arg-type]


def _no_token(text: str, at: int) -> WhereError:
    if text[at] in "\"'":
        return WhereError(text, at, f"an opening {text[at]}", f"a closing {text[at]} after it")
    return WhereError(text, at, quoted(text[at]), "!= or !~, or the word not")
