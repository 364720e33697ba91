"""An Agent Skill: its name, its instructions, its tools."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.skill_md.fields import MAX_NAME, as_name, is_name
from prosa.dialects.skill_md.host_needs import host_needs
from prosa.dialects.skill_md.model import SkillModel
from prosa.rules.rule import Finding
from prosa.rules.skill_md import RULES
from prosa.rules.subject import Subject
from prosa.source import Edit

REPORTED = (RULES.reported("SK001", "skill-without-front-matter", Severity.WARNING, strict=Severity.ERROR),)
"""What readers report by name."""


@RULES.document("SK002", "skill-name-form", Severity.WARNING, strict=Severity.ERROR)
def skill_name_form(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds a name with characters, or a length, that the specification of skills does not allow. The finding points at
    the name. Clients that follow the specification refuse the skill; others load it."""
    model = subject.model
    if model.bare or model.name is None or is_name(model.name):
        return
    rule = f"a name is at most {MAX_NAME} lower-case letters, digits and single hyphens, with no hyphen at either end"
    message = f"`{shown(model.name)}` is no name of a skill"
    span, better = model.span("name"), as_name(model.name)
    fix = Fix(f"call it `{better}`", (Edit(span, better),), Applicability.UNSAFE) if better else None
    yield Finding(message, span, (rule,), fix=fix)


@RULES.document("SK003", "skill-name-unlike-folder", Severity.WARNING, strict=Severity.ERROR)
def skill_name_unlike_folder(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds a skill whose name is not that of the folder it lives in. The finding points at the name, once it is one. A
    text without a file has no folder."""
    model = subject.model
    if model.bare or model.name is None or not is_name(model.name):
        return
    folder = _folder(subject)
    if not folder or folder == model.name:
        return
    message = f"the skill is named `{model.name}`, its folder `{shown(folder)}`"
    note = "clients look for a skill by the name of its folder: give both the same name"
    span = model.span("name")
    fix = Fix(f"name it after its folder, `{folder}`", (Edit(span, folder),), Applicability.UNSAFE)
    yield Finding(message, span, (note,), fix=fix if is_name(folder) else None)


def _folder(subject: Subject[SkillModel]) -> str:
    """The name of the folder, or an empty text where there is none, or where the file is not called `SKILL.md`."""
    if subject.path is None or subject.path.name.lower() != "skill.md":
        return ""
    path = subject.files.real(subject.path) if subject.files else subject.path
    return path.parent.name


@RULES.document("SK004", "skill-without-instructions", Severity.WARNING)
def skill_without_instructions(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds front matter and nothing behind it. The finding points at the opening fence of the front matter."""
    model = subject.model
    if subject.front.present and not model.instructions.strip():
        message = "the skill has no instructions: an agent that chooses it learns nothing more"
        yield Finding(message, model.anchor, ("write below the front matter what to do",))


MAX_LINES = 500
"""The advice of the specification: all of it enters the context of every agent that uses the skill."""


@RULES.document("SK005", "long-skill", Severity.INFO)
def long_skill(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds instructions of more lines than an agent should read at once. The finding points at the anchor, for it is
    about the whole."""
    model = subject.model
    end = model.document.body.start + len(model.instructions.rstrip())
    lines = subject.source.position(end).line - subject.source.position(model.document.body.start).line + 1
    if lines > MAX_LINES:
        message = f"the instructions have {lines:,} lines; an agent reads all of them each time"
        note = f"keep the skill below {MAX_LINES} lines and link to files that hold the rest"
        yield Finding(message, model.anchor, (note,))


@RULES.document("SK006", "tools-without-spaces", Severity.INFO, strict=Severity.WARNING)
def tools_without_spaces(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds `allowed-tools` as a list, where the specification has one text. The finding points at the value. Some
    clients take a list, and some refuse it.

    Commas between the tools are the usual form of skills in the wild, and clients read them: nothing is said about
    them.
    """
    model = subject.model
    entry = model.entries.get("allowed-tools")
    if entry is None or not model.allowed_tools or isinstance(entry.value, Scalar):
        return
    message = "the tools are a list; the specification has one text with spaces between them"
    notes = (f"write `{' '.join(model.allowed_tools)}`",)
    yield Finding(message, entry.value.span, notes)


@RULES.document("SK008", "skill-needs-host", Severity.HINT)
def skill_needs_host(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Finds what only the agent that the skill was written for can give: commands, its own tools, scripts in other
    languages than Python (X32). The finding points at the first of each kind. `prosa run` goes on without them."""
    model = subject.model
    entries = {each.key.text: each for each in subject.front.fields or ()}
    for need in host_needs(model, entries.get("hooks")):
        message = f"the skill asks for {need.words}, which a run here does not have"
        note = "a run executes nothing of a skill but Python in the sandbox: say too how to do without it"
        yield Finding(message, need.span, (note,))
