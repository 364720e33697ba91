"""What a test tries: each suite with each model or in each agent, without its skill, and with what it is compared with.

In: suites that are ready, and the user's choice. Out: variants, each with the cases that run. Nothing runs here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from prosa.app.agents.task import AgentChoice, AgentOptions, AgentRefused, SkillFolder
from prosa.app.evals.agents import (
    InAgent,
)
from prosa.app.evals.skills import WITH, WITHOUT, skill_at
from prosa.app.evals.suite import Side, Suite
from prosa.app.options import DEFAULT_MODEL, Environment, JournalOptions, Options
from prosa.evaluation.case import Case
from prosa.runtime.errors import RunError
from prosa.runtime.program import Program


class TestOptions(Struct, frozen=True):
    """How tests run. ``models`` and ``repeat`` win over the documents; ``cases`` are names, or parts of names, of those
    that run, ``failed`` those that failed the last time. ``lower`` asks gates of the lower bound of intervals,
    ``cache`` lets answers be kept, ``at_once`` is the number of concurrent runs. ``grader_model`` is the model that
    grades. ``sides`` are what each suite is compared with, together (X34). ``agents`` tries skills in agents in
    place of Prosa's own loop (X36). ``journal`` is where the test is stored, None for nowhere (X25)."""

    models: tuple[str, ...] = ()
    repeat: int | None = None
    cases: tuple[str, ...] = ()
    failed: bool = False
    lower: bool = False
    cache: bool = True
    at_once: int = 8
    grader_model: str | None = None
    sides: tuple[Side, ...] = ()
    agents: AgentOptions = AgentOptions()
    journal: JournalOptions | None = None

    __test__ = False


class Variant(Struct, frozen=True):
    """A suite with one program and one model. ``chosen`` is what the user would have to say for that model, ``folder``
    where it is recorded below that of the test; ``lifts`` is the index of the variant ``without`` the
    skill, where there is one. ``agent`` is where an agent tries it."""

    suite: Suite
    program: Program
    chosen: str | None
    label: str
    cases: tuple[Case, ...]
    repeats: int
    baseline: bool = False
    folder: str = ""
    lifts: int | None = None
    without: bool = False
    agent: InAgent | None = None


def variants_of(
    suites: Sequence[Suite],
    chosen: TestOptions,
    options: Options,
    last_outcomes: Callable[[Suite], Mapping[str, bool]],
    environment: Environment,
    stack: AsyncExitStack | None = None,
) -> tuple[Variant, ...]:
    """Return what is tried: each suite with each model or agent, and what it is compared with. ``last_outcomes`` says
    which cases of a suite passed the last time. Without ``stack`` no folder is made for the other side. Raises
    `RunError` where there is no case."""
    variants: list[Variant] = []
    for suite in suites:
        cases = chosen_cases(suite, chosen, last_outcomes, environment)
        if not cases:
            continue
        if chosen.agents.agents:
            variants += _in_agents(suite, chosen, cases, len(variants), stack)
        else:
            variants += _of_suite(suite, chosen, options, cases, len(variants))
    if not variants:
        hint = f"--case {chosen.cases[0]!r} names none" if chosen.cases else "see: prosa show FILE.test.md"
        raise RunError("there is no case to run", hint=hint)
    return tuple(variants)


def _of_suite(
    suite: Suite, chosen: TestOptions, options: Options, cases: tuple[Case, ...], at: int
) -> Iterator[Variant]:
    """Yield a suite with each model, without its skill where it has one, and with what it is compared with. ``at`` is
    the index of the first of them."""
    repeats = _repeats(suite, chosen)
    models = chosen.models or suite.terms.models or (options.model,)
    several = len(models) > 1 or bool(chosen.sides)
    place = "triggers" if suite.routing is not None else ""
    for model in models:
        of_model = (model or _own_model(suite.program, options)) if several else ""
        variant = Variant(
            suite,
            suite.program,
            model,
            _joined(suite.label, of_model),
            cases,
            repeats,
            folder=_joined(place, of_model),
            lifts=None if suite.without is None else at + 1,
        )
        yield variant
        at += 1
        if suite.without is not None:
            label, folder = _joined(suite.without_label, of_model), _joined("without", of_model)
            plain = suite.without
            yield Variant(suite, plain, model, label, cases, repeats, baseline=True, folder=folder, without=True)
            at += 1
    for side in chosen.sides:
        program = suite.program if side.load is None else side.load(suite)
        label, folder = _joined(suite.label, side.label), _joined(place, side.label)
        model = side.model or models[0]
        yield Variant(suite, program, model, label, cases, repeats, baseline=True, folder=folder)


def _in_agents(
    suite: Suite, chosen: TestOptions, cases: tuple[Case, ...], at: int, stack: AsyncExitStack | None
) -> Iterator[Variant]:
    """Yield a skill in each agent: with it, without it where that is compared, and with what it is compared with.
    Raises `AgentRefused` for anything but a skill."""
    if suite.place is not None:
        yield from _file_in_agents(suite, chosen, cases, at, stack)
        return
    if suite.subject is None:
        raise AgentRefused(f"{suite.path} tests a program, and --agent tries skills", hint="name a SKILL.md")
    own, *beside = suite.subject()
    repeats, lifted = _repeats(suite, chosen), suite.without is not None
    several = len(chosen.agents.agents) > 1
    for agent in chosen.agents.agents:
        of_agent = agent.label if several or agent.model else agent.name
        with_it = InAgent(agent, (own, *beside), own.name, WITH if suite.routing is None else "triggers")
        label = _joined(suite.label, of_agent)
        yield Variant(
            suite, suite.program, None, label, cases, repeats, lifts=at + 1 if lifted else None, agent=with_it
        )
        at += 1
        if lifted:
            bare = InAgent(agent, (), "", WITHOUT)
            label, plain = _joined(WITHOUT, of_agent), suite.without or suite.program
            yield Variant(suite, plain, None, label, cases, repeats, baseline=True, without=True, agent=bare)
            at += 1
    for side in chosen.sides:
        yield _against_in_agent(suite, side, chosen.agents.agents[0], (own, *beside), cases, repeats, stack)


