"""The cases of a skill and the requests that it is for, and the skill beside them (X32)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from prosa.diagnostics import Severity
from prosa.dialects.dialect import Hints
from prosa.dialects.evals.suite.model import EvalsModel
from prosa.dialects.fields import shown
from prosa.dialects.reading import open_document
from prosa.dialects.skill_md.model import SkillModel, as_name
from prosa.dialects.table import SKILL_MD, skill_folder
from prosa.rules.evals.suite import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import FileProblem
from prosa.source.files import is_there

REPORTED = (
    RULES.reported("SE001", "unknown-evals-shape", Severity.ERROR),
    RULES.reported("SE002", "evals-without-cases", Severity.ERROR),
    RULES.reported("SE003", "repeated-eval", Severity.ERROR),
    RULES.reported("SE004", "bad-assertion", Severity.ERROR),
    RULES.reported("SE005", "eval-without-assertions", Severity.INFO, strict=Severity.WARNING),
    RULES.reported("SE006", "unjudged-expectation", Severity.INFO),
)
"""What readers report by name."""


def _folder(subject: Subject[EvalsModel]) -> Path | None:
    """Return the folder of the skill; None where it is not known, or lies outside the root (X5)."""
    if subject.path is None or subject.files is None:
        return None
    folder = skill_folder(subject.path)
    return folder if subject.files.inside_root(folder / "SKILL.md") else None


def _skill(subject: Subject[EvalsModel], folder: Path) -> SkillModel | None:
    """Return the skill in a folder, where there is one that can be read."""
    if subject.files is None:
        return None
    try:
        source = subject.files.read(folder / "SKILL.md")
    except FileProblem:
        return None
    return open_document(source, Hints(explicit=SKILL_MD.name)).model_of(SKILL_MD)


@RULES.document("SE010", "evals-without-skill", Severity.WARNING)
def evals_without_skill(subject: Subject[EvalsModel]) -> Iterator[Finding]:
    """Find an evaluation file without a skill beside it. The finding points at its beginning."""
    folder = _folder(subject)
    if folder is None or subject.files is None or subject.files.exists(folder / "SKILL.md"):
        return
    message = "there is no `SKILL.md` that this is about"
    note = "a skill has its cases in `evals/evals.json` below its folder, and its requests in `evals/trigger-eval.json`"
    yield Finding(message, subject.model.anchor, (note,))


@RULES.document("SE011", "evals-of-another-skill", Severity.ERROR)
def evals_of_another_skill(subject: Subject[EvalsModel]) -> Iterator[Finding]:
    """Find cases that were written for a skill of another name. The finding points at the name."""
    model, folder = subject.model, _folder(subject)
    if folder is None or model.skill_name is None:
        return
    skill = _skill(subject, folder)
    if skill is None or skill.name is None:
        return
    written = as_name(model.skill_name.rpartition(":")[2])  # `plugin:skill`, as clients write it
    if written in (as_name(skill.name), as_name(folder.name)):
        return
    message = f"this is about `{shown(model.skill_name)}`, and the skill beside it is `{shown(skill.name)}`"
    yield Finding(message, model.named, ("give both the same name, or move the file to its skill",))


@RULES.document("SE012", "missing-eval-file", Severity.ERROR)
def missing_eval_file(subject: Subject[EvalsModel]) -> Iterator[Finding]:
    """Find a file of a case that is not there, or that lies outside of the skill. The finding points at its path."""
    folder = _folder(subject)
    if folder is None or subject.files is None:
        return
    for model in subject.model.evals:
        for written, span in (*model.files, *model.beside):
            if is_outside(written):
                note = "a case gives files that lie below the folder of its skill"
                yield Finding(f"`{shown(written)}` lies outside of the skill and is not read", span, (note,))
            elif not is_there(subject.files, folder / written, written):
                yield Finding(
                    f"there is no file `{shown(written)}`", span, ("a path starts at the folder of the skill",)
                )


def is_outside(written: str) -> bool:
    """Return whether a path leads out of the folder that it starts in, existing or not."""
    path = PurePosixPath(written.replace("\\", "/"))
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else part != "."
        if depth < 0:
            return True
    return path.is_absolute() or ":" in written.split("/", 1)[0]


@RULES.document("SE013", "unknown-expected-skill", Severity.WARNING, strict=Severity.ERROR)
def unknown_expected_skill(subject: Subject[EvalsModel]) -> Iterator[Finding]:
    """Find a request assigned to a skill that is not in the folder beside. The finding points at the request."""
    folder = _folder(subject)
    if folder is None or subject.files is None:
        return
    own = _skill(subject, folder)
    for query in subject.model.queries:
        if not query.belongs or (own is not None and own.name == query.belongs):
            continue
        place = folder.parent / (as_name(query.belongs) or "-") / "SKILL.md"
        if subject.files.inside_root(place) and not subject.files.exists(place):
            message = f"there is no skill `{shown(query.belongs)}` in the folders beside this one"
            yield Finding(message, query.span, ("triggering is measured against the skills in the same folder",))
