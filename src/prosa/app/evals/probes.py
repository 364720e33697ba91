"""Cases tried on answers that should not pass: none, a refusal, the request itself, the answer to another case.

In: a suite, and answers that are known of it. Out: findings, without any model. Checks in Python run in the sandbox, as
in a test; where there is none, and where a grader decides, nothing is said here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.agents.task import AgentChoice, AgentResult, AgentTask
from prosa.app.evals.agents import left_behind
from prosa.app.evals.judge import Checks, Ran, judge
from prosa.app.evals.suite import Suite
from prosa.data import Value, items_of, members_of
from prosa.evaluation.audit import AuditFinding, Kind
from prosa.evaluation.case import Case, RunFacts
from prosa.evaluation.expectations import is_query
from prosa.evaluation.matchers import MATCHERS, Missing, OutputValue, is_matcher
from prosa.records.agent import AgentTrace
from prosa.regex import regex

REFUSAL = "I cannot help with that."
LONG = "Something else entirely.\n" * 4_000
"""An answer that is too long for any bound, and has lines."""

FEW = 3
"""Cases that it takes to say something about all of them."""

_REFUSES = regex(r"(?i)cannot|can't|can’t|unable|not able|sorry|refus|declin|won't|will not|help|unfortunately")
_FACTS = RunFacts(1, 0.0, 0.0)


class Probed(Struct, frozen=True):
    """What probes found: ``cannot_fail`` are reasons by the name of a case; ``open`` are cases that only a grader
    decides about, with the answers that everything else lets pass."""

    findings: tuple[AuditFinding, ...]
    cannot_fail: Mapping[str, str]
    open: Mapping[str, tuple[tuple[str, Value], ...]]
    notes: tuple[str, ...] = ()


class Prober(Struct, frozen=True):
    """Tries the cases of a suite. ``answers`` are known ones that passed, by the name of their case; ``can_fail`` are
    the cases that failed at some time."""

    suite: Suite
    checks: Checks
    answers: Mapping[str, Sequence[Value]]
    can_fail: frozenset[str] = frozenset()

    async def probe(self) -> Probed:
        """Return what the cases let pass."""
        if self.suite.routing is not None:
            return Probed(tuple(self._requests()), {}, {})
        findings = [*self._gate()]
        cannot: dict[str, str] = {}
        left: dict[str, tuple[tuple[str, Value], ...]] = {}
        for case in self.suite.cases:
            problem, passing = await self._case(case)
            if problem and not case.grade:
                findings.append(problem)
                cannot[case.name] = problem.message
            elif case.grade and passing:
                left[case.name] = passing
            findings += await self._assertions(case)
        others, notes = await self._others([case for case in self.suite.cases if case.name not in cannot])
        cannot |= {finding.case: finding.message for finding in others if finding.case}
        return Probed((*findings, *others), cannot, left, tuple(notes))

    # ---- requests for skills ----

    def _requests(self) -> Iterator[AuditFinding]:
        routing = self.suite.routing
        assert routing is not None
        own = [case for case in self.suite.cases if routing.belongs.get(case.name) == routing.own]
        if len(own) == len(self.suite.cases):
            message = f"every request is for {routing.own}: a skill that is always loaded passes them all"
            yield self._finding("no-negative-trigger", message)
        elif not own:
            message = f"no request is for {routing.own}: a skill that is never loaded passes them all"
            yield self._finding("no-positive-trigger", message)

    def _gate(self) -> Iterator[AuditFinding]:
        require = self.suite.terms.requirement
        if require.least <= 0:
            yield self._finding("gate-never-closes", f"`require: {require.text}` holds if everything fails")

    # ---- one case ----

    async def _case(self, case: Case) -> tuple[AuditFinding | None, tuple[tuple[str, Value], ...]]:
        """Return the finding about a case by itself, and the answers that its rules let pass."""
        if _expects_nothing(case):
            return self._finding("expects-nothing", "nothing is expected: every answer passes", case), ()
        blank = [answer for answer in self._blank("") if await self._passes(case, answer)]
        if blank:
            answers = (("nothing", blank[-1]), *(("a refusal", answer) for answer in self._blank(REFUSAL)))
            return self._finding("empty-passes", "an empty answer passes", case), answers
        refused = [answer for answer in self._blank(REFUSAL) if await self._passes(case, answer)]
        if refused and not any(_REFUSES.search(text) for text in _words_of(case)):
            return self._finding("refusal-passes", f"a refusal passes: {REFUSAL!r}", case), (("a refusal", refused[0]),)
        return None, ()

    def _blank(self, text: str) -> list[Value]:
        """Return answers that say nothing but a text: of an object its free texts, and no other field."""
        program = self.suite.program
        schema = program.output_schema
        if program.form != "json" or not isinstance(schema, Mapping) or "properties" not in schema:
            return [text]
        fields: dict[str, Value] = {
            name: text
            for name, field in members_of(schema["properties"]).items()
            if isinstance(field, Mapping) and field.get("type") == "string" and not field.keys() & {"enum", "const"}
        }
        return [fields] if text else [{}, fields]

    async def _passes(self, case: Case, output: Value) -> bool:
        """Return whether an answer passes everything that no grader decides."""
        case = replace(case, grade=())
        if not case.workspace:
            return (await judge(case, Ran(output, _FACTS), self.checks, None, "", 0)).outcome == "passed"
        folder = self.suite.program_path.parent
        files = tuple((folder / path, place) for path, place in case.laid)
        task = AgentTask(AgentChoice("none"), case.name, 1, "", "", files=files)
        result = AgentResult(AgentTrace("none", "", "", "done"), _no_content)
        with left_behind(task, result, Path(folder)) as left:
            return (await judge(case, Ran(output, _FACTS, left=left), self.checks, None, "", 0)).outcome == "passed"

    async def _assertions(self, case: Case) -> list[AuditFinding]:
        """Return findings about assertions, among several, that hold for whatever was tried, their own words among
        it."""
        if len(case.assertions) + bool(case.grade) < 2:
            return []
        texts = ("", REFUSAL, LONG, *_words_of(case))
        probes = [answer for text in texts for answer in self._blank(text)]
        findings = []
        for assertion in case.assertions:
            alone = Case(case.name, case.input, assertions=(assertion,))
            if all([await self._passes(alone, probe) for probe in probes]):
                message = f"the assertion {assertion.name!r} holds for every answer that was tried"
                findings.append(self._finding("assertion-never-fails", message, case))
        return findings

    # ---- the answers to other cases ----

    async def _others(self, cases: Sequence[Case]) -> tuple[list[AuditFinding], list[str]]:
        """Return the findings about cases that accept the answers to all others, and notes about such cases that are
        known to fail at times."""
        judged = [case for case in cases if not case.grade]
        answers = {case.name: await self._answers(case) for case in judged}
        answered = [case for case in judged if answers[case.name]]
        accepted = {case.name: await self._accepted(case, answered, answers) for case in judged}
        findings: list[AuditFinding] = []
        notes: list[str] = []
        everywhere = [case for case in answered if all(case.name in accepted[one.name] for one in judged)]
        if len(judged) >= FEW and everywhere and len({repr(case.input) for case in judged}) > 1:
            message = f"one answer passes all {len(judged)} cases: that to {everywhere[0].name!r}"
            if 2 * sum(case.name in self.can_fail for case in judged) >= len(judged):
                notes.append(f"{self.suite.path}: {message}")
            else:
                findings.append(self._finding("one-answer-passes", message))
            return findings, notes
        for case in judged:
            other = [candidate.name for candidate in answered if _asked(candidate) != _asked(case)]
            if len(other) >= FEW and set(other) <= accepted[case.name]:
                message = f"the answers to all {len(other)} cases that expect something else pass"
                if case.name in self.can_fail:
                    notes.append(f"{self.suite.path}: {case.name}: {message}")
                else:
                    findings.append(self._finding("any-case-passes", message, case))
        return [*findings, *await self._echoes(judged)], notes

    async def _answers(self, case: Case) -> list[Value]:
        """Return answers to a case: known ones, else the one that its own expectation describes, if that passes."""
        if known := self.answers.get(case.name):
            return list(known)
        return [answer for answer in described_answer(case) if await self._passes(case, answer)]

    async def _accepted(
        self, case: Case, cases: Sequence[Case], answers: Mapping[str, Sequence[Value]]
    ) -> frozenset[str]:
        """Return the cases of which every answer passes this one."""
        names = set()
        for other in cases:
            if all([await self._passes(case, answer) for answer in answers[other.name]]):
                names.add(other.name)
        return frozenset(names)

    async def _echoes(self, cases: Sequence[Case]) -> list[AuditFinding]:
        """Return the finding about a suite of which the requests themselves, given back, pass at least half."""
        if self._blank("") != [""]:
            return []
        requests = {case.name: case.request or _only_text(case.input) for case in cases}
        asked = [case for case in cases if requests[case.name] and case.name not in self.can_fail]
        passed = [case for case in asked if await self._passes(case, requests[case.name])]
        if len(passed) < FEW or 2 * len(passed) < len(cases):
            return []
        message = f"the request, given back as the answer, passes {len(passed)} of {len(cases)} cases"
        return [self._finding("echo-passes", message)]

    def _finding(self, kind: Kind, message: str, case: Case | None = None) -> AuditFinding:
        return AuditFinding(
            kind,
            message,
            str(self.suite.path),
            "" if case is None else case.name,
            str(self.suite.path) if case is None else case.place or str(self.suite.path),
        )


def _no_content(_digest: str) -> None:
    return None


def _asked(case: Case) -> tuple[str, str, str]:
    return repr(case.expect if not isinstance(case.expect, Missing) else None), repr(case.assertions), repr(case.run)


def _expects_nothing(case: Case) -> bool:
    nothing = isinstance(case.expect, Missing) or case.expect == {}
    return nothing and not (case.run or case.grade or case.assertions or case.workspace)


def _only_text(value: Value) -> str:
    """Return the one text of an input; empty where there are several, or none."""
    texts = list(value.values()) if isinstance(value, dict) else [value]
    return texts[0] if len(texts) == 1 and isinstance(texts[0], str) else ""


def _words_of(case: Case) -> list[str]:
    """Return every text in what is expected of a case."""
    expected = [assertion.expect for assertion in case.assertions]
    expected += [] if isinstance(case.expect, Missing) else [case.expect]
    return [text for value in expected for text in _texts(value)]


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


# ---- the answer that an expectation describes ----


def described_answer(case: Case) -> list[Value]:
    """Return the answer that a case itself describes: the value that it expects, or the texts that it wants to be
    contained, one after the other. Empty where its words say too little; what they do not say may be wrong in it."""
    if not isinstance(case.expect, Missing):
        value = _value_of(case.expect)
        return [] if isinstance(value, Missing) else [value]
    pieces = [_value_of(assertion.expect) for assertion in case.assertions]
    texts = list(dict.fromkeys(piece for piece in pieces if isinstance(piece, str)))
    return ["\n".join(texts)] if texts else []


_NOTHING = Missing()


def _value_of(expected: Value) -> OutputValue:
    """Return the value that an expectation describes; `Missing` where it does not say enough."""
    if is_matcher(expected):
        return _matching(expected)
    if isinstance(expected, dict):
        if any(is_query(key) for key in expected):
            return _NOTHING
        fields = {key: value for key, member in expected.items() if not isinstance(value := _value_of(member), Missing)}
        return fields if len(fields) == len(expected) else _NOTHING
    if isinstance(expected, list):
        items = [value for item in expected if not isinstance(value := _value_of(item), Missing)]
        return items if len(items) == len(expected) else _NOTHING
    return expected


def _matching(words: Mapping[str, Value]) -> OutputValue:
    """Return a value that meets a matcher, for the words of which one is plain."""
    if "equals" in words:
        return words["equals"]
    if "one-of" in words:
        return items_of(words["one-of"])[0]
    if "contains" in words:
        pieces: list[Value] = words["contains"] if isinstance(words["contains"], list) else [words["contains"]]
        texts = [piece for piece in pieces if isinstance(piece, str)]
        value: Value = " ".join(texts) if len(texts) == len(pieces) else pieces
        return value if all(MATCHERS[name].unmet(word, value) is None for name, word in words.items()) else _NOTHING
    return _NOTHING
