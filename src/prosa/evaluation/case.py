"""A case, the expectations of its run besides the output, and how many of its repeats must pass.

In: plain data. Out: cases, failed expectations, problems of what an author wrote. The source of a case, a document, a
file of rows or another tool's list, is irrelevant here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypeGuard, cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value, items_of, members_of
from prosa.diagnostics.nearest import nearest
from prosa.evaluation.expectations import Failure, Mistake
from prosa.evaluation.matchers import MATCHERS, MISSING, Missing, bounds_wrong, is_matcher, meets, outside
from prosa.evaluation.statistics import Counted, Estimate, is_enough, mean_rate, pass_all, pass_any, wilson
from prosa.evaluation.workspace import Expected
from prosa.regex import regex
from prosa.schema.wording import listed

FailureKind: TypeAlias = Literal[
    "input", "refused", "limit", "provider", "budget", "tool-server", "site", "sandbox", "recording", "program"
]
"""Why a run has no output."""

OUTAGES: Final[frozenset[FailureKind]] = frozenset(
    {"provider", "budget", "tool-server", "site", "sandbox", "recording"}
)
"""Failures unrelated to the tested program: such a run is not measured (X34)."""

FAILURE_KINDS: Final[tuple[FailureKind, ...]] = (
    "input",
    "refused",
    "limit",
    "provider",
    "budget",
    "tool-server",
    "site",
    "sandbox",
    "recording",
    "program",
)


class Assertion(Struct, frozen=True):
    """One of several things that are expected of an output, by a name of its own. With ``as_json`` the output is a text
    that is read as JSON first."""

    name: str
    expect: Value
    as_json: bool = False


class Case(Struct, frozen=True):
    """A test case: an input, and expectations of the output and of the run. ``expect`` is `MISSING` if there is none;
    ``grade`` are questions for a grader. ``place`` names its location for people. ``assertions`` are checked besides
    ``expect``, each separately; ``files`` are paths of files given to the run besides its input.

    An agent gets ``request`` in place of the input, and ``laid``: files below the folder of the skill, each with its
    place in the workspace. ``workspace`` is what is expected of that (X36). ``id`` is that of its file, if it has
    one."""

    name: str
    input: Value
    expect: Value | Missing = MISSING
    run: Value = None
    grade: tuple[str, ...] = ()
    place: str = ""
    assertions: tuple[Assertion, ...] = ()
    files: tuple[str, ...] = ()
    request: str = ""
    laid: tuple[tuple[str, str], ...] = ()
    workspace: tuple[Expected, ...] = ()
    id: str = ""

    @property
    def key(self) -> str:
        """What a case is known by when its words change: its id, else its name."""
        return self.id or self.name


class RunFacts(Struct, frozen=True):
    """The facts about a run: model calls with those of the programs below, dollars (None: no known price), seconds,
    the called tools, and why it has no output. ``tokens`` is None if unknown. ``unanswered`` says why a model call was
    never answered, unless that ended the run."""

    calls: int
    cost: float | None
    seconds: float
    tools: tuple[str, ...] = ()
    failure: FailureKind | None = None
    error: str = ""
    tokens: int | None = None
    unanswered: FailureKind | None = None

    @property
    def outage(self) -> FailureKind | None:
        """The external cause of a failed run, which says nothing about the program: the service that did not answer,
        the budget, the recording. None if there was none."""
        if self.failure in OUTAGES:
            return self.failure
        return self.unanswered if self.failure in (None, "limit") else None


# ---- expectations of a run: calls, cost, seconds, tools, failure ----

_NUMBERS = {"calls": True, "cost": False, "seconds": False}
"""The fields that bound a number, and whether it is whole."""

_WORDS = (*_NUMBERS, "tools", "fails")
_TOOLS = ("called", "not-called")
_FAILS = ("kind", "text")


def run_mistakes(expected: Value) -> Iterator[Mistake]:
    """Yield the problems of the expectations of a run."""
    if not isinstance(expected, dict):
        yield _mistake("", f"takes a mapping of {listed(_WORDS, 'and')}")
        return
    for name, wanted in expected.items():
        if name in _NUMBERS:
            wrong = bounds_wrong(wanted, whole=_NUMBERS[name])
            if wrong is not None:
                yield _mistake(f"/{name}{wrong[0]}", f"`{name}` {wrong[1]}")
        elif name == "tools":
            yield from _wrong_tools(wanted)
        elif name == "fails":
            yield from _wrong_fails(wanted)
        else:
            yield _unknown("", name, _WORDS)


def _mistake(pointer: str, message: str) -> Mistake:
    return Mistake("bad-run-expectation", pointer, message)


def _unknown(pointer: str, name: str, known: Sequence[str]) -> Mistake:
    guess = nearest(name, known)
    hint = f"did you mean `{guess}`?" if guess else f"known: {', '.join(known)}"
    path = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
    return Mistake("bad-run-expectation", path, f"there is no `{name[:60]}` here; {hint}", True, name, guess or "")


def _wrong_tools(wanted: Value) -> Iterator[Mistake]:
    if not isinstance(wanted, dict) or not wanted:
        yield _mistake("/tools", "`tools` takes `{called: […], not-called: […]}`")
        return
    for name, tools in wanted.items():
        if name not in _TOOLS:
            yield _unknown("/tools", name, _TOOLS)
        elif not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
            yield _mistake(f"/tools/{name}", f"`{name}` takes a list of names of tools")


def _wrong_fails(wanted: Value) -> Iterator[Mistake]:
    if isinstance(wanted, bool):
        return
    if not isinstance(wanted, dict) or not wanted:
        yield _mistake("/fails", "`fails` takes true, or `{kind: …, text: …}`")
        return
    for name, value in wanted.items():
        if name not in _FAILS:
            yield _unknown("/fails", name, _FAILS)
        elif name == "kind" and value not in FAILURE_KINDS:
            guess = nearest(value, FAILURE_KINDS) if isinstance(value, str) else None
            hint = f"; did you mean `{guess}`?" if guess else ""
            mistake = _mistake("/fails/kind", f"`kind` is one of {', '.join(FAILURE_KINDS)}{hint}")
            yield replace(mistake, written=str(value), meant=guess) if guess else mistake
        elif name == "text" and not isinstance(value, str) and not _is_plain_matcher(value):
            yield _mistake("/fails/text", "`text` takes a text that the error contains, or a matcher")


def _is_plain_matcher(value: Value) -> bool:
    return is_matcher(value) and all(MATCHERS[name].wrong(argument) is None for name, argument in value.items())


def joined_runs(first: Mapping[str, Value], second: Mapping[str, Value]) -> dict[str, Value] | None:
    """Return well-formed expectations of a run that hold where both hold; None where their failures differ."""
    joined = {**first, **second}
    for name in first.keys() & second.keys():
        if name in _NUMBERS:
            joined[name] = _joined_bounds(first[name], second[name])
        elif name == "tools":
            joined[name] = _joined_tools(members_of(first[name]), members_of(second[name]))
        elif (fails := _joined_fails(first[name], second[name])) is not None:
            joined[name] = fails
        else:
            return None
    return joined


def _joined_bounds(first: Value, second: Value) -> Value:
    both = [bound if isinstance(bound, dict) else {"min": bound, "max": bound} for bound in (first, second)]
    bounds = cast("Sequence[Mapping[str, float]]", both)  # as `bounds_wrong` has checked
    least = [bound["min"] for bound in bounds if "min" in bound]
    most = [bound["max"] for bound in bounds if "max" in bound]
    return {**({"min": max(least)} if least else {}), **({"max": min(most)} if most else {})}


def _joined_tools(first: Mapping[str, Value], second: Mapping[str, Value]) -> Value:
    both = {name: (*items_of(first.get(name)), *items_of(second.get(name))) for name in _TOOLS}
    return {name: list(dict.fromkeys(cast("Sequence[str]", tools))) for name, tools in both.items() if tools}


def _joined_fails(first: Value, second: Value) -> Value:
    """Return what both say of a failure, None where they exclude each other."""
    if isinstance(first, dict) and isinstance(second, dict):
        is_same = all(first[name] == second[name] for name in first.keys() & second.keys())
        return {**first, **second} if is_same else None
    if first is False or second is False:
        return False if first == second else None
    return first if isinstance(first, dict) else second


def expects_failure(run: Value) -> TypeGuard[dict[str, Value]]:
    """Return whether a case expects that there is no output."""
    return isinstance(run, dict) and run.get("fails", False) is not False


def is_judged(expected: Value, facts: RunFacts) -> bool:
    """Return whether a run can be judged: one with an outage only if the case expects it."""
    if facts.outage is None:
        return True
    return expects_failure(expected) and not any(_ending(expected, facts))


def run_failures(expected: Value, facts: RunFacts) -> Iterator[Failure]:
    """Yield what a run lacks of well-formed expectations. A run without an output fails unless that is expected."""
    words = expected if isinstance(expected, dict) else {}
    yield from _ending(words, facts)
    if "calls" in words and (wanted := outside(words["calls"], facts.calls)):
        yield Failure("run/calls", wanted, f"{facts.calls}")
    if "seconds" in words and (wanted := outside(words["seconds"], facts.seconds)):
        yield Failure("run/seconds", wanted, f"{facts.seconds:.3g}")
    if "cost" in words:
        yield from _cost(words["cost"], facts.cost)
    tools = members_of(words.get("tools"))
    for name in items_of(tools.get("called")):
        if name not in facts.tools:
            yield Failure("run/tools", f"a call of {name}", _calls_of(facts))
    for name in items_of(tools.get("not-called")):
        if name in facts.tools:
            yield Failure("run/tools", f"no call of {name}", _calls_of(facts))


def _calls_of(facts: RunFacts) -> str:
    return f"calls of {listed(dict.fromkeys(facts.tools), 'and')}" if facts.tools else "no call of a tool"


def _cost(wanted: Value, cost: float | None) -> Iterator[Failure]:
    if cost is None:
        yield Failure("run/cost", "a known cost", "a model without a known price; `prices` in your settings sets it")
    elif expected := outside(wanted, cost):
        yield Failure("run/cost", f"{expected} dollars", f"{cost:.6g}")


def _ending(words: dict[str, Value], facts: RunFacts) -> Iterator[Failure]:
    fails = words.get("fails", False)
    if facts.failure is None:
        if fails is not False:
            yield Failure("run/fails", "a failure", "an output")
        return
    actual = f"{facts.failure}: {facts.error}"
    if fails is False:
        yield Failure("run", "an output", actual)
    elif isinstance(fails, dict):
        if "kind" in fails and fails["kind"] != facts.failure:
            yield Failure("run/fails/kind", str(fails["kind"]), actual)
        text = fails.get("text")
        wanted = meets({"contains": text} if isinstance(text, str) else members_of(text), facts.error)
        if wanted is not None:
            yield Failure("run/fails/text", wanted, actual)


# ---- how many repeats have to pass ----

_RATE = regex(r"pass(?P<form>[\^@])(?P<k>[1-9][0-9]{0,3})[ \t]*>=[ \t]*(?P<least>[01](?:\.[0-9]{1,9})?|\.[0-9]{1,9})")
_SHARE = regex(r"(?P<passed>[0-9]{1,4})/(?P<of>[1-9][0-9]{0,3})")
REQUIREMENT_FORMS: Final = "`all`, a share as in `4/5`, or a rate as in `pass^3 >= 0.9` or `pass@3 >= 0.9`"


class Requirement(Struct, frozen=True):
    """The required result. ``all`` and ``share`` apply to every case: of ``k`` repeats ``least`` is the share that
    must pass. A rate, pass^k or pass@k, applies to the mean over the cases."""

    form: Literal["all", "share", "pass^", "pass@"] = "all"
    k: int = 1
    least: float = 1.0
    text: str = "all"

    @property
    def is_rate(self) -> bool:
        """Whether it applies to the mean over the cases."""
        return self.form in ("pass^", "pass@")

    def rate(self, counted: Counted) -> float:
        """Return the required rate of a case. Raises ValueError for fewer repeats than ``k``."""
        if self.form == "pass^":
            return pass_all(counted.passed, counted.repeats, self.k)
        return pass_any(counted.passed, counted.repeats, self.k) if self.form == "pass@" else counted.rate

    def holds(self, counted: Counted) -> bool:
        """Return whether a single case meets the requirement."""
        return self.rate(counted) >= self.least - 1e-12

    def holds_surely(self, counted: Counted) -> bool:
        """Return whether it does so at the lower bound of its interval."""
        return wilson(counted.passed, counted.repeats).low >= self.least


def parse_requirement(text: str) -> Requirement | None:
    """Return the requirement that a text names; None for none."""
    text = " ".join(text.split())
    if text == "all":
        return Requirement()
    if match := _SHARE.fullmatch(text):
        passed, of = int(match["passed"]), int(match["of"])
        return Requirement("share", of, passed / of, text) if 0 < passed <= of else None
    if (match := _RATE.fullmatch(text)) and float(match["least"]) <= 1:
        return Requirement("pass^" if match["form"] == "^" else "pass@", int(match["k"]), float(match["least"]), text)
    return None


class Gate(Struct, frozen=True):
    """Whether all cases together meet the requirement. ``rate`` is the required rate with its interval; None if
    nothing was measured. ``short`` are the indexes of the failing cases if the gate is not open, and ``lacking`` says
    what prevents a measurement."""

    passed: bool
    rate: Estimate | None
    short: tuple[int, ...] = ()
    lacking: str = ""


def gate(requirement: Requirement, counts: Sequence[Counted], *, lower: bool = False) -> Gate:
    """Hold the measured attempts of cases against a requirement; with ``lower`` at the lower bound of the interval, not
    at the point. The gate stays closed where too few were measured (X34). Raises ValueError for no cases, and for fewer
    planned attempts than a rate is about."""
    needed = requirement.k if requirement.is_rate else 1
    if not counts or any(count.planned < needed for count in counts):
        raise ValueError(f"there is no rate of {needed} for these cases")
    known = {at: count for at, count in enumerate(counts) if count.repeats >= needed}
    answers = min((counted.repeats // needed for counted in known.values()), default=0)
    estimate = mean_rate([requirement.rate(counted) for counted in known.values()], answers) if known else None
    holds = requirement.holds_surely if lower and not requirement.is_rate else requirement.holds
    short = tuple(at for at, counted in known.items() if not holds(counted))
    if lacking := _lacking(requirement, counts, len(known)):
        return Gate(False, estimate, () if requirement.is_rate else short, lacking)
    if requirement.is_rate and estimate is not None:
        value = estimate.interval.low if lower else estimate.value
        passed = value >= requirement.least - 1e-12
        return Gate(passed, estimate, () if passed else short)
    return Gate(not short, estimate, short)


def _lacking(requirement: Requirement, counts: Sequence[Counted], known: int) -> str:
    """Return what is missing for a result, in words; empty if nothing is."""
    measured, planned = sum(count.repeats for count in counts), sum(count.planned for count in counts)
    if not is_enough(measured, planned):
        return f"{measured} of {planned} attempts were measured, and 80 % are needed"
    if requirement.is_rate and known < len(counts):
        cases = "case has" if len(counts) - known == 1 else "cases have"
        return f"{len(counts) - known} {cases} fewer measured attempts than `{requirement.text}` needs"
    return ""
