"""Tokens → tree, with the grammar of Go's `text/template/parse` (X11).

In: a text. Out: a `Tree`. Refuses with `TemplateError`: blocks that do not end, words where none can stand, nesting
beyond `MAX_DEPTH`, and what `pipeline` refuses. The grammar stands above each function; every token is looked at a
bounded number of times, and a chain of ``else if`` is as cheap as its length.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from prosa.source import Span
from prosa.template import nodes
from prosa.template.cursor import Cursor
from prosa.template.errors import quoted
from prosa.template.lex import Token
from prosa.template.pipeline import KEYWORDS, literal, pipeline
from prosa.template.scope import Scope

_EMPTY: nodes.Body = ()


def parse(text: str, functions: Collection[str]) -> nodes.Tree:
    """The tree of a template that may call ``functions``. Raises `TemplateError`."""
    return _Parser(Cursor(text, functions)).template()


class _Parser:
    """The statements of one template: the bodies defined so far, and how many ranges are open."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.ranges = 0
        self.defined: dict[str, nodes.Body] = {}

    # template: { text | action | define }
    def template(self) -> nodes.Tree:
        body: list[nodes.Node] = []
        while self.cursor.peek().kind != "end":
            if self.cursor.opens("define"):
                self.define()
            else:
                body.append(self.text_or_action())
        return nodes.Tree(tuple(body), self.defined)

    # define: "{{define" string "}}" list "{{end}}"
    def define(self) -> None:
        opened = self._keyword()
        name = self._name("define")
        self.cursor.expect("close", "define")
        self._named_body(name, opened)

    def _named_body(self, name: str, opened: Token) -> None:
        """The body of ``define`` and ``block``, which sees no variable and no range around it."""
        outer, self.cursor.scope = self.cursor.scope, Scope(None)
        ranges, self.ranges = self.ranges, 0
        body, ended = self.list_until_end(opened)
        if ended.text != "end":
            raise self.cursor.error(ended, f"unexpected {{{{{ended.text}}}}} in {opened.text}")
        self.cursor.expect("close", "end")
        self.cursor.scope, self.ranges = outer, ranges
        self._add(name, body, opened)

    def _add(self, name: str, body: nodes.Body, at: Token) -> None:
        """A definition that is only white space gives way to any other."""
        known = self.defined.get(name, _EMPTY)
        if _blank(known):
            self.defined[name] = body
        elif not _blank(body):
            raise self.cursor.error(at, f"the template {quoted(name)} is defined twice")

    # list: { text | action } until "{{end" or "{{else", which is given too, its word consumed
    def list_until_end(self, opened: Token) -> tuple[nodes.Body, Token]:
        self.cursor.deeper(opened)
        body: list[nodes.Node] = []
        while self.cursor.peek().kind != "end":
            if self.cursor.opens("end", "else"):
                self.cursor.higher()
                return tuple(body), self._keyword()
            body.append(self.text_or_action())
        raise self.cursor.error(opened, f"{{{{{opened.text}}}}} has no {{{{end}}}}")

    # text | "{{" action
    def text_or_action(self) -> nodes.Node:
        token = self.cursor.next()
        if token.kind == "text":
            return nodes.Text(token.text)
        word = self.cursor.peek_word()
        if word.kind == "word" and word.text in KEYWORDS:
            return self._statements[word.text](self, self.cursor.next())
        inner = pipeline(self.cursor, "close", "action", token)
        return nodes.Action(inner, Span(token.start, self.cursor.last().end))

    # ( "if" | "with" ) pipeline "}}" list { "{{else" same-word pipeline "}}" list } [ "{{else}}" list ] "{{end}}"
    def branch(self, opened: Token) -> nodes.If | nodes.With:
        mark = self.cursor.scope.mark()
        arms: list[nodes.Arm] = []
        while True:
            value = pipeline(self.cursor, "close", opened.text, opened)
            body, ended = self.list_until_end(opened)
            arms.append(nodes.Arm(value, body))
            if ended.text == "end" or not self._goes_on(opened):
                break
            self.cursor.next()
        otherwise = self._otherwise(opened, ended)
        self.cursor.scope.leave(mark)
        return (nodes.If if opened.text == "if" else nodes.With)(tuple(arms), otherwise)

    def _goes_on(self, opened: Token) -> bool:
        """Whether ``else`` is followed by the word that opened the block."""
        word = self.cursor.peek_word()
        return word.kind == "word" and word.text == opened.text

    # [ "}}" list "{{end" ] "}}", behind the word "else" or "end"
    def _otherwise(self, opened: Token, ended: Token) -> nodes.Body:
        body = _EMPTY
        if ended.text == "else":
            self.cursor.expect("close", "else")
            body, ended = self.list_until_end(opened)
            if ended.text == "else":
                raise self.cursor.error(ended, "expected {{end}}, found a second {{else}}")
        self.cursor.expect("close", "end")
        return body

    # "range" pipeline "}}" list [ "{{else}}" list ] "{{end}}"
    def loop(self, opened: Token) -> nodes.Range:
        mark = self.cursor.scope.mark()
        value = pipeline(self.cursor, "close", "range", opened)
        self.ranges += 1
        body, ended = self.list_until_end(opened)
        self.ranges -= 1
        otherwise = self._otherwise(opened, ended)
        self.cursor.scope.leave(mark)
        return nodes.Range(value, body, otherwise, Span(opened.start, value.span.end))

    # "template" string [ pipeline ] "}}"
    def call(self, opened: Token) -> nodes.Call:
        name = self._name("template")
        value = None
        if self.cursor.peek_word().kind == "close":
            self.cursor.next()
        else:
            value = pipeline(self.cursor, "close", "template", opened)
        return nodes.Call(name, value, Span(opened.start, self.cursor.last().start))

    # "block" string pipeline "}}" list "{{end}}": a define and a template at once
    def block(self, opened: Token) -> nodes.Call:
        name = self._name("block")
        value = pipeline(self.cursor, "close", "block", opened)
        self._named_body(name, opened)
        return nodes.Call(name, value, Span(opened.start, value.span.end))

    def leave(self, opened: Token) -> nodes.Break | nodes.Continue:
        """``break`` and ``continue``, which need a range around them."""
        self.cursor.expect("close", opened.text)
        if not self.ranges:
            raise self.cursor.error(opened, f"{{{{{opened.text}}}}} outside of {{{{range}}}}")
        return nodes.Break() if opened.text == "break" else nodes.Continue()

    def misplaced(self, opened: Token) -> nodes.Node:
        """``end``, ``else`` and ``define`` where none can be."""
        reason = "is only allowed at the top level" if opened.text == "define" else "has nothing that it belongs to"
        raise self.cursor.error(opened, f"{{{{{opened.text}}}}} {reason}")

    _statements: dict[str, Callable[[_Parser, Token], nodes.Node]] = {  # noqa: RUF012 - a table, never written
        "if": branch,
        "with": branch,
        "range": loop,
        "template": call,
        "block": block,
        "break": leave,
        "continue": leave,
        "end": misplaced,
        "else": misplaced,
        "define": misplaced,
    }

    def _keyword(self) -> Token:
        """Consumes ``{{`` and the keyword behind it."""
        self.cursor.next()
        self.cursor.skip_space()
        return self.cursor.next()

    def _name(self, context: str) -> str:
        self.cursor.skip_space()
        token = self.cursor.next()
        if token.kind not in ("string", "raw"):
            raise self.cursor.error(token, f'{context} takes the name of a template, as in {{{{{context} "name"')
        return str(literal(self.cursor, token).value)


def _blank(body: nodes.Body) -> bool:
    """Whether a body is nothing but white space, which does not count as a definition."""
    return all(isinstance(node, nodes.Text) and not node.text.strip() for node in body)
