"""Tokens → tree, with the grammar of Go's `text/template/parse` (X11).

In: a text. Out: a `Tree`. Refuses with `TemplateError`: unknown functions and variables, blocks that do not end,
nesting beyond `MAX_DEPTH`. The grammar stands above each function; every token is looked at a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NoReturn

from prosa.source import Span
from prosa.template import nodes
from prosa.template.errors import TemplateError, quoted
from prosa.template.lex import Token, lex
from prosa.template.literals import LiteralError, literal_value

MAX_DEPTH = 100
"""Blocks and parentheses within each other. People nest four or five; the parser recurses once for each."""

KEYWORDS = frozenset(("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with"))
_OPERANDS = frozenset(("field", "variable", "word", "number", "char", "string", "raw", "dot", "("))
_LITERALS = frozenset(("number", "char", "string", "raw"))
_EMPTY: nodes.Body = ()


def parse(text: str, functions: Collection[str]) -> nodes.Tree:
    """The tree of a template that may call ``functions``. Raises `TemplateError`."""
    return _Parser(text, functions).template()


class _Parser:
    """The state of one parse: where in the tokens, which variables are in scope, how deep."""

    def __init__(self, text: str, functions: Collection[str]) -> None:
        self.text = text
        self.functions = functions
        self.tokens = lex(text)
        self.at = 0
        self.variables = ["$"]
        self.ranges = 0
        self.depth = 0
        self.defined: dict[str, nodes.Body] = {}

    # template: { text | action | define }
    def template(self) -> nodes.Tree:
        body: list[nodes.Node] = []
        while self.peek().kind != "end":
            if self._opens("define"):
                self.define()
            else:
                body.append(self.text_or_action())
        return nodes.Tree(tuple(body), self.defined)

    # define: "{{define" string "}}" list "{{end}}"
    def define(self) -> None:
        opened = self._keyword()
        name = self._name("define")
        self._expect_close("define")
        outer, self.variables = self.variables, ["$"]
        ranges, self.ranges = self.ranges, 0
        body, ended = self.list_until_end(opened)
        if ended.text != "end":
            raise self._error(ended, f"unexpected {{{{{ended.text}}}}} in define")
        self._expect_close("end")
        self.variables, self.ranges = outer, ranges
        self._add(name, body, opened)

    def _add(self, name: str, body: nodes.Body, at: Token) -> None:
        if not _blank(self.defined.get(name, _EMPTY)) and not _blank(body):
            raise self._error(at, f"the template {quoted(name)} is defined twice")
        if name not in self.defined or not _blank(body):
            self.defined[name] = body

    # list: { text | action } until "{{end}}" or "{{else", which is given too, its word consumed
    def list_until_end(self, opened: Token) -> tuple[nodes.Body, Token]:
        self._deeper(opened)
        body: list[nodes.Node] = []
        while self.peek().kind != "end":
            if self._opens("end") or self._opens("else"):
                self.depth -= 1
                return tuple(body), self._keyword()
            body.append(self.text_or_action())
        raise self._error(opened, f"{{{{{opened.text}}}}} has no {{{{end}}}}")

    # text | "{{" action
    def text_or_action(self) -> nodes.Node:
        token = self.next()
        if token.kind == "text":
            return nodes.Text(token.text)
        self.skip_space()
        word = self.peek()
        if word.kind == "word" and word.text in KEYWORDS:
            return self._statements[word.text](self, self.next())
        pipeline = self.pipeline("close", "action", token)
        return nodes.Action(pipeline, Span(token.start, self.tokens[self.at - 1].end))

    # "if" | "with" | "range" pipeline "}}" list [ "{{else" [ "if" | "with" … ] "}}" list ] "{{end}}"
    def control(self, opened: Token) -> nodes.Node:
        scope = len(self.variables)
        looping = opened.text == "range"
        pipeline = self.pipeline("close", opened.text, opened)
        self.ranges += looping
        body, ended = self.list_until_end(opened)
        self.ranges -= looping
        otherwise = self.otherwise(opened) if ended.text == "else" else self._ended()
        del self.variables[scope:]
        span = Span(opened.start, pipeline.span.end)
        if looping:
            return nodes.Range(pipeline, body, otherwise, span)
        return (nodes.If if opened.text == "if" else nodes.With)(pipeline, body, otherwise)

    def _ended(self) -> nodes.Body:
        self._expect_close("end")
        return _EMPTY

    def otherwise(self, opened: Token) -> nodes.Body:
        """What stands between ``{{else`` and ``{{end}}``."""
        self.skip_space()
        word = self.peek()
        if word.kind == "word" and word.text == opened.text and opened.text in ("if", "with"):
            self._deeper(opened)
            chained = self.control(self.next())
            self.depth -= 1
            return (chained,)
        self._expect_close("else")
        body, ended = self.list_until_end(opened)
        if ended.text == "else":
            raise self._error(ended, "expected {{end}}, found a second {{else}}")
        self._expect_close("end")
        return body

    # "template" string [ pipeline ] "}}"
    def call(self, opened: Token) -> nodes.Call:
        name = self._name("template")
        pipeline = None
        self.skip_space()
        if self.peek().kind == "close":
            self.next()
        else:
            pipeline = self.pipeline("close", "template", opened)
        return nodes.Call(name, pipeline, Span(opened.start, self.tokens[self.at - 1].start))

    # "block" string pipeline "}}" list "{{end}}": a define and a template at once
    def block(self, opened: Token) -> nodes.Call:
        name = self._name("block")
        pipeline = self.pipeline("close", "block", opened)
        outer, self.variables = self.variables, ["$"]
        ranges, self.ranges = self.ranges, 0
        body, ended = self.list_until_end(opened)
        if ended.text != "end":
            raise self._error(ended, "unexpected {{else}} in block")
        self._expect_close("end")
        self.variables, self.ranges = outer, ranges
        self._add(name, body, opened)
        return nodes.Call(name, pipeline, Span(opened.start, pipeline.span.end))

    def leave(self, opened: Token) -> nodes.Break | nodes.Continue:
        """``break`` and ``continue``, which need a range around them."""
        self._expect_close(opened.text)
        if not self.ranges:
            raise self._error(opened, f"{{{{{opened.text}}}}} outside of {{{{range}}}}")
        return nodes.Break() if opened.text == "break" else nodes.Continue()

    def misplaced(self, opened: Token) -> NoReturn:
        """``end``, ``else`` and ``define`` where none can be."""
        reason = "is only allowed at the top level" if opened.text == "define" else "has nothing that it belongs to"
        raise self._error(opened, f"{{{{{opened.text}}}}} {reason}")

    _statements: dict[str, Callable[[_Parser, Token], nodes.Node]] = {  # noqa: RUF012 - a table, never written
        "if": control,
        "with": control,
        "range": control,
        "template": call,
        "block": block,
        "break": leave,
        "continue": leave,
        "end": misplaced,
        "else": misplaced,
        "define": misplaced,
    }

    # pipeline: [ declarations ] command { "|" command }, up to the closing token, which is consumed
    def pipeline(self, end: str, context: str, opened: Token) -> nodes.Pipeline:
        self.skip_space()
        start = self.peek().start
        declares, assigns = self.declarations(context)
        commands: list[nodes.Command] = []
        while True:
            self.skip_space()
            token = self.peek()
            if token.kind == end:
                self.next()
                break
            if token.kind not in _OPERANDS:
                raise self._unexpected(token, context)
            commands.append(self.command(context))
        if not commands:
            raise self._error(opened, f"a value is missing in {context}")
        self._check_stages(commands)
        self._declare(declares, assigns)
        return nodes.Pipeline(declares, assigns, tuple(commands), Span(start, commands[-1].span.end))

    # declarations: $x ( ":=" | "=" ), or in range $i "," $x ( ":=" | "=" )
    def declarations(self, context: str) -> tuple[tuple[str, ...], bool]:
        before = self.at
        names: list[str] = []
        while self.peek().kind == "variable":
            names.append(self.next().text)
            self.skip_space()
            sign = self.peek()
            if sign.kind in (":=", "="):
                self.next()
                self._check_assigned(names, sign, before)
                return tuple(names), sign.kind == "="
            if sign.kind != "," or context != "range" or len(names) > 1:
                if sign.kind == ",":
                    raise self._error(sign, f"too many declarations in {context}")
                break
            self.next()
            self.skip_space()
        self.at = before
        return (), False

    def _check_assigned(self, names: list[str], sign: Token, before: int) -> None:
        if sign.kind == "=":
            for name in names:
                if name not in self.variables:
                    raise self._error(self.tokens[before], f"the variable {name} is not defined; := defines it")

    def _declare(self, names: tuple[str, ...], assigns: bool) -> None:
        if not assigns:
            self.variables += names

    # command: operand { space operand }, up to "|" (consumed) or a closing token
    def command(self, context: str) -> nodes.Command:
        operands: list[nodes.Operand] = []
        while True:
            self.skip_space()
            operands.append(self.operand(context))
            token = self.peek()
            if token.kind == "space":
                self.skip_space()
                token = self.peek()
                if token.kind in _OPERANDS:
                    continue
            if token.kind == "|":
                self.next()
                break
            if token.kind in ("close", ")"):
                break
            raise self._unexpected(token, "operand")
        return nodes.Command(tuple(operands), Span(operands[0].span.start, operands[-1].span.end))

    # operand: term { field }
    def operand(self, context: str) -> nodes.Operand:
        first = self.peek()
        term = self.term(context)
        names: list[str] = []
        while self.peek().kind == "field":
            names.append(self.next().text)
        if not names:
            return term
        span = Span(first.start, self.tokens[self.at - 1].end)
        if isinstance(term, nodes.Field | nodes.Variable):
            return replace(term, names=(*term.names, *names), span=span)
        if isinstance(term, nodes.Literal | nodes.Nil | nodes.Dot):
            raise self._error(first, f"a field cannot follow {quoted(first.text)}")
        return nodes.Chain(term, tuple(names), span)

    # term: literal | function | "." | field | variable | "(" pipeline ")"
    def term(self, context: str) -> nodes.Operand:
        token = self.next()
        span = Span(token.start, token.end)
        if token.kind in _LITERALS:
            return self._literal(token)
        match token.kind:
            case "field":
                return nodes.Field((token.text,), span)
            case "dot":
                return nodes.Dot(span)
            case "variable":
                if token.text not in self.variables:
                    raise self._error(token, f"the variable {token.text} is not defined")
                return nodes.Variable(token.text, (), span)
            case "word":
                return self._word(token)
            case "(":
                self._deeper(token)
                inner = self.pipeline(")", "parenthesis", token)
                self.depth -= 1
                return inner
            case _:
                raise self._unexpected(token, context)

    def _word(self, token: Token) -> nodes.Operand:
        span = Span(token.start, token.end)
        if token.text in ("true", "false"):
            return nodes.Literal(token.text == "true", span)
        if token.text == "nil":
            return nodes.Nil(span)
        if token.text in KEYWORDS:
            raise self._error(token, f"{token.text} cannot stand here")
        if token.text not in self.functions:
            hint = f"a value of the input is written .{token.text}"
            raise self._error(token, f"there is no function {quoted(token.text)}; {hint}")
        return nodes.Word(token.text, span)

    def _literal(self, token: Token) -> nodes.Literal:
        try:
            return nodes.Literal(literal_value(token.text), Span(token.start, token.end))
        except LiteralError as error:
            raise self._error(token, str(error)) from None

    def _check_stages(self, commands: list[nodes.Command]) -> None:
        """Only a function, field, variable or parenthesis can take what is piped into it."""
        for command in commands[1:]:
            first = command.operands[0]
            if isinstance(first, nodes.Literal | nodes.Nil | nodes.Dot):
                message = f"{quoted(self.text[first.span.start : first.span.end])} cannot take a piped value"
                raise TemplateError(message, text=self.text, offset=first.span.start, fragment=first.span.of(self.text))

    def peek(self) -> Token:
        """The token at hand."""
        return self.tokens[self.at]

    def next(self) -> Token:
        """The token at hand, consumed. The last one never is."""
        token = self.tokens[self.at]
        self.at += token.kind != "end"
        return token

    def skip_space(self) -> None:
        """Skips white space inside an action."""
        while self.tokens[self.at].kind == "space":
            self.at += 1

    def _opens(self, word: str) -> bool:
        """Whether an action with this keyword begins here."""
        if self.peek().kind != "open":
            return False
        at = self.at + 1
        while self.tokens[at].kind == "space":
            at += 1
        return self.tokens[at].kind == "word" and self.tokens[at].text == word

    def _keyword(self) -> Token:
        """Consumes ``{{`` and the keyword behind it."""
        self.next()
        self.skip_space()
        return self.next()

    def _name(self, context: str) -> str:
        self.skip_space()
        token = self.next()
        if token.kind not in ("string", "raw"):
            raise self._error(token, f'{context} takes the name of a template, as in {{{{{context} "name"')
        return str(self._literal(token).value)

    def _expect_close(self, context: str) -> None:
        self.skip_space()
        token = self.next()
        if token.kind != "close":
            raise self._unexpected(token, context)

    def _deeper(self, token: Token) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(token, f"nested deeper than {MAX_DEPTH} levels")

    def _unexpected(self, token: Token, context: str) -> TemplateError:
        found = "the end of the action" if token.kind == "close" else quoted(token.text) if token.text else "the end"
        return self._error(token, f"unexpected {found} in {context}")

    def _error(self, token: Token, message: str) -> TemplateError:
        return TemplateError(message, text=self.text, offset=token.start, fragment=self.text[token.start : token.end])


def _blank(body: nodes.Body) -> bool:
    """Whether a body is nothing but white space, which does not count as a definition."""
    return all(isinstance(node, nodes.Text) and not node.text.strip() for node in body)
