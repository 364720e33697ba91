"""An Agent Skill: its name, its instructions, its tools."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Scalar
from prosa.diagnostics import Applicability, Fix, Severity
from prosa.dialects.fields import shown, type_name
from prosa.dialects.skill_md.model import CLIENT_FIELDS, MAX_NAME, SkillModel, as_name, is_name, normal
from prosa.rules.rule import Finding, Subject
from prosa.rules.skill_md import RULES
from prosa.source import Edit

REPORTED = (RULES.reported("SK001", "skill-without-front-matter", Severity.WARNING, strict=Severity.ERROR),)
"""What readers report by name."""


@RULES.document("SK002", "skill-name-form", Severity.WARNING, strict=Severity.ERROR)
def skill_name_form(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find a name with characters, or a length, that the specification of skills does not allow. The finding points at
    the name. Clients that follow the specification refuse the skill; others load it."""
    model = subject.model
    if model.bare or model.name is None or is_name(model.name):
        return
    rule = f"a name is at most {MAX_NAME} lower-case letters and digits, of any script, and single hyphens between them"
    message = f"`{shown(model.name)}` is not a valid skill name"
    span, better = model.span("name"), as_name(model.name)
    fix = Fix(f"call it `{better}`", (Edit(span, better),), Applicability.UNSAFE) if better else None
    yield Finding(message, span, (rule,), fix=fix)


@RULES.document("SK003", "skill-name-unlike-folder", Severity.WARNING, strict=Severity.ERROR)
def skill_name_unlike_folder(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find a skill whose name differs from that of its folder. The finding points at the name, if that is valid. A
    text without a file has no folder."""
    model = subject.model
    if model.bare or model.name is None or not is_name(model.name):
        return
    folder = _folder(subject)
    if not folder or normal(folder) == normal(model.name):
        return
    message = f"the skill is named `{model.name}`, but its folder is `{shown(folder)}`"
    note = "clients look for a skill by the name of its folder: give both the same name"
    span = model.span("name")
    fix = Fix(f"rename it to `{folder}`, after its folder", (Edit(span, folder),), Applicability.UNSAFE)
    yield Finding(message, span, (note,), fix=fix if is_name(folder) else None)


def _folder(subject: Subject[SkillModel]) -> str:
    """Return the name of the folder, or an empty text where there is none, or where the file is not called
    `SKILL.md`."""
    if subject.path is None or subject.path.name.lower() != "skill.md":
        return ""
    path = subject.files.real(subject.path) if subject.files else subject.path
    return path.parent.name


@RULES.document("SK004", "skill-without-instructions", Severity.WARNING)
def skill_without_instructions(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find front matter and nothing behind it. The finding points at the opening fence of the front matter."""
    model = subject.model
    if subject.front.present and not model.instructions.strip():
        message = "the skill has no instructions: an agent that chooses it learns nothing more"
        yield Finding(message, model.anchor, ("describe below the front matter what to do",))


MAX_LINES = 500
"""The advice of the specification: all of it enters the context of every agent that uses the skill."""


@RULES.document("SK005", "long-skill", Severity.INFO)
def long_skill(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find instructions of more lines than an agent should read at once. The finding points at the anchor, for it is
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
    """Find `allowed-tools` as a list; the specification has one text. The finding points at the value. Some clients
    take a list, and some refuse it.

    Commas between the tools are the usual form of skills in the wild, and clients read them: they are not reported.
    """
    model = subject.model
    entry = model.entries.get("allowed-tools")
    if entry is None or not model.allowed_tools or isinstance(entry.value, Scalar):
        return
    message = "`allowed-tools` is a list; the specification requires one string with spaces between the tools"
    notes = (f"write `{' '.join(model.allowed_tools)}`",)
    yield Finding(message, entry.value.span, notes)


@RULES.document("SK009", "non-string-metadata", Severity.WARNING, strict=Severity.ERROR)
def non_string_metadata(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find `metadata` that holds something else than strings. The finding points at the value. Clients that keep nested
    data there read it; the specification has strings alone."""
    entry = subject.model.entries.get("metadata")
    if entry is None or not isinstance(entry.value, Mapping):
        return
    for field in entry.value:
        if not isinstance(field.value, Scalar) or field.value.value is None:
            message = f"`metadata.{shown(field.key.text)}` must be a string, not {type_name(field.value)}"
            notes = ("a client that follows the specification may refuse the skill or miss the value",)
            yield Finding(message, field.value.span, notes)


@RULES.document("SK010", "client-field", Severity.HINT, on_request=True)
def client_field(subject: Subject[SkillModel]) -> Iterator[Finding]:
    """Find a field that only some clients define, and not the specification. The finding points at its key. Found only
    where the rule is selected by its name, or by a profile."""
    for field in subject.front.fields or ():
        if field.key.text in CLIENT_FIELDS:
            message = f"`{field.key.text}` is a field of some clients and not of the specification"
            yield Finding(message, field.key.span, ("move it into `metadata`, or leave it out",))
