"""Where a parse stands: the token at hand, the variables in scope, how deep it is. Used by `parse` and `pipeline`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from prosa.template.errors import TemplateError, TooDeep, quoted
from prosa.template.lex import Kind, Token, lex
from prosa.template.scope import Scope

MAX_DEPTH: Final = 100
"""Blocks and parentheses within each other. People nest four or five; the parser recurses for each."""


class Cursor:
    """The state of one parse. ``functions`` are the names that may be called."""

    def __init__(self, text: str, functions: Collection[str]) -> None:
        self.text = text
        self.functions = functions
        self.scope: Scope[None] = Scope(None)
        self._tokens, self._failures = lex(text)
        self._at = 0
        self._depth = 0

    def peek(self) -> Token:
        """Return the token at hand."""
        return self._tokens[self._at]

    def peek_word(self) -> Token:
        """Return the token at hand, spaces skipped."""
        self.skip_space()
        return self._tokens[self._at]

    def next(self) -> Token:
        """Return the token at hand, consumed. The last one never is. Raises the error of the lexer where that ended."""
        token = self._tokens[self._at]
        if token.kind == "error":
            raise self._failures[token.start]
        self._at += token.kind != "end"
        return token

    def last(self) -> Token:
        """Return the token consumed last."""
        return self._tokens[self._at - 1]

    def skip_space(self) -> None:
        """Skip white space inside an action."""
        while self._tokens[self._at].kind == "space":
            self._at += 1

    def mark(self) -> int:
        """Return the place to go `back` to."""
        return self._at

    def back(self, mark: int) -> None:
        """Go back to a place that was marked."""
        self._at = mark

    @property
    def depth(self) -> int:
        """How many blocks and parentheses are open."""
        return self._depth

    def behind_action(self, depth: int) -> None:
        """Move past the current action, whatever it contains; ``depth`` is its nesting. For error recovery."""
        while self._at and self._tokens[self._at].kind != "open":
            self._at -= 1
        while self._tokens[self._at].kind not in ("close", "end"):
            self._at += 1
        self._at += self._tokens[self._at].kind == "close"
        self._depth = depth

    def opens(self, *words: str) -> bool:
        """Return whether an action that starts with one of these keywords begins here."""
        if self.peek().kind != "open":
            return False
        at = self._at + 1
        while self._tokens[at].kind == "space":
            at += 1
        return self._tokens[at].kind == "word" and self._tokens[at].text in words

    def expect(self, kind: Kind, context: str) -> Token:
        """Return the next token but for spaces, which must be of this kind."""
        self.skip_space()
        token = self.next()
        if token.kind != kind:
            raise self.unexpected(token, context)
        return token

    def deeper(self, token: Token) -> None:
        """One level deeper, at most `MAX_DEPTH`; `higher` takes it back."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooDeep(
                f"nested deeper than {MAX_DEPTH} levels", text=self.text, offset=token.start, fragment=token.text
            )

    def higher(self) -> None:
        """One level up again."""
        self._depth -= 1

    def unexpected(self, token: Token, context: str) -> TemplateError:
        """Return the error for a token that cannot stand where it stands, or that of the lexer where that ended."""
        if token.kind == "error":
            return self._failures[token.start]
        found = "the end of the action" if token.kind == "close" else quoted(token.text) if token.text else "the end"
        return self.error(token, f"unexpected {found} in {context}")

    def error(self, token: Token, message: str, suggestion: str = "") -> TemplateError:
        """Return an error at a token, and the name that was most likely meant there."""
        fragment = self.text[token.start : token.end]
        return TemplateError(message, text=self.text, offset=token.start, fragment=fragment, suggestion=suggestion)
