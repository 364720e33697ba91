"""Tree + data → text, with the semantics of Go's `text/template/exec` except X12–X14.

In: a parsed tree and plain data. Out: the text. Values are only ever printed, compared or looked up: nothing in them is
parsed, and no attribute of a Python object is reachable. Each rendering has its own `_Execution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prosa.source import Span
from prosa.template import nodes
from prosa.template.errors import TemplateError, quoted
from prosa.template.funcs import FUNCTIONS
from prosa.template.function import FunctionError
from prosa.template.printing import value_text
from prosa.template.values import ABSENT, described, truth

MAX_OUTPUT = 10 * 1024 * 1024
"""Characters of a rendering: as much as a document may have (X9)."""

MAX_STEPS = 1_000_000
"""Nodes executed in one rendering: a bound for `range 1000000000` and for templates that call each other."""

MAX_CALLS = 100
"""Templates that call each other within each other. Go allows 100,000; Python's own stack ends long before."""

SPECIAL = ("and", "or")
"""Functions that do not evaluate all their arguments."""

_MISSING: Any = object()
"""No value is piped in."""


class _Break(Exception):
    """Out of the nearest range."""


class _Continue(Exception):
    """To the next element of the nearest range."""


def render(tree: nodes.Tree, text: str, data: object) -> str:
    """The text of a template. Raises `TemplateError` with the place of what went wrong."""
    execution = _Execution(tree, text)
    execution.variables.append(("$", data))
    execution.walk(tree.body, data)
    return "".join(execution.pieces)


