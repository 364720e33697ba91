"""Tree + data → text, with the semantics of Go's `text/template/exec` except X12–X14.

In: a parsed tree and plain data. Out: the text. Values are only ever printed, compared or looked up: nothing in them is
parsed, and no attribute of a Python object is reachable. Each rendering has its own `_Execution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, cast

from prosa.data import Value
from prosa.source import Span
from prosa.template import nodes
from prosa.template.errors import FunctionError, TemplateError, quoted
from prosa.template.funcs import FUNCTIONS
from prosa.template.printing import value_text
from prosa.template.values import ABSENT, Absent, Scope, TemplateValue, described, truth

MAX_OUTPUT: Final = 10 * 1024 * 1024
"""Characters of a rendering: as much as a document may have (X9)."""

MAX_STEPS: Final = 1_000_000
"""Commands and rounds of a range in one rendering: a bound for ``range 1000000000``, a second or two."""

MAX_WORK: Final = 5 * MAX_OUTPUT
"""Characters and elements that the functions of one rendering go through: the longest text five times. A step is cheap
only where its values are small: a range that puts a megabyte in upper case ends here."""

MAX_LEVELS: Final = 220
"""Blocks, parentheses (two each) and templates within each other while they run. Data of 64 levels can be walked by a
template that calls itself; Python's own stack ends later."""

SPECIAL: Final = ("and", "or")
"""Functions that do not evaluate all their arguments."""

_UNCHARGED: Final = frozenset(("len", "index", "default", "not"))
"""Functions that take as long for a large value as for a small one."""

_MISSING: Final = Absent()
"""No value is piped in: not `ABSENT`, which can be."""


class _Break(Exception):
    """Out of the nearest range."""


class _Continue(Exception):
    """To the next element of the nearest range."""


def render(tree: nodes.Tree, text: str, data: Value) -> str:
    """Return the text of a template. Raises `TemplateError` with the place of what went wrong."""
    execution = _Execution(tree, text, data)
    execution.walk(tree.body, data)
    return "".join(execution.pieces)


