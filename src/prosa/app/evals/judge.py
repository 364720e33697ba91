"""An output judged: what it lacks by itself, then by checks in Python, then by a grader (X28).

In: a case, an output and what the run took. Out: failures, what the grader said, and why there is no judgement. A later
judge is asked only where the earlier ones found nothing, as each costs more than the one before.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import cache_dir
from prosa.adapters.sandbox import WasmSandbox, missing_part
from prosa.app.evals.answers import AnswerCache, Answers
from prosa.app.run.jobs import Driver
from prosa.app.run.load import load_program
from prosa.app.runs import Job
from prosa.data import JsonError, Value, items_of, members_of, parse_json
from prosa.evaluation.case import Assertion, Case, RunFacts, is_judged, run_failures
from prosa.evaluation.expectations import GRADE, Failure, Match, PythonCheck, match
from prosa.evaluation.report import Graded, Outcome, Reason
from prosa.evaluation.workspace import Expected, LeftWorkspace, left_wrong, script_path
from prosa.regex import regex
from prosa.runtime.errors import SandboxError
from prosa.runtime.ports import MOUNT
from prosa.runtime.skill import START

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
    """What a run gave: its output, what it took, its tool calls for a check: `{tool, arguments, is_error}`, and what an
    agent left in its workspace, None for a run in Prosa's own loop. ``shown`` is what a grader sees, if that is not the
    output alone."""

    output: Value
    facts: RunFacts
    calls: tuple[Value, ...] = ()
    left: Left | None = None
    shown: Value = None


class Left(Struct, frozen=True):
    """What an agent left: its workspace for expectations, and the folders that a script of the skill sees: ``skill``,
    and ``outputs`` with the files of the workspace."""

    workspace: LeftWorkspace
    skill: Path
    outputs: Path


class Judged(Struct, frozen=True):
    """What an output lacks, what the grader said, and what grading cost in dollars. ``reason`` is why something could
    not be judged."""

    failures: tuple[Failure, ...] = ()
    graded: tuple[Graded, ...] = ()
    grading: float | None = 0.0
    reason: Reason | None = None

    @property
    def outcome(self) -> Outcome:
        """What comes of it: one failure decides, else what could not be judged."""
        if self.failures:
            return "failed"
        return "passed" if self.reason is None else "not measured"


class Checks(Struct):
    """Checks in Python, asked in one sandbox that starts with the first of them. ``stack`` ends it."""

    environment: Environment
    stack: AsyncExitStack
    sandbox: Sandbox | None = None

    async def ask(self, check: PythonCheck, case: Case, calls: Sequence[Value]) -> Failure | Reason | None:
        """Return what a check has against a value, or why it could not be asked."""
        try:
            sandbox = self.opened()
            data = json.dumps([case.input, check.value, list(calls)])
            code = _AROUND.format(code=check.code, data=data, mark=_MARK)
            ran = await sandbox.run(code, timeout=CHECK_SECONDS, memory=CHECK_MEMORY)
        except SandboxError as error:
            return Reason("sandbox", error.message)
        if ran.error is not None:
            return Failure(
                check.pointer, "what check() asks for", f"an error in the check: {_last(ran.stderr, ran.error)}"
            )
        answer_line = next((line for line in reversed(ran.stdout.splitlines()) if line.startswith(_MARK)), None)
        if answer_line is None:
            return Failure(check.pointer, "an answer of check()", "none")
        answer = json.loads(answer_line.removeprefix(_MARK))
        if answer is None or answer is True:
            return None
        reason = answer if isinstance(answer, str) else "false"
        return Failure(check.pointer, "what check() asks for", f"check() said: {reason[:500]}")

    async def command(self, expected: Expected, left: Left) -> Failure | Reason | None:
        """Run a script below `evals/` of the skill over what an agent left, in the sandbox, and return why it did not
        end well (X36)."""
        words = expected.words["command"]
        script, *arguments = [words] if isinstance(words, str) else [str(word) for word in items_of(words)]
        script = script_path(script)
        if not (left.skill / script).is_file():
            return Failure(expected.name, f"a script {script}", "no such file beside the skill")
        payload = {"script": f"{MOUNT}/{script}", "argv": [script, *arguments], "stdin": "", "files": {}}
        code = START.replace("GIVEN", repr(json.dumps(payload)), 1)
        folders = {"folder": str(left.skill.resolve()), "outputs": str(left.outputs)}
        try:
            ran = await self.opened().run(code, timeout=CHECK_SECONDS, memory=CHECK_MEMORY, **folders)
        except SandboxError as error:
            return Reason("sandbox", error.message)
        if ran.error is None:
            return None
        return Failure(expected.name, "a script that ends well", _last(ran.stderr or ran.stdout, ran.error))

    def opened(self) -> Sandbox:
        """Return the sandbox, started at its first use. Raises `SandboxError` where there is none."""
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
    """Return the program that answers questions: that of a test document, else the one that comes with Prosa. Raises
    `ProgramRefused` and `FileProblem`."""
    if path is not None:
        return load_program(path, options, environment.settings, environ=environment.environ, within=root)
    return replace(load_shipped("prosa.app.evals", "grade.md", options, environment), parameters={"temperature": 0})


def load_shipped(package: str, name: str, options: Options, environment: Environment) -> Program:
    """Return a program that comes with Prosa, in a package of it: without tools, and not gated by the agreement."""
    with resources.as_file(resources.files(package).joinpath(name)) as path:
        program = load_program(path, options, environment.settings, within=path.parent)
    return replace(program, python=False, needs_agreement=False)


class Grader(Struct, frozen=True):
    """Asks a program whether an output does what a question says. Answers are kept by question and vote."""

    program: Program
    driver: Driver
    votes: int = 1
    kept: AnswerCache | None = None

    async def ask(self, question: str, case: Case, output: Value, name: str, take: int) -> tuple[Graded, float | None]:
        """Return what it says to a question, and dollars. Votes that are no verdict may leave it open. ``take`` is a
        number of this output among those of equal cases."""
        asked = [
            self._vote(question, case, output, f"{name} vote {number + 1}", take * self.votes + number + 1)
            for number in range(self.votes)
        ]
        votes = await asyncio.gather(*asked)
        passing, open_votes = (sum(vote[0] is verdict for vote in votes) for verdict in (True, None))
        passed = passing * 2 > len(votes)
        decided = passed if passed or (passing + open_votes) * 2 <= len(votes) else None
        reason = next(vote[1] for vote in votes if vote[0] is decided)
        costs = [vote[2] for vote in votes]
        cost = None if None in costs else sum(amount for amount in costs if amount is not None)
        return Graded(question, decided, reason, passing, len(votes)), cost

    async def _vote(
        self, question: str, case: Case, output: Value, name: str, take: int
    ) -> tuple[bool | None, str, float | None]:
        inputs = {"rubric": question, "input": self._sent("input", case.input), "output": self._sent("output", output)}
        answers = Answers(self.kept, name)
        outcome = await self.driver.outcome(Job(name, self.program, inputs, take=take, journal=answers))
        cost = outcome.summary.total_cost
        dollars = None if cost is None else float(cost)
        if outcome.error is not None:
            return None, f"the grader gave no verdict: {outcome.error.message}", dollars
        passed, reason = _verdict(outcome.output)
        return passed, reason, dollars

    def _sent(self, field_name: str, value: Value) -> Value:
        """Return a value as the grader takes it: as JSON text where its input schema has a text, else as it is."""
        schema = self.program.input_schema
        described = members_of(schema.get("properties")).get(field_name) if not isinstance(schema, bool) else None
        takes_text = isinstance(described, dict) and described.get("type") == "string"
        return json.dumps(value, ensure_ascii=False, indent=1) if takes_text else value


def _verdict(output: Value) -> tuple[bool | None, str]:
    words = members_of(output)
    passed = words.get("pass")
    if not isinstance(passed, bool):
        return None, f"the grader gave no verdict: its output has no `pass` that is true or false: {str(output)[:200]}"
    return passed, str(words.get("reason", "it gave no reason"))


async def _asserted(assertion: Assertion, case: Case, ran: Ran, checks: Checks) -> list[Failure | Reason]:
    """Return what an output lacks of one assertion, by its name."""
    output = ran.output
    if assertion.as_json:
        try:
            output = parse_json(unfenced(output) if isinstance(output, str) else json.dumps(output))
        except JsonError as error:
            return [Failure(assertion.name, "JSON", f"line {error.line}, column {error.column}: {error.message}")]
    matched = match(assertion.expect, output)
    wrong = [*matched.failures, *await _checked(matched, case, ran, checks)]
    return [problem if isinstance(problem, Reason) else _named(problem, assertion.name) for problem in wrong]


def _named(failure: Failure, name: str) -> Failure:
    return replace(failure, pointer=f"{name}{failure.pointer and f' {failure.pointer}'}")


async def _checked(matched: Match, case: Case, ran: Ran, checks: Checks) -> list[Failure | Reason]:
    """Return what the checks in Python of an expectation have against an output."""
    reasons = [await checks.ask(check, case, ran.calls) for check in matched.checks]
    return [problem for problem in reasons if problem is not None]


_OPENED = regex(r"\s*+(?P<fence>`{3,}+)[^\n`]*\n")


def unfenced(text: str) -> str:
    """Return the text of an answer that is one fenced block and nothing else; any other text as it is."""
    opened, whole = _OPENED.match(text), text.rstrip()
    if opened is None:
        return text
    inside = whole[opened.end() :].rstrip("`")
    if len(whole) - opened.end() - len(inside) < len(opened["fence"]):
        return text
    return inside.rstrip(" \t").removesuffix("\n")


async def judge(case: Case, ran: Ran, checks: Checks, grader: Grader | None, name: str, take: int) -> Judged:
    """Return everything that is expected of a run, held against it."""
    outage = ran.facts.outage
    if outage is not None and not is_judged(case.run, ran.facts):
        words = "" if outage == ran.facts.failure else "a model call was never answered: "
        return Judged(reason=Reason(outage, f"{words}{ran.facts.error}"))
    failures = list(run_failures(case.run, ran.facts))
    if ran.facts.failure is not None:
        return Judged(tuple(failures))
    wrong: list[Failure | Reason] = [*failures]
    matched = match(case.expect, ran.output)
    wrong += matched.failures
    wrong += [] if wrong else await _checked(matched, case, ran, checks)
    for assertion in case.assertions:
        wrong += await _asserted(assertion, case, ran, checks)
    for expected in case.workspace:
        wrong += await _left(expected, case, ran, checks)
    judged = _judged(wrong)
    if wrong or not case.grade or grader is None:
        return judged
    shown = ran.output if ran.shown is None else ran.shown
    gradings = await asyncio.gather(
        *(grader.ask(fromkey, case, shown, f"{name} grade {fromkey}", take) for fromkey in dict.fromkeys(case.grade))
    )
    graded = tuple(verdict for verdict, _ in gradings)
    against = [_against(verdict) for verdict in graded if verdict.passed is not True]
    costs = [cost for _, cost in gradings]
    dollars = None if None in costs else sum(cost for cost in costs if cost is not None)
    return replace(_judged(against), graded=graded, grading=dollars)


async def _left(expected: Expected, case: Case, ran: Ran, checks: Checks) -> list[Failure | Reason]:
    """Return what the workspace of an agent lacks; without an agent it cannot be judged."""
    if ran.left is None:
        return [Reason("agent", f"`{expected.form}` is about the workspace of an agent: test with --agent NAME")]
    if expected.form == "command":
        reason = await checks.command(expected, ran.left)
        return [] if reason is None else [reason]
    matched = left_wrong(expected, ran.left.workspace)
    return [*matched.failures, *await _checked(matched, case, ran, checks)]


def _against(graded: Graded) -> Failure | Reason:
    return Reason("grader", graded.reason) if graded.passed is None else Failure(GRADE, graded.question, graded.reason)


def _judged(wrong: Sequence[Failure | Reason]) -> Judged:
    failures = tuple(problem for problem in wrong if isinstance(problem, Failure))
    return Judged(failures, reason=next((problem for problem in wrong if isinstance(problem, Reason)), None))
