"""Agent Skills as a dialect: their references, facts and normal form.

A skill is read in the published form with front matter and in the bare form without (LA30). `interface.md` defines no
keys for `prosa show`. Its text is never reformatted: any choice would change what a client sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.dialect import Dialect, FormatOptions
from prosa.dialects.skill_md.model import SKILL, Parameter, SkillModel
from prosa.dialects.skill_md.model import SKILL as FRONT
from prosa.dialects.skill_md.read import read
from prosa.document import Def, Ref, link_references
from prosa.source import Edit

if TYPE_CHECKING:
    from typing import TypedDict

    from prosa.dialects.facts import SkillFacts, SkillParameter

    class CorpusFacts(TypedDict, total=False):
        """What rules compare between skills: the description, and its place."""

        description: str
        at: tuple[int, int]


__all__ = [
    "DIALECT",
    "FRONT",
    "Parameter",
    "SkillModel",
    "corpus_facts",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
    "write",
]


def facts(model: SkillModel) -> SkillFacts:
    """Return the keys of a skill."""
    return {
        "dialect": "skill_md",
        "name": model.name,
        "description": model.description,
        "license": model.license,
        "compatibility": model.compatibility,
        "allowed_tools": list(model.allowed_tools),
        "metadata": dict(model.metadata),
        "parameters": [_parameter(model, parameter) for parameter in model.parameters],
        "bare": model.bare,
    }


def _parameter(model: SkillModel, parameter: Parameter) -> SkillParameter:
    return {
        "name": parameter.name,
        "required": parameter.required,
        "description": parameter.description,
        "line": model.document.source.position(parameter.span.start).line,
    }


def corpus_facts(model: SkillModel) -> CorpusFacts:
    """Return the data that rules compare between skills: the description and its place."""
    if model.bare or model.description is None:
        return {}
    span = model.span("description")
    return {"description": model.description, "at": (span.start, span.end)}


def references(model: SkillModel) -> tuple[Ref, ...]:
    """Return the files and pages that its links name."""
    return link_references(model.document)


def definitions(model: SkillModel) -> tuple[Def, ...]:
    """Return the name of the skill, as a title: the file itself is called like that of every other skill."""
    if model.name is None or model.bare:
        return ()
    return (Def("title", model.name, model.span("name")),)


def format_edits(_model: SkillModel, _options: FormatOptions) -> tuple[Edit, ...]:
    """No edits."""
    return ()


def write(fields: Mapping[str, Value], instructions: str) -> str:
    """Return the document. Fields that are None are left out, unknown ones come last; a list of tools becomes one
    text.

    Raises ValueError for data nested too deep, TypeError for anything but plain data.
    """
    known = {name: value for name, value in fields.items() if value is not None}
    tools = known.get("allowed-tools")
    if isinstance(tools, Sequence) and not isinstance(tools, str):
        known["allowed-tools"] = " ".join(str(tool) for tool in tools)
    order = [field.name for field in SKILL if field.name in known]
    ordered = {name: known[name] for name in (*order, *(name for name in known if name not in order))}
    text = instructions.lstrip("\r\n")
    return f"---\n{write_yaml(ordered)}---\n" + (f"\n{text}" if text else "")


DIALECT: Dialect[SkillModel] = Dialect(
    name="skill_md",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
)
