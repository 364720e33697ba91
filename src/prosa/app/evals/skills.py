"""Skills as suites (X32): the cases in `evals/evals.json`, each tried with the skill and without it, and the requests
in `evals/trigger-eval.json`, tried on which of all the skills in the folder a model loads.

In: the `SKILL.md` that the user named. Out: suites for the one runner of tests. What `prosa check` calls an error in
the two files is reported before anything runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.skill_files import SKILL_FILE, is_skill, skill_file, skill_files
from prosa.app.agents.task import SkillFolder
from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group, evals_beside, gather
from prosa.app.evals.cases import CaseMaker, read_cases, terms_of
from prosa.app.evals.suite import Suite, Terms
from prosa.app.options import Environment, Options
from prosa.app.run.skills import LoadedSkill, load_skill, skills_program
from prosa.diagnostics import Diagnostic
from prosa.dialects.evals.suite.model import EvalsModel, TriggerModel
from prosa.dialects.fields import shown
from prosa.dialects.reading import holds_requests
from prosa.dialects.table import CASES, EVALS, dialect_of_file_name, skill_folder
from prosa.evaluation.case import Case
from prosa.evaluation.routing import Routing
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.journal import Ask, Journal, ModelStep, ToolStep, Use
from prosa.runtime.messages import ModelReply
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program
from prosa.source import FileProblem, Files
from prosa.source.files import is_hidden

MAX_NAME = 60
"""Characters of a request in the name of its case."""

WITH, WITHOUT = "with the skill", "without the skill"


def check_evals(group: Group, environment: Environment) -> tuple[Diagnostic, ...]:
    """Return what `prosa check` finds in the files beside the skills of a group. Raises `RunError` for a skill without
    any."""
    paths = [file for path in group.paths for file in _files_of(path)[1]]
    checker = Checker.of(CheckOptions(EVALS.name), environment.environ)
    return checker.check(replace(group, paths=tuple(paths), whole=False)).diagnostics


def check_cases(cases: Path, environment: Environment) -> tuple[Diagnostic, ...]:
    """Return what `prosa check` finds in a file of cases that the user named for a subject elsewhere: whatever depends
    on a skill beside it is left out. Raises `FileProblem`."""
    checker = Checker.of(CheckOptions(EVALS.name), environment.environ)
    diagnostics = [diagnostic for group in gather([str(cases)]) for diagnostic in checker.check(group).diagnostics]
    return tuple(diagnostic for diagnostic in diagnostics if diagnostic.rule not in _ABOUT_A_SKILL)


_ABOUT_A_SKILL = frozenset({"evals-without-skill", "evals-of-another-skill", "missing-eval-file"})


def named_cases(cases: Path) -> EvalsModel:
    """Return what a file of cases holds that the user named. Raises `FileProblem` and `RunError`."""
    model = read_cases(cases, RootedFiles(cases.parent, named=(cases,)))
    if not model.evals:
        raise RunError(f"{cases}: it holds no cases", hint="see: prosa explain evals")
    return model


def skill_suites(
    path: Path,
    group: Group,
    options: Options,
    environment: Environment,
    *,
    in_agent: bool = False,
    named: Path | None = None,
) -> Iterator[Suite]:
    """Yield the suites of a skill: its cases, and the requests that it is for, or what is in the one file of them that
    ``path`` names. ``named`` is a file of cases in place of those beside it. ``in_agent``: files are laid in a
    workspace, and not put into requests. Raises what `load_skill` does, `RunError`."""
    if named is not None:
        skill, files = skill_file(path), [named_cases(named)]
    else:
        skill, paths = _files_of(path)
        files = [read_cases(file, group.files) for file in paths]
    cases = next((file for file in files if file.holds == "cases"), None)
    terms = terms_of(cases, skill.parent)
    made = _Maker(skill, group, options, environment, load_skill(skill, options, environment.settings), in_agent)
    if cases is not None and cases.evals:
        yield made.cases(cases, terms)
    requests = [file for file in files if file.holds == "triggers"]
    if any(request.queries for request in requests):
        yield made.requests(requests, terms)


def is_of_skill(path: Path, files: Files) -> bool:
    """Return whether a path names a skill, or a file that says how one is tried."""
    if dialect_of_file_name(path.name) == EVALS.name or is_skill(path):
        return True
    return path.suffix.lower() == ".json" and holds_requests(files.read(path).text)


def _files_of(path: Path) -> tuple[Path, list[Path]]:
    """Return the `SKILL.md` that a path is about, and the files that say how it is tried: all, or the one that it
    names. Raises `RunError` where there is none of either."""
    if not is_skill(path):
        skill = skill_folder(path) / SKILL_FILE
        if not skill.is_file():
            hint = f"put it into the folder of its skill, or into `evals` there; the skill would be {skill}"
            raise RunError(f"{path}: there is no {SKILL_FILE} that it is about", hint=hint)
        return skill, [path]
    beside = evals_beside(path)
    if not beside:
        hint = f"cases are in {path.parent / CASES}; see: prosa explain evals"
        raise RunError(f"{path}: there is nothing to try the skill on", hint=hint)
    return path, beside


class _Maker(Struct, frozen=True):
    """What makes suites of one skill."""

    path: Path
    group: Group
    options: Options
    environment: Environment
    skill: LoadedSkill
    in_agent: bool = False

    def cases(self, model: EvalsModel, terms: Terms) -> Suite:
        """Return its cases, with and without it."""
        maker = CaseMaker(self.path.parent, self.group.files, self.in_agent)
        cases = tuple(maker.case(case, model) for case in model.evals)
        program = self._program([], self.skill)
        without = replace(self._program([], None), name=f"{program.name}-without", classified=program.classified)
        return Suite(
            path=Path(model.source.path),
            cases=cases,
            program=program,
            program_path=self.path,
            root=self.group.root,
            files=self.group.files,
            terms=terms,
            load=lambda path, files: self._program([], self._at(path, files)),
            classified=self.skill.classified,
            label=WITH,
            without=without,
            subject=lambda: (agent_skill(self.skill),),
        )

    def requests(self, models: Sequence[EvalsModel], terms: Terms) -> Suite:
        """Return the requests that it is for, and those that it is not for, among all skills of its folder."""
        beside = self._beside()
        offered = {skill.skill.name: skill for skill in (self.skill, *beside)}
        own = self.skill.skill.name
        owners = {name: _owned(skill) for name, skill in offered.items() if name != own}
        cases: list[Case] = []
        belongs: dict[str, str] = {}
        for model in models:
            for query in model.queries:
                name = _named(query.query, belongs)
                belongs[name] = _owner(query, own, owners)
                place = f"{model.source.path}:{model.line(query.span)}"
                cases.append(Case(name, {"request": query.query}, place=place, request=query.query))
        program = self._offering(self.skill, beside)
        return Suite(
            path=Path(models[0].source.path),
            cases=tuple(cases),
            program=program,
            program_path=self.path,
            root=self.group.root,
            files=self.group.files,
            terms=replace(terms, grader=None),
            load=lambda path, files: self._offering(self._at(path, files), beside),
            classified=program.classified,
            routing=Routing(own, tuple(offered), belongs),
            around=FirstChoice,
            subject=lambda: tuple(agent_skill(skill) for skill in (self.skill, *beside)),
        )

    def _program(self, offered: Sequence[LoadedSkill], chosen: LoadedSkill | None, *, python: bool = True) -> Program:
        return skills_program(offered, self.options, self.environment.settings, chosen=chosen, python=python)

    def _offering(self, skill: LoadedSkill, beside: Sequence[LoadedSkill]) -> Program:
        """Return the program that shows names and descriptions and nothing else: no file, no script, no other tool.
        They come by name: the skill that is tried has no better place than the others."""
        ordered = sorted((skill, *beside), key=lambda offered: offered.skill.name)
        bare = [replace(offered, skill=replace(offered.skill, files=(), scripts=())) for offered in ordered]
        program = self._program(bare, None, python=False)
        limits = replace(program.limits, iterations=max(program.limits.iterations, 2))
        return replace(program, name=f"{skill.skill.name}-triggers", limits=limits)

    def _at(self, path: Path, files: Files | None) -> LoadedSkill:
        return load_skill(path, self.options, self.environment.settings, files=files)

    def _beside(self) -> list[LoadedSkill]:
        """Return the other skills in the parent folder that a model is offered; an unreadable one is reported and
        skipped. Skills outside of the project are left out: they differ between machines."""
        skills: list[LoadedSkill] = []
        own = self.path.parent.absolute()
        bounded = self.group.marked or self.group.given
        for folder in sorted(own.parent.iterdir()):
            real = folder.resolve()
            if is_hidden(folder.name) or real == own.resolve() or not folder.is_dir() or not is_skill(folder):
                continue
            if bounded and not real.is_relative_to(self.group.root):
                continue
            try:
                skill = load_skill(folder, self.options, self.environment.settings)
            except (FileProblem, ProgramRefused) as error:
                self.environment.notice(f"warning: {folder.name} is not among the skills that are offered: {error}")
                continue
            skills += [skill] if skill.offered else []
        return skills


def agent_skill(skill: LoadedSkill) -> SkillFolder:
    """Return a skill as an agent gets it, with the digest of its files."""
    folder = Path(skill.skill.folder)
    digest = _digest_of(folder, (skill.path.name, *skill.skill.files))
    return SkillFolder(skill.skill.name, folder, skill.skill.description, digest)


def _digest_of(folder: Path, names: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0{hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def skill_at(folder: Path, known: SkillFolder) -> SkillFolder:
    """Return the same skill as it stands in another folder. Raises `FileProblem` where there is none."""
    file = skill_file(folder)
    if not file.is_file():
        raise FileProblem(file, "missing", f"no skill to compare {known.name} with")
    names = (file.name, *skill_files(folder))
    return replace(known, folder=folder, digest=_digest_of(folder, names))


# ---- requests ----


def _owned(skill: LoadedSkill) -> frozenset[str]:
    """Return the requests that a skill says are its own."""
    queries: set[str] = set()
    files = RootedFiles(skill.path.parent)
    for path in evals_beside(skill.path):
        try:
            model = read_cases(path, files)
        except (FileProblem, RunError):
            continue
        queries.update(_same(query.query) for query in model.queries if query.should_trigger)
    return frozenset(queries)


def _owner(model: TriggerModel, own: str, owners: dict[str, frozenset[str]]) -> str:
    """Return the skill that a request belongs to: by what its author says, else because another skill says it is its
    own."""
    if model.should_trigger:
        return own
    return model.belongs or next((name for name, queries in owners.items() if _same(model.query) in queries), "")


def _same(query: str) -> str:
    return " ".join(query.split()).casefold()


def _named(query: str, taken: dict[str, str]) -> str:
    name = shown(query, MAX_NAME)
    number = 1
    while name in taken:
        number += 1
        name = f"{shown(query, MAX_NAME - 5)} ({number})"
    return name


class FirstChoice(Struct):
    """A journal that asks the model once: which skill it loads is known from its first reply, and what it would do with
    it is not asked and not paid for."""

    inner: Journal
    first: str = ""

    async def reply(self, step: ModelStep, ask: Ask) -> ModelReply:
        """Return the first reply, however many attempts it takes; afterwards a fixed final reply."""
        self.first = self.first or step.path
        if step.path == self.first:
            return await self.inner.reply(step, ask)
        return ModelReply(content="(what was loaded is all that was asked)", finish="stop")

    async def result(self, step: ToolStep, use: Use) -> ToolResult:
        """Load the skill."""
        return await self.inner.result(step, use)