def _file_in_agents(
    suite: Suite, chosen: TestOptions, cases: tuple[Case, ...], at: int, stack: AsyncExitStack | None
) -> Iterator[Variant]:
    """Yield a subject that is one file in each agent: laid where the agent reads it, left out, and with what it is
    compared with. Raises `AgentRefused` for an agent that reads no such file."""
    assert suite.place is not None
    repeats, lifted = _repeats(suite, chosen), suite.without is not None
    own = suite.program_path
    if stack is not None:  # as it is now, whatever becomes of the file meanwhile
        own = _written(own.name, suite.files.read(own).text, stack)
    for agent in chosen.agents.agents:
        place, of_agent = suite.place(agent), agent.label
        laid = InAgent(agent, (), "", suite.label, ((own, place),))
        label = _joined(suite.label, of_agent)
        lifts = at + 1 if lifted else None
        yield Variant(suite, suite.program, None, label, cases, repeats, lifts=lifts, agent=laid)
        at += 1
        if suite.without is None:
            continue
        at += 1
        bare, label = InAgent(agent, (), "", suite.without_label), _joined(suite.without_label, of_agent)
        yield Variant(suite, suite.without, None, label, cases, repeats, baseline=True, without=True, agent=bare)
    agent = chosen.agents.agents[0]
    for side in chosen.sides:
        place, path = suite.place(agent), own
        if side.model is not None:
            agent = AgentChoice(agent.name, side.model)
        elif stack is not None and side.text is not None:
            path = _written(own.name, side.text, stack)
        elif stack is not None and side.folder is not None:
            empty = Path(stack.enter_context(TemporaryDirectory(prefix="prosa-against-")))
            path = side.folder(suite.program_path.parent, empty) / own.name
        other = InAgent(agent, (), "", side.label, ((path, place),))
        label = _joined(suite.label, agent.label, side.label if side.model is None else "")
        yield Variant(suite, suite.program, None, label, cases, repeats, baseline=True, agent=other)


def _written(name: str, text: str, stack: AsyncExitStack) -> Path:
    """Return a file with a text, in a folder of its own that ends with ``stack``."""
    file = Path(stack.enter_context(TemporaryDirectory(prefix="prosa-subject-")), name)
    file.write_text(text, encoding="utf-8", newline="")
    return file


def _against_in_agent(
    suite: Suite,
    side: Side,
    agent: AgentChoice,
    skills: tuple[SkillFolder, ...],
    cases: tuple[Case, ...],
    repeats: int,
    stack: AsyncExitStack | None,
) -> Variant:
    """Return another side of a suite: another folder of the skill, or another model of the agent."""
    own, *beside = skills
    if side.folder is not None and stack is not None:
        empty = Path(stack.enter_context(TemporaryDirectory(prefix="prosa-against-")))
        own = skill_at(side.folder(own.folder, empty), own)
    elif side.model is not None:
        agent = AgentChoice(agent.name, side.model)
    other = InAgent(agent, (own, *beside), own.name, side.label)
    label = _joined(suite.label, agent.label if side.folder is None else _joined(agent.label, side.label))
    return Variant(suite, suite.program, None, label, cases, repeats, baseline=True, agent=other)


def _joined(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _own_model(program: Program, options: Options) -> str:
    return options.model or program.model_name or DEFAULT_MODEL


def _repeats(suite: Suite, chosen: TestOptions) -> int:
    """Return how often each case runs. Raises `RunError` for fewer repeats than the rate of the document is about."""
    repeats = chosen.repeat or suite.terms.repeat
    require = suite.terms.requirement
    if require.is_rate and require.k > repeats:
        message = f"{suite.path} requires `{require.text}`, which {repeats} repeats cannot tell"
        raise RunError(message, hint=f"--repeat {require.k} or more")
    if chosen.lower and require.form == "all":
        message = f"{suite.path} requires all repeats to pass, and no interval of them ends at 1"
        raise RunError(message, hint='ask for a share or a rate: `require: "pass^1 >= 0.9"`')
    return repeats


def chosen_cases(
    suite: Suite, chosen: TestOptions, last_outcomes: Callable[[Suite], Mapping[str, bool]], environment: Environment
) -> tuple[Case, ...]:
    """Return the cases of a suite that the user chose, by parts of their names and by how they ended the last time."""
    cases = suite.cases
    if chosen.cases:
        cases = tuple(case for case in cases if any(_names(text, case.name) for text in chosen.cases))
    if chosen.failed:
        known = last_outcomes(suite)
        if not known:
            environment.notice(f"note: nothing is known of the last run of {suite.path}: all cases run")
        else:
            cases = tuple(case for case in cases if known.get(case.name) is False)
    return cases


def _names(text: str, name: str) -> bool:
    """Return whether a text names a case: the whole name or a part of it, but for case."""
    return text.casefold() in name.casefold()