class _Execution:
    """The state of one rendering: output so far, variables in scope, what was used up of the limits."""

    def __init__(self, tree: nodes.Tree, text: str) -> None:
        self.tree = tree
        self.text = text
        self.pieces: list[str] = []
        self.size = 0
        self.steps = 0
        self.calls = 0
        self.variables: list[tuple[str, Any]] = []

    def walk(self, body: nodes.Body, dot: Any) -> None:
        """Executes a body with its cursor."""
        for node in body:
            self.steps += 1
            if type(node) is nodes.Text:
                self._write(node.text, 0)
            elif type(node) is nodes.Action:
                value = self.pipeline(node.pipeline, dot)
                if not node.pipeline.declares:
                    self._print(value, node)
            else:
                self._statements[type(node)](self, node, dot)
            if self.steps > MAX_STEPS:
                raise self.error(f"more than {MAX_STEPS} steps; a range may be too long", Span(0, 0))

    def _print(self, value: Any, node: nodes.Action) -> None:
        try:
            self._write(value if type(value) is str else value_text(value), node.span.start)
        except FunctionError as error:
            raise self.error(error.message, node.span) from None

    def _write(self, text: str, at: int) -> None:
        self.size += len(text)
        if self.size > MAX_OUTPUT:
            raise self.error(f"the text grows beyond {MAX_OUTPUT} characters", Span(at, at))
        self.pieces.append(text)

    def _if(self, node: nodes.If, dot: Any) -> None:
        mark = len(self.variables)
        chosen = node.body if truth(self.pipeline(node.pipeline, dot)) else node.otherwise
        self.walk(chosen, dot)
        del self.variables[mark:]

    def _with(self, node: nodes.With, dot: Any) -> None:
        mark = len(self.variables)
        value = self.pipeline(node.pipeline, dot)
        if truth(value):
            self.walk(node.body, value)
        else:
            self.walk(node.otherwise, dot)
        del self.variables[mark:]

    def _range(self, node: nodes.Range, dot: Any) -> None:
        mark = len(self.variables)
        value = self.pipeline(node.pipeline, dot)
        inner = len(self.variables)
        empty = True
        for key, element in self._elements(value, node):
            empty = False
            self._bind(node.pipeline, inner, key, element)
            try:
                self.walk(node.body, element)
            except _Continue:
                pass
            except _Break:
                break
            finally:
                del self.variables[inner:]
        if empty:
            self.walk(node.otherwise, dot)
        del self.variables[mark:]

    def _elements(self, value: Any, node: nodes.Range) -> Iterable[tuple[Any, Any]]:
        """Key and element in order; a map is ranged in the order of its keys, an integer from 0."""
        if value is None or value is ABSENT:
            return ()
        if type(value) is list:
            return enumerate(value)
        if type(value) is dict:
            return ((key, value[key]) for key in sorted(value))
        if type(value) is int:
            if len(node.pipeline.declares) > 1:
                raise self.error("a range over a number has one variable, not two", node.span)
            return self._counting(value)
        raise self.error(f"range needs a list, a map or an integer, found {described(value)}", node.pipeline.span)

    def _counting(self, count: int) -> Iterator[tuple[Any, int]]:
        number = 0
        while number < count:
            self.steps += 1
            yield ABSENT, number
            number += 1

    def _bind(self, pipeline: nodes.Pipeline, end: int, key: Any, element: Any) -> None:
        """Sets the variables of a range: the last is the element, the one before it the key."""
        names = pipeline.declares
        if not names:
            return
        values = (element,) if len(names) == 1 else (key, element)
        if pipeline.assigns:
            for name, value in zip(names, values, strict=True):
                self._assign(name, value)
        else:
            self.variables[end - len(names) : end] = zip(names, values, strict=True)

    def _call(self, node: nodes.Call, dot: Any) -> None:
        body = self.tree.defined.get(node.name)
        if body is None:
            raise self.error(f"no template is named {quoted(node.name)}", node.span)
        if self.calls >= MAX_CALLS:
            raise self.error(f"templates call each other more than {MAX_CALLS} levels deep", node.span)
        inner = ABSENT if node.pipeline is None else self.pipeline(node.pipeline, dot)
        outer, self.variables = self.variables, [("$", inner)]
        self.calls += 1
        self.walk(body, inner)
        self.calls -= 1
        self.variables = outer

    def _leave(self, node: nodes.Break | nodes.Continue, _dot: Any) -> None:
        raise _Break if type(node) is nodes.Break else _Continue

    _statements: dict[type, Callable[[_Execution, Any, Any], None]] = {  # noqa: RUF012 - a table, never written
        nodes.If: _if,
        nodes.With: _with,
        nodes.Range: _range,
        nodes.Call: _call,
        nodes.Break: _leave,
        nodes.Continue: _leave,
    }

    def pipeline(self, pipeline: nodes.Pipeline, dot: Any) -> Any:
        """The value of a pipeline; its variables are set to it."""
        value = _MISSING
        for command in pipeline.commands:
            value = self.command(command, dot, value)
        for name in pipeline.declares:
            if pipeline.assigns:
                self._assign(name, value)
            else:
                self.variables.append((name, value))
        return value

    def _assign(self, name: str, value: Any) -> None:
        for at in range(len(self.variables) - 1, -1, -1):
            if self.variables[at][0] == name:
                self.variables[at] = (name, value)
                return

    def command(self, command: nodes.Command, dot: Any, piped: Any) -> Any:
        """The value of a command, with what is piped into it."""
        first = command.operands[0]
        if type(first) is nodes.Word:
            return self.function(first, command, dot, piped)
        if len(command.operands) > 1 or piped is not _MISSING:
            piece = quoted(first.span.of(self.text))
            raise self.error(f"{piece} is a value and takes no arguments; a function may be missing", command.span)
        if type(first) is nodes.Nil:
            raise self.error("nil is not a command", first.span)
        return self.operand(first, dot)

    def function(self, word: nodes.Word, command: nodes.Command, dot: Any, piped: Any) -> Any:
        """Calls a function with the operands behind it and the piped value last."""
        operands = command.operands[1:]
        count = len(operands) + (piped is not _MISSING)
        if word.name in SPECIAL:
            return self._short_circuit(word, operands, dot, piped)
        function = FUNCTIONS[word.name]
        if count < function.min_args or (function.max_args is not None and count > function.max_args):
            raise self.error(_wrong_count(word.name, function.min_args, function.max_args, count), command.span)
        arguments = [self.operand(operand, dot) for operand in operands]
        if piped is not _MISSING:
            arguments.append(piped)
        try:
            return function.call(arguments, piped is not _MISSING)
        except FunctionError as error:
            raise self.error(f"{word.name}: {error.message}", command.span) from None

    def _short_circuit(self, word: nodes.Word, operands: tuple[nodes.Operand, ...], dot: Any, piped: Any) -> Any:
        """``and`` gives the first false argument, ``or`` the first true one; what follows is not evaluated."""
        value = _MISSING
        for operand in operands:
            value = self.operand(operand, dot)
            if truth(value) == (word.name == "or"):
                return value
        if piped is not _MISSING:
            value = piped
        if value is _MISSING:
            raise self.error(_wrong_count(word.name, 1, None, 0), word.span)
        return value

    def operand(self, operand: nodes.Operand, dot: Any) -> Any:
        """The value of an operand."""
        kind = type(operand)
        if kind is nodes.Field:
            return self._lookup(dot, operand.names, operand.span)  # type: ignore[union-attr]
        if kind is nodes.Literal:
            return operand.value  # type: ignore[union-attr]
        if kind is nodes.Dot:
            return dot
        if kind is nodes.Variable:
            return self._lookup(self._variable(operand), operand.names, operand.span)  # type: ignore[union-attr, arg-type]
        return self._rare(operand, dot)

    def _rare(self, operand: nodes.Operand, dot: Any) -> Any:
        match operand:
            case nodes.Pipeline():
                return self.pipeline(operand, dot)
            case nodes.Chain():
                return self._lookup(self.operand(operand.operand, dot), operand.names, operand.span)
            case nodes.Word():
                return self.function(operand, nodes.Command((operand,), operand.span), dot, _MISSING)
            case _:
                return None

    def _variable(self, variable: nodes.Variable) -> Any:
        for name, value in reversed(self.variables):
            if name == variable.name:
                return value
        raise self.error(f"the variable {variable.name} is not defined", variable.span)

    def _lookup(self, value: Any, names: tuple[str, ...], span: Span) -> Any:
        """Steps through names: absent and null stay absent, a scalar or a list has no names (X13)."""
        for name in names:
            if type(value) is dict:
                value = value.get(name, ABSENT)
            elif value is None or value is ABSENT:
                return ABSENT
            else:
                piece = quoted(span.of(self.text))
                raise self.error(f"{piece} steps into {described(value)}, which has no {name!r}", span)
        return value

    def error(self, message: str, span: Span) -> TemplateError:
        """An error at a place of the template."""
        return TemplateError(message, text=self.text, offset=span.start, fragment=span.of(self.text))


def _wrong_count(name: str, least: int, most: int | None, found: int) -> str:
    exact = str(least) if least == most else f"{least} to {most}"
    wanted = f"at least {least}" if most is None else exact
    return f"{name} takes {wanted} argument{'' if wanted == '1' else 's'}, found {found}"
