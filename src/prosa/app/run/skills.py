"""Skills ready to be run (X32): from folders of skills and a request to a program that the one driver runs.

`skills_program` makes the program of (a) no skill, (b) one that is chosen, (c) several that are offered by name and
description alone. Its input is ``{"request": TEXT}``; run it with `prosa.app.run.jobs` (`run_program`, or a `Job` of
`driving`). `Summary.skills` of its result are the names of the skills that the model loaded, in order.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.files.skill_files import SKILL_FILE, heads, is_skill, skill_file, skill_files
from prosa.app.options import DEFAULT_MODEL, Options, limits_in
from prosa.app.settings import size_limit
from prosa.app.text_files import read_given
from prosa.corpus.embedding import looks_classified
from prosa.data import Entry, JsonError, Value, parse_json
from prosa.diagnostics import Diagnostic, Severity
from prosa.dialects.fields import text_of
from prosa.dialects.table import DOCUMENT_SUFFIXES, SKILL_MD
from prosa.regex import regex
from prosa.rules.engine import CheckedDocument, check_documents
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.limits import Limits
from prosa.runtime.lower.skill_md import lower, skill_of
from prosa.runtime.program import Program
from prosa.runtime.skill import Skill
from prosa.schema import Schema, SchemaError
from prosa.settings import Settings
from prosa.source import FileProblem, Files


class LoadedSkill(Struct, frozen=True):
    """A skill that was read: for a run, its file, and whether anything of it is `confidential` or `secret`. ``offered``
    is False where its author lets only users start it (`disable-model-invocation`)."""

    skill: Skill
    path: Path
    classified: bool = False
    offered: bool = True


MOST_MODULES = 8
"""Modules that are named."""

_IMPORT = regex(r"^[ \t]*(?:import|from)[ \t]+(?P<name>[A-Za-z_]\w*)", re.MULTILINE)


def load_skill(
    path: Path,
    options: Options,
    settings: Settings,
    *,
    warned: Callable[[Diagnostic], None] | None = None,
    within: Path | None = None,
    files: Files | None = None,
) -> LoadedSkill:
    """Read a skill: its `SKILL.md`, and the names of what lies below its folder. ``path`` is the file or the folder.

    ``warned`` receives its warnings. ``within`` is the root for a skill that the user did not name: nothing outside of
    it is opened. ``files`` are read in place of those on the disk. Raises `FileProblem`, and `ProgramRefused` for
    unreadable front matter.
    """
    file = skill_file(path)
    if files is None:
        files = RootedFiles(within or file.parent, size_limit(options.max_size, settings), () if within else (file,))
    text = files.read(file).text
    checked = check_documents([file], files, dialect="skill_md")
    if errors := [error for error in checked.errors if error.rule in UNREADABLE]:
        raise ProgramRefused(errors)
    for diagnostic in checked.diagnostics:
        if warned is not None and diagnostic.severity is Severity.WARNING:
            warned(diagnostic)
    folder = files.real(file.parent)
    read = checked.documents[0]
    entries = _entries(read)
    model = read.reading.model_of(SKILL_MD)
    assert model is not None  # it was read as one
    skill = skill_of(model, entries, folder, skill_files(folder))
    if needs := _modules(folder, skill.scripts):
        skill = replace(skill, unavailable=(*skill.unavailable, needs))
    alone = (text_of(entries.get("disable-model-invocation")) or "").lower() == "true"
    return LoadedSkill(skill, file, looks_classified(text) or _is_classified(folder, skill.files), not alone)


def _is_classified(folder: Path, files: Sequence[str]) -> bool:
    """Return whether one of the documents beside the skill, which a model may read, is `confidential` or `secret`."""
    documents = [file for file in files if file.lower().endswith(DOCUMENT_SUFFIXES)]
    return any(looks_classified(text) for _, text in heads(folder, documents))


def _modules(folder: Path, scripts: Sequence[str]) -> str:
    """Return the modules that scripts import and that the sandbox does not have, in words; empty where there are
    none."""
    own = {script.rpartition("/")[2].removesuffix(".py") for script in scripts}
    own |= {part for script in scripts for part in script.split("/")[:-1]}
    modules: dict[str, None] = {}
    for _, text in heads(folder, scripts):
        names = (match["name"] for match in _IMPORT.finditer(text))
        modules |= dict.fromkeys(name for name in names if name not in sys.stdlib_module_names and name not in own)
    shown = ", ".join(f"`{module}`" for module in list(modules)[:MOST_MODULES])
    more = f" and {len(modules) - MOST_MODULES} more" if len(modules) > MOST_MODULES else ""
    return f"modules that the sandbox does not have: {shown}{more}" if modules else ""


def _entries(read: CheckedDocument) -> dict[str, Entry]:
    """Return the fields of the front matter by name."""
    return {field.key.text: field for field in read.front.fields or ()}


UNREADABLE = frozenset({"yaml-syntax", "unclosed-front-matter", "front-matter-not-a-mapping", "alias-bomb"})
"""Rules whose findings leave nothing that could be run as it was meant."""


def skills_program(
    offered: Iterable[Path | LoadedSkill],
    options: Options,
    settings: Settings,
    *,
    chosen: Path | LoadedSkill | None = None,
    output: Mapping[str, Value] | bool | None = None,
    python: bool = True,
    warned: Callable[[Diagnostic], None] | None = None,
    within: Path | None = None,
) -> Program:
    """Return the program of a request with skills, ready for `ready_program` and the driver.

    ``chosen`` is a skill whose instructions are in the first request, as when a person calls it; the model is not asked
    whether it wants it. ``offered`` are skills (files or folders) of which the model sees nothing but names and
    descriptions until it loads one with the tool `skill`. With neither the program is the request alone, which is what
    a test compares a skill with. ``output`` is a JSON Schema of the answer; without one the answer is text. ``python``
    offers the `python` tool too, as programs have it. ``warned`` and ``within`` are as in `load_skill`.

    The input is ``{"request": TEXT}``. `Summary.skills`, of a result or of an outcome of the driver, are the names of
    the skills that the model loaded, in the order in which it asked for them; the chosen one is not among them. A run
    that is to end with the choice of a skill needs two iterations: one to load it and a last one to answer.

    Raises what `load_skill` does, and `RunError` for two skills of one name.
    """

    def load(path: Path | LoadedSkill) -> LoadedSkill:
        if isinstance(path, LoadedSkill):
            return path
        return load_skill(path, options, settings, warned=warned, within=within)

    loaded = [load(path) for path in offered]
    first = None if chosen is None else load(chosen)
    if first is not None:
        loaded = [skill for skill in loaded if skill.skill.folder != first.skill.folder]
        loaded.insert(0, replace(first, skill=replace(first.skill, chosen=True)))
    require_names(loaded)
    default = options.default_model or settings.model_name or DEFAULT_MODEL
    return lower(
        [skill.skill for skill in loaded],
        model_name=options.model_name or options.here_name or default,
        limits=replace(Limits(), **(limits_in(settings) | limits_in(options))),
        output=options.output_schema if output is None else output,
        python=python,
        file="" if first is None else first.path.name,
        classified=any(skill.classified for skill in loaded),
    )


def read_schema(path: Path) -> Mapping[str, Value] | bool:
    """Return the JSON Schema in a file that the user named, for the answer of a skill. Raises `FileProblem`, and
    `RunError` for a text that is none."""
    try:
        value = parse_json(read_given(path))
        Schema(value)
    except (JsonError, SchemaError) as error:
        raise RunError(f"{path} holds no JSON Schema: {error}", hint="""as in: {"type": "object"}""") from None
    return cast("Mapping[str, Value] | bool", value)  # else it is no schema


def load_skills(named: Iterable[Path], options: Options, settings: Settings) -> tuple[LoadedSkill, ...]:
    """Return the skills that paths name: each a skill, or a folder that holds some, of which those that only users
    start are left out; each once. Raises what `load_skill` does, `FileProblem` for a folder without any, and `RunError`
    for two of one name."""
    named = tuple(named)
    places = dict.fromkeys(place for path in named for place in skills_in(path))
    known = (load_skill(place, options, settings) for place in places)
    loaded = {skill.skill.folder: skill for skill in known if skill.offered or skill.path.parent in named}
    require_names(tuple(loaded.values()))
    return tuple(loaded.values())


def require_names(skills: Sequence[LoadedSkill]) -> None:
    """Raise `RunError` where two skills have one name: a model could not say which of them it means."""
    known: dict[str, LoadedSkill] = {}
    for skill in skills:
        other = known.setdefault(skill.skill.name, skill)
        if other is not skill:
            raise RunError(
                f"two skills are named {skill.skill.name!r}: {other.path} and {skill.path}",
                hint="offer one of them, or rename the other",
            )


def skills_in(folder: Path) -> tuple[Path, ...]:
    """Return the folders of the skills that a folder holds, by name: the folder itself where it is one. Raises
    `FileProblem` for a folder that holds none."""
    if is_skill(folder):
        return (folder,)
    if not folder.is_dir():
        raise FileProblem(folder, "missing", "no such skill or folder of skills")
    paths = tuple(sorted(path for path in folder.iterdir() if path.is_dir() and is_skill(path)))
    if not paths:
        raise FileProblem(folder, "missing", f"holds no skill: neither it nor a folder in it has a {SKILL_FILE}")
    return paths
