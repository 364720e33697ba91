"""Outputs accepted as expectations (`prosa test --update`): edits of test documents, and what has to be done by hand.

In: suites and a report. Out: documents before and after. Only values that stand as they are expected are replaced,
where all repeats agree; words about a value, rows, questions and expectations of runs are left to their author. What
was edited is read again, and dropped where it would not be met.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec import Struct

from prosa.app.check.fix import Change, write_changes
from prosa.app.evals.suite import Suite
from prosa.data import Mapping, Node, Scalar, Value, members_of, to_value
from prosa.data import Sequence as Items
from prosa.data.yaml_write import write_yaml
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.document.model import Block, CaseModel, SuiteModel
from prosa.dialects.reading import open_document
from prosa.dialects.table import TEST
from prosa.evaluation.case import expects_failure
from prosa.evaluation.expectations import is_query, match
from prosa.evaluation.jsonpath import BadQuery, compile_query
from prosa.evaluation.matchers import MISSING, Missing, OutputValue, is_matcher, meets, same
from prosa.evaluation.report import Attempt, Report, SuiteReport
from prosa.regex import regex
from prosa.source import Edit, SourceText, Span, apply_edits

_WORD = regex(r"[A-Za-z][A-Za-z_-]*(?: [A-Za-z_-]+)*")
_NAMES = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})


class Updates(Struct, frozen=True):
    """What changes, and what is left: a sentence each. ``remains`` says that something that failed stays as it is."""

    changes: tuple[Change, ...]
    left: tuple[str, ...]
    remains: bool


class _Left(Exception):
    """Why an expectation cannot be brought up to date by itself."""


def updates(suites: Sequence[Suite], report: Report) -> Updates:
    """Return the documents with the outputs of the report as expectations; of several models the first one counts."""
    changes: list[Change] = []
    left: list[str] = []
    remains = False
    for suite in suites:
        reported = next((item for item in report.suites if item.path == str(suite.path) and not item.baseline), None)
        if reported is None:
            continue
        if suite.model is None:
            left += [f"{suite.path}: the cases of a skill are not changed"] if reported.passed is False else []
            remains = remains or not reported.passed
            continue
        change, notes, done = _updated(suite, suite.model, reported)
        changes += [change] if change is not None else []
        left += notes
        remains = remains or not done
    return Updates(tuple(changes), tuple(left), remains)


def write_updates(changes: Sequence[Change]) -> tuple[str, ...]:
    """Write them, and return the words for those that were refused."""
    return tuple(write_changes(changes).values())


def _updated(suite: Suite, model: SuiteModel, reported: SuiteReport) -> tuple[Change | None, list[str], bool]:
    source = model.document.source
    models = {case.name: case for case in model.cases}
    edits: dict[str, list[Edit]] = {}
    left: list[str] = []
    for case in reported.cases:
        wanted = not case.passed or _expects_nothing(models.get(case.case.name))
        if not wanted:
            continue
        try:
            edits[case.case.name] = _case_edits(models.get(case.case.name), case.attempts, source)
        except _Left as reason:
            left.append(f"{case.case.place}: {case.case.name}: {reason}")
    outputs = {case.case.name: case.attempts[0].output for case in reported.cases}
    kept = {name: some for name, some in edits.items() if some and _is_met(source, name, some, outputs[name])}
    left += [f"{suite.path}: {name}: the output cannot be written in its place" for name in edits if name not in kept]
    after = apply_edits(source.text, [edit for some in kept.values() for edit in some])
    change = Change(suite.path, source, after) if after != source.text else None
    return change, left, not left


def _expects_nothing(case: CaseModel | None) -> bool:
    return case is not None and not case.blocks.keys() - {"input"}


def _case_edits(case: CaseModel | None, attempts: Sequence[Attempt], source: SourceText) -> list[Edit]:
    if case is None:
        raise _Left("it is in a file of rows, which is not changed")
    if any(attempt.facts.failure is not None for attempt in attempts):
        raise _Left("one of its runs gave no output")
    if expects_failure(case.value_or("run", None)):
        raise _Left("it expects a failure")
    if _expects_nothing(case):
        return [_new_block(case, _agreed([attempt.output for attempt in attempts]), source)]
    block = case.blocks.get("expect")
    if block is None or isinstance(block.value, Missing):
        raise _Left("it failed for something else than its `expect` block")
    edit_lists = [
        _block_edits(block, attempt.output, source.text)
        for attempt in attempts
        if match(block.value, attempt.output).failures
    ]
    if not edit_lists:
        raise _Left("it failed for something else than its `expect` block")
    if len(edit_lists) < len(attempts) or any(edits != edit_lists[0] for edits in edit_lists):
        raise _Left("its repeats gave different outputs")
    return edit_lists[0]


def _agreed(outputs: Sequence[Value]) -> Value:
    if any(not same(output, outputs[0]) for output in outputs):
        raise _Left("its repeats gave different outputs")
    return outputs[0]


def _new_block(case: CaseModel, output: Value, source: SourceText) -> Edit:
    """Return an `expect` block with the whole output, behind the input."""
    at = case.blocks["input"].fence.end if "input" in case.blocks else case.heading.span.end
    end = source.text.find("\n", at)
    place = len(source.text) if end < 0 else end
    language, data = "json", json.dumps(output, ensure_ascii=False) + "\n"
    if isinstance(output, dict) and output:
        language, data = "yaml", write_yaml(output)
    return Edit(Span(place, place), f"\n\n```{language} expect\n{data}```" + ("" if end >= 0 else "\n"))


def _block_edits(block: Block, output: Value, text: str) -> list[Edit]:
    if block.node is None:
        if not isinstance(output, str) or not isinstance(block.value, str):
            raise _Left("the output is not text")
        return [Edit(block.span, output.rstrip("\n") + "\n")]
    made = _node_edits(block.node, output, top=True, as_json=block.language == "json")
    return [Edit(_without_end(edit.span, text), edit.replacement) for edit in made]


def _without_end(span: Span, text: str) -> Span:
    """Return the span without the line ends that a text of several lines takes in."""
    return Span(span.start, span.start + len(span.of(text).rstrip()))


def _node_edits(node: Node, output: OutputValue, *, as_json: bool, top: bool = False) -> Iterator[Edit]:
    """Yield the edits that make a node expect an output."""
    expected = to_value(node)
    if is_matcher(expected):
        if meets(expected, output) is not None:
            raise _Left(f"its condition on a value with {', '.join(f'`{word}`' for word in expected)} is not changed")
    elif isinstance(node, Mapping) and isinstance(output, dict):
        for entry in node:
            key = entry.key.text
            yield from _node_edits(entry.value, _under(key, output, top=top), as_json=as_json)
    elif isinstance(output, Missing):
        raise _Left("a field that it expects no longer exists")
    elif isinstance(node, Mapping) and top and all(is_query(entry.key.text) for entry in node):
        for entry in node:
            yield from _node_edits(entry.value, _under(entry.key.text, output, top=True), as_json=as_json)
    elif isinstance(node, Items) and isinstance(output, list) and len(node.items) == len(output):
        for item, value in zip(node.items, output, strict=True):
            yield from _node_edits(item, value, as_json=as_json)
    elif not isinstance(node, Scalar) or not same(expected, output):
        yield Edit(node.span, _flow(output, as_json=as_json))


def _under(key: str, output: Value, *, top: bool) -> OutputValue:
    if not (top and is_query(key)):
        return members_of(output).get(key, MISSING)
    try:
        query = compile_query(key)
        nodes = query.find(output)
    except BadQuery as error:
        raise _Left(f"`{key}` {error}") from None
    if query.parts is None:
        return [value for _, value in nodes]
    return nodes[0][1] if nodes else MISSING


def _flow(value: Value, *, as_json: bool) -> str:
    """Return a value on one line: a word as it is, all else as JSON, which is YAML too."""
    if isinstance(value, str) and not as_json and len(value) <= 60:
        plain = _WORD.fullmatch(value) and value.lower() not in _NAMES
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def _is_met(source: SourceText, name: str, edits: Sequence[Edit], output: Value) -> bool:
    """Return whether the edited document, read again, expects what came out."""
    text = apply_edits(source.text, edits)
    model = open_document(SourceText(text, source.path), Hints(explicit=TEST.name)).model_of(TEST)
    case = next((candidate for candidate in model.cases if candidate.name == name), None) if model is not None else None
    wanted = MISSING if case is None else case.value("expect")
    return not isinstance(wanted, Missing) and not match(wanted, output).failures
