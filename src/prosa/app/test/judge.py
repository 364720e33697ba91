"""An output judged: what it lacks by itself, then by checks in Python, then by a grader (X28).

In: a case, an output and what the run took. Out: failures and what the grader said. A later judge is asked only where
the earlier ones found nothing, as each costs more than the one before.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import cache_dir
from prosa.adapters.sandbox import WasmSandbox, missing_part
from prosa.app.run.jobs import Driver, Job
from prosa.app.run.load import load_program
from prosa.app.test.answers import Answers, Kept
from prosa.data import JsonError, Value, parse_json
from prosa.evaluation.case import Assertion, Case, RunFacts, run_failures
from prosa.evaluation.expectations import Failure, PythonCheck, match
from prosa.evaluation.matchers import Missing
from prosa.evaluation.report import Graded
from prosa.regex import regex
from prosa.runtime.errors import SandboxError

if TYPE_CHECKING:
    from prosa.app.options import Environment, Options
    from prosa.runtime.ports import Sandbox
    from prosa.runtime.program import Program

CHECK_SECONDS = 10.0
CHECK_MEMORY = 128 * 1024 * 1024
_MARK = "prosa-check:"

_AROUND = """{code}

def __prosa_check():
    import json
    input, output, calls = json.loads({data!r})
    try:
        said = check(input, output, calls)
    except AssertionError as error:
        said = str(error) or "an assertion failed"
    if said is not None and not isinstance(said, (bool, str)):
        said = bool(said)
    print({mark!r} + json.dumps(said))

