"""Read a skill: a front reading and a document in, a `SkillModel` and problems out. Never fails, opens nothing.

Reported here are the shapes of fields and the absence of front matter. What a rule of its own explains better, such as
a name that other clients refuse, is found by rules.
"""

from __future__ import annotations

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Owner, read_fields, text_of
from prosa.dialects.front import FrontReading
from prosa.dialects.skill_md.fields import CLIENT_FIELDS, SKILL
from prosa.dialects.skill_md.model import SkillModel
from prosa.dialects.skill_md.names import as_name
from prosa.dialects.skill_md.parameters import read_parameters
from prosa.dialects.skill_md.tools import read_tools
from prosa.document import Document


def read(front: FrontReading, document: Document) -> tuple[SkillModel, tuple[Problem, ...]]:
    """The skill, and what is wrong with the text of it."""
    if front.fields is None:
        return _model(front, document, {}, ()), () if front.present else (_bare(front),)
    owner = Owner(
        "a skill",
        front.anchor,
        unknown=Severity.HINT,
        other=CLIENT_FIELDS.__contains__,
        complete=front.complete,
    )
    entries, problems = read_fields(front.fields, SKILL, owner)
    entry = entries.get("allowed-tools")
    tools, wrong = read_tools(entry.value) if entry else ((), ())
    return _model(front, document, entries, tools), (*problems, *wrong)


def _model(front: FrontReading, document: Document, entries: dict[str, Entry], tools: tuple[str, ...]) -> SkillModel:
    bare = not front.present
    return SkillModel(
        document=document,
        bare=bare,
        name=_derived_name(document) if bare else text_of(entries.get("name")),
        description=_derived_description(document) if bare else text_of(entries.get("description")),
        license=text_of(entries.get("license")),
        compatibility=text_of(entries.get("compatibility")),
        allowed_tools=tools,
        metadata=_texts(entries.get("metadata")),
        parameters=read_parameters(document),
        entries=entries,
        anchor=front.anchor,
    )


def _bare(front: FrontReading) -> Problem:
    message = "the skill has no front matter: agents find a skill by its `name` and `description`"
    return Problem(
        "skill-without-front-matter", message, front.anchor, ("begin the file with both, between `---` lines",)
    )


def _derived_name(document: Document) -> str | None:
    first = next((each.plain for each in document.headings if not each.nested), None)
    return as_name(first) if first else None


def _derived_description(document: Document) -> str | None:
    first = next((each.text for each in document.paragraphs if not each.nested), None)
    return " ".join(first.split()) if first else None


def _texts(entry: Entry | None) -> dict[str, str]:
    if entry is None or not isinstance(entry.value, Mapping):
        return {}
    return {each.key.text: each.value.text for each in entry.value if isinstance(each.value, Scalar)}
