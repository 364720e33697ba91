"""A test document and the program it tests: what the program takes and can answer decides what a case may say (X28)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from prosa.data import Value, span_at
from prosa.diagnostics import Misspelling, Severity
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.document.model import CaseModel, SuiteModel
from prosa.dialects.evals.document.read import place_of
from prosa.dialects.evals.document.rows import RowProblem, read_rows
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.model import ProgramModel
from prosa.dialects.reading import open_document
from prosa.dialects.table import MARKDOWNLANG
from prosa.evaluation.case import Case, expects_failure
from prosa.evaluation.contradictions import contradictions
from prosa.evaluation.expectations import mistakes
from prosa.evaluation.matchers import Missing
from prosa.rules.evals.document import RULES
from prosa.rules.rule import Finding, Subject
from prosa.schema import Schema, SchemaError, fill_defaults
from prosa.source import FileProblem, Files, Span

MAX_ROW_FINDINGS = 20
"""Of one file of rows; more say nothing new."""


def _beside(subject: Subject[SuiteModel], written: str) -> tuple[Files, Path] | None:
    """Return the file that a path in the document means; None for a text without a file of its own."""
    if subject.files is None or subject.path is None:
        return None
    return subject.files, subject.path.parent / written


def _named(subject: Subject[SuiteModel], written: str | None) -> ProgramModel | str | None:
    """Return a program that the document names, or why it cannot be had; None where nothing is known of it."""
    place = _beside(subject, written) if written is not None else None
    if place is None or not place[0].inside_root(place[1]):
        return None
    files, path = place
    try:
        reading = open_document(files.read(path), Hints(forced="markdownlang"))
    except FileProblem as problem:
        return "does not exist" if problem.kind == "missing" else f"cannot be read: {problem.reason}"
    model = reading.model_of(MARKDOWNLANG)
    return f"is not a program: it is read as {reading.name}" if model is None else model


def _program(subject: Subject[SuiteModel]) -> ProgramModel | None:
    program = _named(subject, subject.model.tests)
    return program if isinstance(program, ProgramModel) else None


@RULES.document("TS020", "unknown-tested-program", Severity.ERROR)
def unknown_tested_program(subject: Subject[SuiteModel]) -> Iterator[Finding]:
    """Find a program, or a grader, that does not exist or is none. The finding points at its path."""
    for field, written in (("tests", subject.model.tests), ("grader", subject.model.grader)):
        why = _named(subject, written)
        if isinstance(why, str):
            what = "the tested program" if field == "tests" else "the grader"
            note = "a relative path starts at the folder of the test document"
            yield Finding(f"{what} `{shown(written or '')}` {why}", subject.model.span(field), (note,))


@RULES.document("TS021", "tested-program-outside-root", Severity.INFO)
def tested_program_outside_root(subject: Subject[SuiteModel]) -> Iterator[Finding]:
    """Find a program, a grader or a file of rows that a check does not open, because it lies outside the root (X5). The
    finding points at its path."""
    model = subject.model
    for field, written in (("tests", model.tests), ("grader", model.grader), ("rows", model.rows)):
        place = _beside(subject, written) if written is not None else None
        if place is not None and not place[0].inside_root(place[1]):
            message = f"`{shown(written or '')}` lies outside the root and was not opened"
            yield Finding(message, model.span(field), ("`--root DIR` makes the root wider",))


@RULES.document("TS022", "refused-test-input", Severity.ERROR)
def refused_test_input(subject: Subject[SuiteModel]) -> Iterator[Finding]:
    """Find an input that the program would refuse (L12). The finding points at the part that is wrong, or at the
    heading of a case without an input. A case that expects this failure is left alone."""
    program = _program(subject)
    schema = _schema(program.input.value) if program is not None and program.input is not None else None
    if schema is None:
        return
    for case in subject.model.cases:
        block = case.blocks.get("input")
        if (block is not None and isinstance(block.value, Missing)) or expects_failure(case.value_or("run", None)):
            continue
        value = case.value_or("input", {})
        for problem in schema.problems(fill_defaults(schema.raw, value), value):
            where = f" at `{problem.pointer}`" if problem.pointer else ""
            yield Finding(f"the program refuses this input{where}: {problem.message}", _place(case, problem.pointer))


def _schema(value: Value) -> Schema | None:
    try:
        return Schema(value)
    except SchemaError:
        return None


def _place(case: CaseModel, pointer: str) -> Span:
    block = case.blocks.get("input")
    if block is None:
        return case.heading.content
    return block.span if block.node is None else span_at(block.node, pointer)


@RULES.document("TS023", "impossible-expectation", Severity.ERROR)
def impossible_expectation(subject: Subject[SuiteModel]) -> Iterator[Finding]:
    """Find an expectation that no answer of the program can meet, because its output schema forbids it. The finding
    points at the part that is forbidden."""
    program = _program(subject)
    if program is None or program.output is None or _schema(program.output.value) is None:
        return
    for case in subject.model.cases:
        wanted, block = case.value("expect"), case.blocks.get("expect")
        if isinstance(wanted, Missing) or block is None or next(mistakes(wanted), None) is not None:
            continue
        for contradiction in contradictions(wanted, program.output.value):
            meant = Misspelling(contradiction.written, contradiction.meant) if contradiction.meant else None
            notes = (f"the output schema of `{shown(program.name)}`",)
            yield Finding(contradiction.message, place_of(contradiction, block), notes, misspelling=meant)


@RULES.document("TS024", "bad-rows-file", Severity.ERROR)
def bad_rows_file(subject: Subject[SuiteModel]) -> Iterator[Finding]:
    """Find a file of rows that cannot be read, and rows that are no cases: broken JSON, inputs that the program
    refuses, expectations that it cannot meet. The finding points at the name of the file; its message has the line."""
    model = subject.model
    place = _beside(subject, model.rows) if model.rows is not None else None
    if place is None or not place[0].inside_root(place[1]):
        return
    span, name = model.span("rows"), shown(model.rows or "")
    try:
        source = place[0].read(place[1])
    except FileProblem as problem:
        yield Finding(f"the rows `{name}` cannot be read: {problem.reason}", span)
        return
    wrong = islice(_about_rows(read_rows(source), _program(subject)), MAX_ROW_FINDINGS)
    for line, message in wrong:
        yield Finding(f"{name}:{line}: {message}", span)


def _about_rows(rows: Iterator[Case | RowProblem], program: ProgramModel | None) -> Iterator[tuple[int, str]]:
    taken = _schema(program.input.value) if program is not None and program.input is not None else None
    output_schema = program.output.value if program is not None and program.output is not None else True
    output_schema = output_schema if _schema(output_schema) is not None else True
    names: set[str] = set()
    empty = True
    for row in rows:
        empty = False
        if isinstance(row, RowProblem):
            yield row.line, row.message
            continue
        line = int(row.place.rpartition(":")[2])
        if row.name in names:
            yield line, f"two rows are called `{shown(row.name)}`"
        names.add(row.name)
        if taken is not None and not expects_failure(row.run):
            for problem in taken.problems(fill_defaults(taken.raw, row.input), row.input):
                yield line, f"the program refuses this input: {problem}"
        if not isinstance(row.expect, Missing):
            yield from ((line, contradiction.message) for contradiction in contradictions(row.expect, output_schema))
    if empty:
        yield 1, "there is no row"