__prosa_check()
"""


class Ran(Struct, frozen=True):
    """What a run gave: its output, what it took, and its tool calls for a check: `{tool, arguments, is_error}`."""

    output: Value
    facts: RunFacts
    calls: tuple[Value, ...] = ()


class Judged(Struct, frozen=True):
    """What an output lacks, what the grader said, and what grading cost in dollars."""

    failures: tuple[Failure, ...]
    graded: tuple[Graded, ...] = ()
    grading: float | None = 0.0


class Checks(Struct):
    """Checks in Python, asked in one sandbox that starts with the first of them. ``stack`` ends it."""

    environment: Environment
    stack: AsyncExitStack
    sandbox: Sandbox | None = None

    async def ask(self, check: PythonCheck, case: Case, calls: Sequence[Value]) -> Failure | None:
        """What a check has against a value. A check that cannot run is a failure, never a pass."""
        try:
            sandbox = self._opened()
            data = json.dumps([case.input, check.value, list(calls)])
            code = _AROUND.format(code=check.code, data=data, mark=_MARK)
            ran = await sandbox.run(code, timeout=CHECK_SECONDS, memory=CHECK_MEMORY)
        except SandboxError as error:
            return Failure(check.pointer, "a check that can run", error.message)
        if ran.error is not None:
            return Failure(
                check.pointer, "what check() asks for", f"an error in the check: {_last(ran.stderr, ran.error)}"
            )
        said = next((line for line in reversed(ran.stdout.splitlines()) if line.startswith(_MARK)), None)
        if said is None:
            return Failure(check.pointer, "an answer of check()", "none")
        answer = json.loads(said.removeprefix(_MARK))
        if answer is None or answer is True:
            return None
        reason = answer if isinstance(answer, str) else "false"
        return Failure(check.pointer, "what check() asks for", f"check() said: {reason[:500]}")

    def _opened(self) -> Sandbox:
        if self.sandbox is None:
            if missing := missing_part():
                raise SandboxError(f"there is no sandbox: {missing}")
            try:
                self.sandbox = WasmSandbox(cache_dir(self.environment.environ), notice=self.environment.notice)
            except OSError as error:
                raise SandboxError(f"there is no place for the cache of the sandbox: {error}") from None
            self.stack.push_async_callback(self.sandbox.aclose)
        return self.sandbox


def _last(text: str, otherwise: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return (lines[-1] if lines else otherwise)[:500]


def load_grader(path: Path | None, root: Path | None, options: Options, environment: Environment) -> Program:
    """The program that answers questions: that of a test document, else the one that comes with Prosa. Raises
    `ProgramRefused` and `FileProblem`."""
    if path is not None:
        return load_program(path, options, environment.settings, environ=environment.environ, within=root)
    with resources.as_file(resources.files("prosa.app.test").joinpath("grade.md")) as shipped:
        program = load_program(shipped, options, environment.settings, within=shipped.parent)
    return replace(program, python=False, parameters={"temperature": 0})


class Grader(Struct, frozen=True):
    """Asks a program whether an output does what a question says. Answers are kept by question and vote."""

    program: Program
    driver: Driver
    votes: int = 1
    kept: Kept | None = None

    async def ask(self, question: str, case: Case, output: Value, name: str, take: int) -> tuple[Graded, float | None]:
        """What it says to a question, and dollars. A grader that cannot answer is against it. ``take`` is a number of
        this output among those of equal cases."""
        asked = [
            self._vote(question, case, output, f"{name} vote {number + 1}", take * self.votes + number + 1)
            for number in range(self.votes)
        ]
        votes = await asyncio.gather(*asked)
        passing = [each for each in votes if each[0]]
        passed = len(passing) * 2 > len(votes)
        reason = next(each[1] for each in votes if each[0] == passed)
        costs = [each[2] for each in votes]
        cost = None if None in costs else sum(each for each in costs if each is not None)
        return Graded(question, passed, reason, len(passing), len(votes)), cost

    async def _vote(
        self, question: str, case: Case, output: Value, name: str, take: int
    ) -> tuple[bool, str, float | None]:
        given = {"rubric": question, "input": self._sent("input", case.input), "output": self._sent("output", output)}
        answers = Answers(self.kept, name)
        outcome = await self.driver.outcome(Job(name, self.program, given, take=take, journal=answers))
        cost = outcome.summary.total_cost
        dollars = None if cost is None else float(cost)
        if outcome.error is not None:
            return False, f"the grader gave no verdict: {outcome.error.message}", dollars
        passed, reason = _verdict(outcome.output)
        return passed, reason, dollars

    def _sent(self, field_name: str, value: Value) -> Value:
        """A value as the grader takes it: as JSON text where its input schema has a text, else as it is."""
        schema = self.program.input_schema
        described = schema.get("properties", {}).get(field_name) if not isinstance(schema, bool) else None
        takes_text = isinstance(described, dict) and described.get("type") == "string"
        return json.dumps(value, ensure_ascii=False, indent=1) if takes_text else value


def _verdict(output: Value) -> tuple[bool, str]:
    if not isinstance(output, dict) or not isinstance(output.get("pass"), bool):
        return False, f"the grader gave no verdict: its output has no `pass` that is true or false: {str(output)[:200]}"
    return output["pass"], str(output.get("reason", "it gave no reason"))


async def _asserted(assertion: Assertion, case: Case, ran: Ran, checks: Checks) -> list[Failure]:
    """What an output lacks of one assertion, by its name."""
    output = ran.output
    if assertion.as_json:
        try:
            output = parse_json(unfenced(output) if isinstance(output, str) else json.dumps(output))
        except JsonError as error:
            return [Failure(assertion.name, "JSON", f"line {error.line}, column {error.column}: {error.message}")]
    found = match(assertion.expect, output)
    failures = list(found.failures)
    for check in found.checks:
        wrong = await checks.ask(check, case, ran.calls)
        failures += [wrong] if wrong is not None else []
    return [replace(each, pointer=f"{assertion.name}{each.pointer and f' {each.pointer}'}") for each in failures]


_WHOLE_FENCE = regex(r"\s*(`{3,})[^\n`]*\n(?P<text>.*?)\n?[ \t]*\1`*\s*", re.DOTALL)


def unfenced(text: str) -> str:
    """The text of an answer that is one fenced block and nothing else; any other text as it is."""
    match = _WHOLE_FENCE.fullmatch(text)
    return match["text"] if match else text


async def judge(case: Case, ran: Ran, checks: Checks, grader: Grader | None, name: str, take: int) -> Judged:
    """Everything that is expected of a run, held against it."""
    failures = list(run_failures(case.run, ran.facts))
    if ran.facts.failure is not None:
        return Judged(tuple(failures))
    found = match(case.expect, ran.output) if not isinstance(case.expect, Missing) else None
    if found is not None:
        failures += found.failures
        for check in () if failures else found.checks:
            wrong = await checks.ask(check, case, ran.calls)
            failures += [wrong] if wrong is not None else []
    for assertion in case.assertions:
        failures += await _asserted(assertion, case, ran, checks)
    if failures or not case.grade or grader is None:
        return Judged(tuple(failures))
    said = await asyncio.gather(
        *(grader.ask(each, case, ran.output, f"{name} grade {each}", take) for each in dict.fromkeys(case.grade))
    )
    graded = tuple(each for each, _ in said)
    failures += [Failure("grade", each.question, each.reason) for each in graded if not each.passed]
    costs = [cost for _, cost in said]
    return Judged(tuple(failures), graded, None if None in costs else sum(each for each in costs if each is not None))
