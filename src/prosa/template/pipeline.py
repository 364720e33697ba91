"""Pipelines: tokens → `Pipeline` nodes, with the grammar of Go's `text/template/parse` (X11).

In: a cursor inside an action. Out: nodes, the closing token consumed. Refuses with `TemplateError` unknown functions,
variables that are not in scope, and parentheses beyond `MAX_DEPTH`. The grammar stands above each function.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from prosa.diagnostics.nearest import nearest
from prosa.source import Span
from prosa.template import nodes
from prosa.template.cursor import Cursor
from prosa.template.errors import TemplateError, quoted
from prosa.template.lex import Kind, Token
from prosa.template.literals import LiteralError, literal_value

KEYWORDS: Final = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"),
)
_LITERALS: Final = frozenset(("number", "char", "string", "raw"))
_OPERANDS: Final = _LITERALS | {"field", "variable", "word", "dot", "("}
_RANGE_VARIABLES: Final = 2


# pipeline: [ declarations ] command { "|" command }, up to the closing token, which is consumed
def pipeline(cursor: Cursor, end: Kind, context: str, opened: Token) -> nodes.Pipeline:
    """A pipeline. ``context`` names the construct and ``opened`` its first token, both for messages."""
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
    """The variables that a pipeline sets, if any. As in Go they are in scope from here, and the executor refuses
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
        raise cursor.error(token, f"there is no function {quoted(token.text)}; {hint}")
    return nodes.Word(token.text, span)


def literal(cursor: Cursor, token: Token) -> nodes.Literal:
    """A constant. Raises `TemplateError` for one that Go does not know."""
    try:
        return nodes.Literal(literal_value(token.text), Span(token.start, token.end))
    except LiteralError as error:
        raise cursor.error(token, str(error)) from None


def _check_stages(text: str, commands: list[nodes.Command]) -> None:
    """Only a function, field, variable or parenthesis can take what is piped into it."""
    for command in commands[1:]:
        first = command.operands[0]
        if isinstance(first, nodes.Literal | nodes.Nil | nodes.Dot):
            piece = first.span.of(text)
            message = f"{quoted(piece)} cannot take a piped value"
            raise TemplateError(message, text=text, offset=first.span.start, fragment=piece)
