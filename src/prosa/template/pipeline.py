"""Pipelines: tokens → `Pipeline` nodes, with the grammar of Go's `text/template/parse` (X11); and the cursor of a
parse."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from typing import Final

from msgspec.structs import replace

from prosa.data.limits import MAX_INTEGER_DIGITS
from prosa.diagnostics.nearest import nearest
from prosa.regex import regex
from prosa.source import Span
from prosa.template import nodes
from prosa.template.errors import TemplateError, TooDeep, quoted
from prosa.template.lex import Kind, Token, lex
from prosa.template.printing import go_float
from prosa.template.values import Scope

__all__ = ["go_float", "parse_number"]

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
        actual = "the end of the action" if token.kind == "close" else quoted(token.text) if token.text else "the end"
        return self.error(token, f"unexpected {actual} in {context}")

    def error(self, token: Token, message: str, suggestion: str = "") -> TemplateError:
        """Return an error at a token, and the name that was most likely meant there."""
        fragment = self.text[token.start : token.end]
        return TemplateError(message, text=self.text, offset=token.start, fragment=fragment, suggestion=suggestion)


# Pipelines: tokens → `Pipeline` nodes, with the grammar of Go's `text/template/parse` (X11).

KEYWORDS: Final = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"),
)
_LITERALS: Final = frozenset(("number", "char", "string", "raw"))
_OPERANDS: Final = _LITERALS | {"field", "variable", "word", "dot", "("}
_RANGE_VARIABLES: Final = 2


# pipeline: [ declarations ] command { "|" command }, up to the closing token, which is consumed
def pipeline(cursor: Cursor, end: Kind, context: str, opened: Token) -> nodes.Pipeline:
    """Return a pipeline. ``context`` names the construct and ``opened`` its first token, both for messages."""
    start = cursor.peek_word().start
    declares, assigns = _declarations(cursor, context)
    commands: list[nodes.Command] = []
    while (token := cursor.peek_word()).kind != end:
        if token.kind not in _OPERANDS:
            raise cursor.unexpected(token, context)
        commands.append(_command(cursor, context))
    if not commands:
        raise cursor.error(opened, f"a value is missing in {context}")
    cursor.next()
    _check_stages(cursor.text, commands)
    return nodes.Pipeline(declares, assigns, tuple(commands), Span(start, commands[-1].span.end))


# declarations: $x ( ":=" | "=" ), or in range $i "," $x ( ":=" | "=" )
def _declarations(cursor: Cursor, context: str) -> tuple[tuple[str, ...], bool]:
    """Return the variables that a pipeline sets, if any. As in Go they are in scope from here, and the executor refuses
    what then has no value."""
    before = cursor.mark()
    names: list[str] = []
    while cursor.peek().kind == "variable":
        names.append(cursor.next().text)
        sign = cursor.peek_word()
        if sign.kind in (":=", "="):
            cursor.next()
            for name in names:
                cursor.scope.declare(name, None)
            return tuple(names), sign.kind == "="
        if sign.kind != ",":
            break
        if context != "range" or len(names) == _RANGE_VARIABLES:
            raise cursor.error(sign, f"too many declarations in {context}")
        cursor.next()
        cursor.skip_space()
    cursor.back(before)
    return (), False


# command: operand { space operand }, up to "|" (consumed) or a closing token
def _command(cursor: Cursor, context: str) -> nodes.Command:
    operands: list[nodes.Operand] = []
    while True:
        cursor.skip_space()
        operands.append(_operand(cursor, context))
        token = cursor.peek()
        if token.kind == "space":
            token = cursor.peek_word()
            if token.kind in _OPERANDS:
                continue
        if token.kind == "|":
            cursor.next()
        elif token.kind not in ("close", ")"):
            raise cursor.unexpected(token, "operand")
        return nodes.Command(tuple(operands), Span(operands[0].span.start, operands[-1].span.end))


# operand: term { field }
def _operand(cursor: Cursor, context: str) -> nodes.Operand:
    first = cursor.peek()
    term = _term(cursor, context)
    names: list[str] = []
    while cursor.peek().kind == "field":
        names.append(cursor.next().text)
    if not names:
        return term
    span = Span(first.start, cursor.last().end)
    if isinstance(term, nodes.Field | nodes.Variable):
        return replace(term, names=(*term.names, *names), span=span)
    if isinstance(term, nodes.Literal | nodes.Nil | nodes.Dot):
        raise cursor.error(first, f"a field cannot follow {quoted(first.text)}")
    return nodes.Chain(term, tuple(names), span)


# term: literal | function | "." | field | variable | "(" pipeline ")"
def _term(cursor: Cursor, context: str) -> nodes.Operand:
    token = cursor.next()
    span = Span(token.start, token.end)
    if token.kind in _LITERALS:
        return literal(cursor, token)
    match token.kind:
        case "field":
            return nodes.Field((token.text,), span)
        case "dot":
            return nodes.Dot(span)
        case "variable":
            if token.text not in cursor.scope:
                raise cursor.error(token, f"the variable {token.text} is not defined")
            return nodes.Variable(token.text, (), span)
        case "word":
            return _word(cursor, token)
        case "(":
            cursor.deeper(token)
            inner = pipeline(cursor, ")", "parenthesis", token)
            cursor.higher()
            return inner
        case _:
            raise cursor.unexpected(token, context)


def _word(cursor: Cursor, token: Token) -> nodes.Operand:
    span = Span(token.start, token.end)
    if token.text in ("true", "false"):
        return nodes.Literal(token.text == "true", span)
    if token.text == "nil":
        return nodes.Nil(span)
    if token.text in KEYWORDS:
        raise cursor.error(token, f"{token.text} cannot stand here")
    if token.text not in cursor.functions:
        near = nearest(token.text, sorted(cursor.functions))
        hint = f"did you mean {near}? " if near else ""
        hint += f"a value of the input is written .{token.text}"
        raise cursor.error(token, f"there is no function {quoted(token.text)}; {hint}", near or "")
    return nodes.Word(token.text, span)


def literal(cursor: Cursor, token: Token) -> nodes.Literal:
    """Return a constant. Raises `TemplateError` for one that Go does not know."""
    try:
        return nodes.Literal(literal_value(token.text), Span(token.start, token.end))
    except LiteralError as error:
        raise cursor.error(token, str(error)) from None


def _check_stages(text: str, commands: list[nodes.Command]) -> None:
    """Check that only functions, fields, variables and parentheses take a piped value."""
    for command in commands[1:]:
        first = command.operands[0]
        if isinstance(first, nodes.Literal | nodes.Nil | nodes.Dot):
            piece = first.span.of(text)
            message = f"{quoted(piece)} cannot take a piped value"
            raise TemplateError(message, text=text, offset=first.span.start, fragment=piece)


# Constants as Go writes them: numbers, characters, strings with their escapes (Go spec, "Lexical elements").

_ESCAPE = regex(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_SIMPLE = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_MAX_RUNE = 0x10FFFF


class LiteralError(ValueError):
    """A constant that Go would not accept; the text is a sentence."""


def literal_value(source: str) -> int | float | str:
    """Return the value of a constant as written, quotes included. Raises `LiteralError`."""
    if source.startswith("`"):
        return source[1:-1].replace("\r", "")
    if source.startswith('"'):
        return _unescape(source[1:-1], '"').decode("utf-8", "replace")
    try:
        return parse_number(source)
    except ValueError as error:
        raise LiteralError(str(error)) from None


def _unescape(inner: str, quote: str) -> bytes:
    """Return the bytes of a quoted text: ``\\x`` and octal escapes are bytes, the others characters."""
    pieces: list[bytes] = []
    done = 0
    for match in _ESCAPE.finditer(inner):
        pieces += (inner[done : match.start()].encode("utf-8", "replace"), _escaped(match.group(1), quote))
        done = match.end()
    return b"".join((*pieces, inner[done:].encode("utf-8", "replace")))


def _escaped(code: str, quote: str) -> bytes:
    if code in _SIMPLE:
        return bytes((_SIMPLE[code],))
    if code == quote:
        return quote.encode()
    if len(code) > 1 and code[0] == "x":
        return bytes((int(code[1:], 16),))
    if len(code) > 1 and code[0] in "uU":
        return _rune(int(code[1:], 16), code)
    if len(code) == 3:
        return _octal(code)
    raise LiteralError(f"unknown escape \\{code}")


def _rune(number: int, code: str) -> bytes:
    if number > _MAX_RUNE or 0xD800 <= number <= 0xDFFF:
        raise LiteralError(f"\\{code} is not a character")
    return chr(number).encode()


def _octal(code: str) -> bytes:
    number = int(code, 8)
    if number > 255:
        raise LiteralError(f"\\{code} is larger than a byte")
    return bytes((number,))


# Go's number literals as a template writes them. In: the text of one literal. Out: an int or a float.
#
# Integers have any size (X12), within the bound of the data readers. Imaginary numbers are refused: no data has them.


_DIGITS = r"[0-9](?:_?[0-9])*"
_HEX = r"[0-9a-fA-F]"
_INTEGER: Final = regex(
    r"([+-]?)(?:0[bB](?P<b2>(?:_?[01])+)|0[oO](?P<b8>(?:_?[0-7])+)|0[xX](?P<b16>(?:_?[0-9a-fA-F])+)"
    r"|(?P<b8old>0(?:_?[0-7])*)|(?P<b10>[1-9](?:_?[0-9])*))"
)
_DECIMAL: Final = regex(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_HEX_FLOAT: Final = regex(
    rf"[+-]?0[xX](?:(?:_?{_HEX})+(?:\.(?:{_HEX}(?:_?{_HEX})*)?)?|\.{_HEX}(?:_?{_HEX})*)[pP][+-]?{_DIGITS}"
)
_BASES: Final = {"b2": 2, "b8": 8, "b8old": 8, "b10": 10, "b16": 16}
_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39}
_CODE: Final = regex(r"x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})|(?P<o>[0-3][0-7]{2})")
_MAX_LITERAL: Final = 2 * MAX_INTEGER_DIGITS
"""Characters of a literal, underscores included: more than any integer needs, and quick to refuse."""


def parse_number(text: str) -> int | float:
    """Return the value of a number or character constant: ``42``, ``0x_ff``, ``017``, ``1_000.5e3``, ``0x1p-2``,
    ``'a'``.

    A literal with a point or an exponent is a float, every other an int; a character constant is its code point.
    Raises `ValueError` with a sentence for everything else.
    """
    if len(text) > _MAX_LITERAL:
        raise ValueError(f"a number of {len(text):,} characters is too long")
    if text.startswith("'"):
        return _character(text)
    if match := _INTEGER.fullmatch(text):
        return _integer(match)
    if _HEX_FLOAT.fullmatch(text):
        return _finite(text, float.fromhex)
    if _DECIMAL.fullmatch(text) and any(mark in text for mark in ".eE"):
        return _finite(text, float)
    raise ValueError(_refusal(text))


def _integer(match: re.Match[str]) -> int:
    base = str(match.lastgroup)
    digits = match[base].replace("_", "")
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"an integer of {len(digits):,} digits is too long; at most {MAX_INTEGER_DIGITS:,} are read")
    value = int(digits, _BASES[base])
    return -value if match[1] == "-" else value


def _finite(text: str, convert: Callable[[str], float]) -> float:
    plain = text.replace("_", "")
    try:
        value = convert(plain)
    except OverflowError:
        value = math.inf
    if math.isinf(value):
        raise ValueError(f"{text} is larger than a number can be")
    return value


def _character(text: str) -> int:
    inner = text[1:-1]
    if len(text) < 3 or not text.endswith("'"):
        raise ValueError(f"malformed character constant: {text}")
    if len(inner) == 1 and inner not in "\\'\n":
        return ord(inner)
    if inner.startswith("\\"):
        code = _escaped_number(inner[1:])
        if code is not None:
            return code
    raise ValueError(f"malformed character constant: {text}; expected one character, or an escape such as '\\n'")


def _escaped_number(escape: str) -> int | None:
    if escape in _ESCAPES:
        return _ESCAPES[escape]
    match = _CODE.fullmatch(escape)
    if match is None:
        return None
    code = int(match[str(match.lastgroup)], 8 if match.lastgroup == "o" else 16)
    return None if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else code


def _refusal(text: str) -> str:
    if text.endswith("i") and len(text) > 1:
        return f"{text} is an imaginary number; a template has integers and decimal numbers only"
    if re.fullmatch(r"[+-]?0[0-9_]+", text):
        return f"{text} starts with 0 and so is octal, which has no digits 8 and 9; leave the 0 out or write 0o…"
    return f"illegal number syntax: {text}"