class _Execution:
    """The state of one rendering: output so far, variables in scope, what was used up of the limits."""

    def __init__(self, tree: nodes.Tree, text: str, data: Value) -> None:
        self.tree = tree
        self.text = text
        self.pieces: list[str] = []
        self.size = 0
        self.steps = 0
        self.work = 0
        self.level = 0
        self.scope: Scope[TemplateValue] = Scope(data)

    def walk(self, body: nodes.Body, dot: TemplateValue) -> None:
        """Execute a body with its cursor."""
        self.level += 1
        for node in body:
            if type(node) is nodes.Text:
                self._write(node.text, 0)
            elif type(node) is nodes.Action:
                value = self.pipeline(node.pipeline, dot)
                if not node.pipeline.declares:
                    self._print(value, node)
            else:
                self._statements[type(node)](self, node, dot)
        self.level -= 1

    def _print(self, value: TemplateValue, node: nodes.Action) -> None:
        try:
            self._write(value if type(value) is str else value_text(value), node.span.start)
        except FunctionError as error:
            raise self.error(error.message, node.span) from None

    def _write(self, text: str, at: int) -> None:
        self.size += len(text)
        if self.size > MAX_OUTPUT:
            raise self.error(f"the text grows beyond {MAX_OUTPUT:,} characters", Span(at, at))
        self.pieces.append(text)

    def _branch(self, node: nodes.If | nodes.With, dot: TemplateValue) -> None:
        mark = self.scope.mark()
        for arm in node.arms:
            value = self.pipeline(arm.pipeline, dot)
            if truth(value):
                self.walk(arm.body, value if type(node) is nodes.With else dot)
                break
        else:
            self.walk(node.otherwise, dot)
        self.scope.leave(mark)

    def _range(self, node: nodes.Range, dot: TemplateValue) -> None:
        mark, level = self.scope.mark(), self.level
        value = self.pipeline(node.pipeline, dot)
        empty = True
        for key, element in self._elements(value, node):
            empty = False
            self._step(1, node.span)
            inner = self._bind(node.pipeline, key, element)
            try:
                self.walk(node.body, element)
            except _Continue:
                self.level = level
            except _Break:
                self.level = level
                break
            self.scope.leave(inner)
        if empty:
            self.walk(node.otherwise, dot)
        self.scope.leave(mark)

    def _elements(self, value: TemplateValue, node: nodes.Range) -> Iterable[tuple[TemplateValue, Value]]:
        """Key and element in order; a map is ranged in the order of its keys, an integer from 0."""
        if value is None or value is ABSENT:
            return ()
        if isinstance(value, list):
            return enumerate(value)
        if isinstance(value, dict):
            return self._entries(value, node)
        if isinstance(value, int) and not isinstance(value, bool):
            if len(node.pipeline.declares) > 1:
                raise self.error("a range over a number has one variable, not two", node.span)
            return ((ABSENT, number) for number in range(value))
        raise self.error(f"range needs a list, a map or an integer, found {described(value)}", node.pipeline.span)

    def _entries(self, value: dict[str, Value], node: nodes.Range) -> Iterable[tuple[str, Value]]:
        keys: Iterable[Value] = value
        for key in keys:
            if not isinstance(key, str):
                message = f"a key of a map is {described(key)}; only strings are keys of data"
                raise self.error(message, node.pipeline.span)
        return ((key, value[key]) for key in sorted(value))

    def _bind(self, pipeline: nodes.Pipeline, key: TemplateValue, element: Value) -> int:
        """Set the variables of a range for one round: the last is the element, the one before it the key.

        Return the mark to which the scope is reset after the round. The pipeline has already set the variables to its
        whole value; those of the round hide that.
        """
        names = pipeline.declares
        values = (element,) if len(names) == 1 else (key, element)
        mark = self.scope.mark()
        for name, value in zip(names, values, strict=False):
            if pipeline.assigns:
                self.scope.assign(name, value)
            else:
                self.scope.declare(name, value)
        return mark

    def _call(self, node: nodes.Call, dot: TemplateValue) -> None:
        body = self.tree.defined.get(node.name)
        if body is None:
            raise self.error(f"no template is named {quoted(node.name)}", node.span)
        self._step(1, node.span)
        if self.level > MAX_LEVELS:
            raise self.error(f"templates call each other within more than {MAX_LEVELS} levels", node.span)
        inner = ABSENT if node.pipeline is None else self.pipeline(node.pipeline, dot)
        outer, self.scope = self.scope, Scope(inner)
        self.walk(body, inner)
        self.scope = outer

    def _leave(self, node: nodes.Break | nodes.Continue, _dot: TemplateValue) -> None:
        raise _Break if type(node) is nodes.Break else _Continue

    # Each takes the nodes under whose type it stands.
    _statements = cast(
        "dict[type, Callable[[_Execution, nodes.Node, TemplateValue], None]]",
        {
            nodes.If: _branch,
            nodes.With: _branch,
            nodes.Range: _range,
            nodes.Call: _call,
            nodes.Break: _leave,
            nodes.Continue: _leave,
        },
    )

    def pipeline(self, pipeline: nodes.Pipeline, dot: TemplateValue) -> TemplateValue:
        """Return the value of a pipeline; its variables are set to it."""
        self.level += 2
        if self.level > MAX_LEVELS:
            raise self.error(f"templates and parentheses nest more than {MAX_LEVELS} levels", pipeline.span)
        value: TemplateValue = _MISSING
        for command in pipeline.commands:
            value = self.command(command, dot, value)
        self.level -= 2
        for name in pipeline.declares:
            if not pipeline.assigns:
                self.scope.declare(name, value)
            elif name in self.scope:
                self.scope.assign(name, value)
            else:
                raise self.error(f"the variable {name} is not defined; := defines it", pipeline.span)
        return value

    def command(self, command: nodes.Command, dot: TemplateValue, piped: TemplateValue) -> TemplateValue:
        """Return the value of a command, with what is piped into it."""
        self._step(len(command.operands), command.span)
        first = command.operands[0]
        if type(first) is nodes.Word:
            return self.function(first, command, dot, piped)
        if len(command.operands) > 1 or piped is not _MISSING:
            piece = quoted(first.span.of(self.text))
            raise self.error(f"{piece} is a value and takes no arguments; a function may be missing", command.span)
        if type(first) is nodes.Nil:
            raise self.error("nil is not a command", first.span)
        return self.operand(first, dot)

    def function(
        self, word: nodes.Word, command: nodes.Command, dot: TemplateValue, piped: TemplateValue
    ) -> TemplateValue:
        """Call a function with the operands behind it and the piped value last."""
        operands = command.operands[1:]
        if word.name in SPECIAL:
            return self._short_circuit(word, operands, dot, piped)
        function = FUNCTIONS[word.name]
        count = len(operands) + (piped is not _MISSING)
        if count < function.min_args or (function.max_args is not None and count > function.max_args):
            raise self.error(_wrong_count(word.name, function.min_args, function.max_args, count), command.span)
        arguments = [self.operand(operand, dot) for operand in operands]
        if piped is not _MISSING:
            arguments.append(piped)
        try:
            result = function.call(arguments, piped is not _MISSING)
        except FunctionError as error:
            raise self.error(f"{word.name}: {error.message}", command.span) from None
        if word.name not in _UNCHARGED:
            self._charge((result,) if word.name == "slice" else (*arguments, result), command.span)
        return result

    def _short_circuit(
        self, word: nodes.Word, operands: tuple[nodes.Operand, ...], dot: TemplateValue, piped: TemplateValue
    ) -> TemplateValue:
        """``and`` gives the first false argument, ``or`` the first true one; what follows is not evaluated."""
        value: TemplateValue = _MISSING
        for operand in operands:
            value = self.operand(operand, dot)
            if truth(value) == (word.name == "or"):
                return value
        if piped is not _MISSING:
            value = piped
        if value is _MISSING:
            raise self.error(_wrong_count(word.name, 1, None, 0), word.span)
        return value

    def operand(self, operand: nodes.Operand, dot: TemplateValue) -> TemplateValue:
        """Return the value of an operand."""
        match operand:
            case nodes.Field():
                return self._lookup(dot, operand.names, operand.span)
            case nodes.Literal():
                return operand.value
            case nodes.Dot():
                return dot
            case nodes.Variable():
                return self._variable(operand)
            case nodes.Pipeline():
                return self.pipeline(operand, dot)
            case nodes.Chain():
                return self._lookup(self.operand(operand.operand, dot), operand.names, operand.span)
            case nodes.Word():
                return self.function(operand, nodes.Command((operand,), operand.span), dot, _MISSING)
            case nodes.Nil():
                return None

    def _variable(self, variable: nodes.Variable) -> TemplateValue:
        if variable.name not in self.scope:
            raise self.error(f"the variable {variable.name} is not defined", variable.span)
        value = self.scope.get(variable.name)
        return self._lookup(value, variable.names, variable.span) if variable.names else value

    def _lookup(self, value: TemplateValue, names: tuple[str, ...], span: Span) -> TemplateValue:
        """Return steps through names: absent and null stay absent, a scalar or a list has no names (X13)."""
        for name in names:
            if isinstance(value, dict):
                value = value.get(name, ABSENT)
            elif value is None or value is ABSENT:
                return ABSENT
            else:
                piece = quoted(span.of(self.text))
                raise self.error(f"{piece} steps into {described(value)}, which has no {name!r}", span)
        return value

    def _step(self, count: int, span: Span) -> None:
        self.steps += count
        if self.steps > MAX_STEPS:
            raise self.error(f"more than {MAX_STEPS:,} steps; a range may be too long", span)

    def _charge(self, values: Sequence[TemplateValue], span: Span) -> None:
        """Count the largest of the values that a function took and gave."""
        self.work += max(len(value) if isinstance(value, str | list | dict) else 0 for value in values)
        if self.work > MAX_WORK:
            raise self.error(f"functions go through more than {MAX_WORK:,} characters; a range may be too long", span)

    def error(self, message: str, span: Span) -> TemplateError:
        """Return an error at a place of the template."""
        return TemplateError(message, text=self.text, offset=span.start, fragment=span.of(self.text))


def _wrong_count(name: str, least: int, most: int | None, count: int) -> str:
    exact = str(least) if least == most else f"{least} to {most}"
    wanted = f"at least {least}" if most is None else exact
    return f"{name} takes {wanted} argument{'' if wanted == '1' else 's'}, found {count}"
