"""Tokens → tree, with the grammar of Go's `text/template/parse` (X11).

In: a text. Out: a `Tree`. Raises `TemplateError` for unended blocks, misplaced words, nesting beyond `MAX_DEPTH`, and
the errors of `pipeline`. The grammar is above each function; each token is visited a bounded number of times, and a
chain of ``else if`` takes linear time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, TypeVar

from prosa.source import Span
from prosa.template import nodes
from prosa.template.errors import TemplateError, TooDeep, Unended, quoted
from prosa.template.lex import Token
from prosa.template.pipeline import KEYWORDS, Cursor, literal, pipeline
from prosa.template.values import Scope

_EMPTY: nodes.Body = ()

MAX_PROBLEMS: Final = 50
"""Maximum number of mistakes reported for one template."""

T = TypeVar("T")


def parse(text: str, functions: Collection[str]) -> nodes.Tree:
    """Return the tree of a template that may call ``functions``. Raises `TemplateError`."""
    return _Parser(Cursor(text, functions)).template()


def problems(text: str, functions: Collection[str]) -> tuple[TemplateError, ...]:
    """Return every mistake of a template as they are found, at most `MAX_PROBLEMS`; the first is what `parse` raises.

    An invalid action is skipped; a block with an invalid head is still a block.
    """
    errors: list[TemplateError] = []
    parser = _Parser(Cursor(text, functions), errors)
    try:
        parser.template()
    except TemplateError as last:
        errors.append(last)
    return tuple(errors)


class _Parser:
    """The statements of one template: the bodies defined so far, and how many ranges are open.

    With ``found``, mistakes are collected there and parsing continues; without it, the first one is raised.
    """

    def __init__(self, cursor: Cursor, errors: list[TemplateError] | None = None) -> None:
        self.cursor = cursor
        self.found = errors
        self.ranges = 0
        self.defined: dict[str, nodes.Body] = {}

    # template: { text | action | define }
    def template(self) -> nodes.Tree:
        body: list[nodes.Node] = []
        while self.cursor.peek().kind != "end":
            if self.cursor.opens("define"):
                self._tried(self.define, None)
            else:
                body.append(self._tried(self.text_or_action, _GAP))
        return nodes.Tree(tuple(body), self.defined)

    # define: "{{define" string "}}" list "{{end}}"
    def define(self) -> None:
        opened = self._keyword()
        self._named_body(self._tried(self._defined_name, ""), opened)

    def _defined_name(self) -> str:
        name = self._name("define")
        self.cursor.expect("close", "define")
        return name

    def _named_body(self, name: str, opened: Token) -> None:
        """Parse the body of ``define`` and ``block``, which sees no variable and no range around it."""
        outer, self.cursor.scope = self.cursor.scope, Scope(None)
        ranges, self.ranges = self.ranges, 0
        body, ended = self.list_until_end(opened)
        while ended.text != "end":
            self._fail(self.cursor.error(ended, f"unexpected {{{{{ended.text}}}}} in {opened.text}"))
            body, ended = self.list_until_end(opened)
        self._close("end")
        self.cursor.scope, self.ranges = outer, ranges
        self._add(name, body, opened)

    def _add(self, name: str, body: nodes.Body, at: Token) -> None:
        """Add a definition; one of white space only is replaced by any other."""
        known = self.defined.get(name, _EMPTY)
        if _blank(known):
            self.defined[name] = body
        elif not _blank(body):
            self._fail(self.cursor.error(at, f"the template {quoted(name)} is defined twice"))

    # list: { text | action } until "{{end" or "{{else", which is returned too, its word consumed
    def list_until_end(self, opened: Token) -> tuple[nodes.Body, Token]:
        self.cursor.deeper(opened)
        body: list[nodes.Node] = []
        while self.cursor.peek().kind != "end":
            if self.cursor.opens("end", "else"):
                self.cursor.higher()
                return tuple(body), self._keyword()
            body.append(self._tried(self.text_or_action, _GAP))
        message = f"{{{{{opened.text}}}}} has no {{{{end}}}}"
        raise Unended(message, text=self.cursor.text, offset=opened.start, fragment=opened.text)

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
            value = self._pipeline(opened.text, opened)
            body, ended = self.list_until_end(opened)
            arms.append(nodes.Arm(value, body))
            if ended.text == "end" or not self._goes_on(opened):
                break
            self.cursor.next()
        otherwise = self._otherwise(opened, ended)
        self.cursor.scope.leave(mark)
        return (nodes.If if opened.text == "if" else nodes.With)(tuple(arms), otherwise)

    def _goes_on(self, opened: Token) -> bool:
        """Return whether ``else`` is followed by the word that opened the block."""
        word = self.cursor.peek_word()
        return word.kind == "word" and word.text == opened.text

    # [ "}}" list "{{end" ] "}}", behind the word "else" or "end"
    def _otherwise(self, opened: Token, ended: Token) -> nodes.Body:
        body = _EMPTY
        if ended.text == "else":
            self._close("else")
            body, ended = self.list_until_end(opened)
            while ended.text == "else":
                self._fail(self.cursor.error(ended, "expected {{end}}, found a second {{else}}"))
                body, ended = self.list_until_end(opened)
        self._close("end")
        return body

    # "range" pipeline "}}" list [ "{{else}}" list ] "{{end}}"
    def loop(self, opened: Token) -> nodes.Range:
        mark = self.cursor.scope.mark()
        value = self._pipeline("range", opened)
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
        name, value = self._tried(lambda: self._block_head(opened), ("", _nothing(opened)))
        self._named_body(name, opened)
        return nodes.Call(name, value, Span(opened.start, value.span.end))

    def _block_head(self, opened: Token) -> tuple[str, nodes.Pipeline]:
        name = self._name("block")
        return name, pipeline(self.cursor, "close", "block", opened)

    def leave(self, opened: Token) -> nodes.Break | nodes.Continue:
        """Return ``break`` and ``continue``, which need a range around them."""
        self.cursor.expect("close", opened.text)
        if not self.ranges:
            raise self.cursor.error(opened, f"{{{{{opened.text}}}}} outside of {{{{range}}}}")
        return nodes.Break() if opened.text == "break" else nodes.Continue()

    def misplaced(self, opened: Token) -> nodes.Node:
        """Return ``end``, ``else`` and ``define`` where none can be."""
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

    def _pipeline(self, context: str, opened: Token) -> nodes.Pipeline:
        return self._tried(lambda: pipeline(self.cursor, "close", context, opened), _nothing(opened))

    def _close(self, context: str) -> None:
        self._tried(lambda: self.cursor.expect("close", context), None)

    def _tried(self, read: Callable[[], T], otherwise: T) -> T:
        """Return the result of ``read``; while mistakes are collected, return ``otherwise`` for an invalid action."""
        depth = self.cursor.depth
        try:
            return read()
        except (TooDeep, Unended):
            raise
        except TemplateError as error:
            self._fail(error, depth)
            return otherwise

    def _fail(self, error: TemplateError, depth: int | None = None) -> None:
        """Raise a mistake; where they are collected, keeps it and goes behind the action in which it stands."""
        if self.found is None or len(self.found) >= MAX_PROBLEMS - 1:
            raise error
        self.found.append(error)
        self.cursor.behind_action(self.cursor.depth if depth is None else depth)

    def _keyword(self) -> Token:
        """Consume ``{{`` and the keyword behind it."""
        self.cursor.next()
        self.cursor.skip_space()
        return self.cursor.next()

    def _name(self, context: str) -> str:
        self.cursor.skip_space()
        token = self.cursor.next()
        if token.kind not in ("string", "raw"):
            raise self.cursor.error(token, f'{context} takes the name of a template, as in {{{{{context} "name"')
        return str(literal(self.cursor, token).value)


_GAP: Final[nodes.Node] = nodes.Text("")
"""What stands for an action that is wrong."""


def _nothing(opened: Token) -> nodes.Pipeline:
    """Return what stands for a pipeline that is wrong."""
    return nodes.Pipeline((), False, (), Span(opened.start, opened.end))


def _blank(body: nodes.Body) -> bool:
    """Return whether a body is nothing but white space, which does not count as a definition."""
    return all(isinstance(node, nodes.Text) and not node.text.strip() for node in body)
