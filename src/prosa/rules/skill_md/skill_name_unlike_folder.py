"""`skill-name-unlike-folder`: the name of a skill is not that of the folder it lives in."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import shown
from prosa.dialects.skill_md.fields import is_name
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.subject import Subject
from prosa.source import Edit


def check(subject: Subject) -> Iterator[Problem]:
    """At the name, once it is one. A text without a file has no folder."""
    model: SkillModel = subject.model
    if model.bare or model.name is None or not is_name(model.name):
        return
    folder = _folder(subject)
    if not folder or folder == model.name:
        return
    message = f"the skill is named `{model.name}`, its folder `{shown(folder)}`"
    note = "clients look for a skill by the name of its folder: give both the same name"
    span = model.span("name")
    fix = Fix(f"name it after its folder, `{folder}`", (Edit(span, folder),), Applicability.UNSAFE)
    yield Problem("skill-name-unlike-folder", message, span, (note,), fix=fix if is_name(folder) else None)


def _folder(subject: Subject) -> str:
    """The name of the folder, or an empty text where there is none, or where the file is not called `SKILL.md`."""
    if subject.path is None or subject.path.name.lower() != "skill.md":
        return ""
    path = subject.files.real(subject.path) if subject.files else subject.path
    return path.parent.name
