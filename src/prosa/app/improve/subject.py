"""What can be improved of a subject: its suites, its parts, the split of each (X41).

In: the path of a skill, a program or its cases. Out: tasks. What cannot accept anything is refused before any call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from prosa.adapters.files.skill_files import is_skill
from prosa.app.evals.context import is_context_subject
from prosa.app.evals.load import find_tests, load_suites
from prosa.app.evals.variants import TestOptions
from prosa.app.improve.journal import ImprovementJournal, new_call, now
from prosa.app.improve.parts import SubjectPart, part_of
from prosa.app.options import JournalOptions
from prosa.data import Value
from prosa.evaluation.improvement import FEW_LOOKS, MIN_SPLIT, Split, looks_left, split_cases
from prosa.evaluation.matchers import Missing
from prosa.records.improvement import Improvement, PartName
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.app.check.gather import Group
    from prosa.app.evals.suite import Suite
    from prosa.app.options import Environment, Options

T = TypeVar("T")

ROUNDS = 10
"""Proposals that a search makes."""


class ImproveOptions(Struct, frozen=True):
    """What the user chose. ``part`` is None for the description where there are requests for it, then the body.
    ``cases`` is the file with the cases, where it is not beside the subject; ``rounds`` bounds the proposals of each
    part. ``seed`` is that of the search. ``proposal_model`` writes proposals, else the model that is tried."""

    part: PartName | None = None
    cases: Path | None = None
    rounds: int = ROUNDS
    seed: int | None = None
    proposal_model: str | None = None
    test: TestOptions = TestOptions(journal=JournalOptions("improve"))


class Task(Struct, frozen=True):
    """A part that is ready to be improved: its suite with all cases, the split by the names of cases, and the number
    of looks before this one."""

    part: SubjectPart
    suite: Suite
    group: Group
    record: Improvement
    split: Split
    earlier: int

    @property
    def is_done(self) -> bool:
        """Whether its search ended before the call broke off that this one continues."""
        return self.record.state == "done"

    @property
    def left(self) -> int:
        """The looks that could still accept something."""
        return looks_left(len(self.split.held_out), self.earlier)


def find_subject(
    subject: Path, chosen: ImproveOptions, options: Options, environment: Environment
) -> tuple[Group, tuple[Suite, ...]]:
    """Return the suites of one subject with its group. Raises `RunError` where there is none, or several."""
    if len(chosen.test.models) > 1 or len(chosen.test.agents.agents) > 1:
        raise RunError("a search is for one model or one agent", hint="name one; `prosa test` compares several")
    if subject.suffix == ".json":
        raise RunError(f"{subject}: what is improved is a text", hint="a skill, a program, a context file")
    named, in_agent = chosen.cases, bool(chosen.test.agents.agents)
    if _is_program(subject):
        groups = find_tests([str(named or _test_of(subject))], options.root, options.max_size)
        suites = load_suites(groups, options, environment, in_agent=in_agent)
    else:
        groups = find_tests([str(subject)], options.root, options.max_size)
        suites = load_suites(groups, options, environment, in_agent=in_agent, cases=named)
    places = {suite.program_path.absolute() for suite in suites}
    if len(places) != 1:
        reason = f"there are several: {', '.join(sorted(map(str, places)))}" if places else "it has no cases"
        raise RunError(f"{subject}: one subject is improved at a time, and {reason}")
    if _is_program(subject) and suites[0].files.real(subject) != suites[0].files.real(suites[0].program_path):
        raise RunError(f"{suites[0].path} is about {suites[0].program_path}, and not about {subject}")
    return groups[0], suites


def _is_program(subject: Path) -> bool:
    """Return whether a subject is neither a skill nor a context file nor a test document."""
    other = subject.suffix != ".md" or subject.name.endswith(".test.md") or is_context_subject(subject)
    return not (other or is_skill(subject))


def _test_of(program: Path) -> Path:
    """Return the test document beside a program. Raises `RunError` where there is none."""
    beside = program.with_name(f"{program.stem}.test.md")
    if program.is_file() and not beside.is_file():
        hint = f"`prosa new test {program.stem}` writes one; --cases FILE names another"
        raise RunError(f"{program}: there is no {beside.name} beside it", hint=hint)
    return beside if beside.is_file() else program


async def tasks_of(
    group: Group,
    suites: Sequence[Suite],
    chosen: ImproveOptions,
    options: Options,
    environment: Environment,
    journal: ImprovementJournal,
) -> list[Task]:
    """Return the parts that can be improved, the description first. Raises `RunError` where no look at its held-out
    cases could accept anything, before any call."""
    wanted: list[PartName] = [chosen.part] if chosen.part is not None else ["description", "body"]
    by_part = {
        name: suite for name in wanted for suite in suites if (suite.routing is not None) is (name == "description")
    }
    if not by_part:
        raise RunError(f"{group.paths[0]}: there are no cases for the {' or the '.join(wanted)}", hint=_DRAFTS)
    if any(suite.classified for suite in suites):
        raise RunError(f"{suites[0].program_path} is confidential, and searches are stored")
    first = _record(suites[0], chosen, options)
    known = await journal.unfinished(first)
    tasks: list[Task] = []
    why: list[str] = []
    for name, suite in by_part.items():
        task = await _task(first, name, suite, group, known.get(name), chosen.seed, journal)
        if problem := "" if task.is_done else _hopeless(task):
            why.append(problem)
            continue
        if len(task.record.cases) < FEW_LOOKS and not task.is_done:
            environment.notice(f"note: {_few(task)}")
        tasks.append(task)
    if not tasks:
        raise RunError("; ".join(why), hint=f"no model was called; {_DRAFTS}")
    for reason in why:
        environment.notice(f"note: {reason}")
    return tasks


_DRAFTS = "`prosa new evals` drafts cases for a skill"


def _record(suite: Suite, chosen: ImproveOptions, options: Options) -> Improvement:
    """Return what the searches of a call have in common, under its id; the seed is -1 where none was chosen."""
    source = suite.files.read(suite.program_path)
    return Improvement(
        new_call(),
        str(suite.files.real(suite.program_path)),
        "",
        "body",
        hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        _about(chosen, options),
        -1 if chosen.seed is None else chosen.seed,
        {},
        (),
        now(),
    )


async def _task(
    first: Improvement,
    name: PartName,
    suite: Suite,
    group: Group,
    known: Improvement | None,
    seed: int | None,
    journal: ImprovementJournal,
) -> Task:
    """Return the task of a part, with the record of the search that it continues where its cases are the same."""
    names = {case.key: case.name for case in suite.cases}
    if len(names) < len(suite.cases):
        raise RunError(f"{suite.path}: two cases have one id", hint="give each an id of its own")
    file, cases = str(suite.files.real(suite.path)), dict(zip(names, _case_digests(suite), strict=True))
    if len(set(cases.values())) < len(cases):
        twin, other = _twins(cases)
        message = f"{suite.path}: the cases {twin!r} and {other!r} ask and expect the same"
        raise RunError(message, hint="leave one out: a search might see what is held out")
    if known is None or known.cases != cases:
        split = split_cases([*names], await journal.sides(name, file, cases))
        known = replace(
            first,
            id=f"{first.call}.{name}",
            file=file,
            part=name,
            seed=journal.seed(name, seed),
            cases=cases,
            held_out=split.held_out,
        )
    split = Split(*(tuple(names[digest] for digest in side) for side in (known.search, known.held_out)))
    alone = replace(group, paths=(suite.program_path,), whole=False, unnamed=frozenset())
    part = part_of(name, suite.files.read(suite.program_path))
    return Task(part, suite, alone, known, split, await journal.earlier(known))


def _twins(cases: Mapping[str, str]) -> tuple[str, str]:
    """Return the first two cases that are one."""
    return next((one, two) for two in cases for one in cases if one < two and cases[one] == cases[two])


def _about(chosen: ImproveOptions, options: Options) -> str:
    test = chosen.test
    settings = [test.models, test.repeat, test.grader_model, test.agents, chosen.rounds, chosen.proposal_model]
    return _digest([*settings, options.model, options.base_url, options.api])


def _case_digests(suite: Suite) -> Iterator[str]:
    """Yield the digest of what each case asks and expects: a case with another name is the same one."""
    for case in suite.cases:
        belongs = suite.routing.belongs.get(case.name) if suite.routing is not None else None
        yield _digest([case.input, case.expect, case.run, case.grade, case.assertions, case.workspace, belongs])


def _digest(settings: Sequence[T]) -> str:
    """Return a digest that is the same in every process."""
    return hashlib.sha256(encode(settings, enc_hook=_plain, order="deterministic")).hexdigest()


def _plain(value: Missing | Path) -> Value:
    if isinstance(value, Missing):
        return ["missing"]
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _hopeless(task: Task) -> str:
    """Return why nothing could be accepted, empty if something could."""
    number, where = len(task.record.cases), task.suite.path
    if number < MIN_SPLIT:
        few = "1 case" if number == 1 else f"{number} cases"
        return f"{where}: {few} cannot accept anything: half are held out, and fewer than 6 give no verdict"
    if not task.left:
        held = len(task.split.held_out)
        often = "once" if task.earlier == 1 else f"{task.earlier} times"
        return f"{where}: its {held} held-out cases were looked at {often} and accept nothing further"
    return ""


def _few(task: Task) -> str:
    looks = "1 look" if task.left == 1 else f"{task.left} looks"
    return f"{task.suite.path}: {len(task.split.held_out)} held-out cases have {looks} left that could accept anything"
