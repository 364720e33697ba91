"""A skill, or several, → a `Program` (X32): a request in, text or the user's schema out.

In: models of skills with the files in their folders. Out: what the loop sees. A chosen skill is active from the first
request on; the others show their names and descriptions until the model loads one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from prosa.data import Entry, Scalar, Value
from prosa.data import Sequence as Items
from prosa.dialects.fields import text_of
from prosa.dialects.skill_md.arguments import arguments_of
from prosa.dialects.skill_md.host_needs import host_needs
from prosa.dialects.skill_md.model import MAX_NAME, SkillModel
from prosa.document import Document
from prosa.runtime.limits import Limits
from prosa.runtime.program import Program, SkillText
from prosa.runtime.skill import Skill
from prosa.source.text import with_line_feeds

REQUEST = "request"

INPUT: Mapping[str, Value] = {
    "type": "object",
    "properties": {REQUEST: {"type": "string", "description": "what is to be done"}},
    "required": [REQUEST],
    "additionalProperties": False,
}
"""What a skill takes."""

UNNAMED = "skill"


def skill_of(model: SkillModel, front: Mapping[str, Entry], folder: PurePath, files: Sequence[str]) -> Skill:
    """Return a skill for a run. One without a name has that of its folder, as clients call it.

    ``front`` are the fields of its front matter as they are written, those of single clients among them; ``folder`` is
    the real path of its folder, ``files`` are the paths of the files below it.
    """
    described = model.description or text_of(front.get("description")) or ""
    when = text_of(front.get("when_to_use")) or ""
    names = _names(front.get("arguments"))
    text = with_line_feeds(model.instructions)
    return Skill(
        name=_one_line(model.name or text_of(front.get("name")) or "") or _one_line(folder.name) or UNNAMED,
        description=f"{described} {when}".strip(),
        instructions=text.strip("\n"),
        folder=str(folder),
        files=tuple(files),
        scripts=tuple(file for file in files if file.startswith("scripts/") and file.endswith(".py")),
        arguments=arguments_of(
            text, _prose(model.document), names=names, declared=bool(names) or "argument-hint" in front
        ),
        unavailable=tuple(host_needs(model, files, hooks="hooks" in front)),
    )


def _one_line(name: str) -> str:
    """Return a name for a model: on one line, and limited in length."""
    return " ".join(name.split())[:MAX_NAME]


def _names(entry: Entry | None) -> tuple[str, ...]:
    """Return the names of a skill's arguments: a list, or one text with spaces between them."""
    if entry is None:
        return ()
    if isinstance(entry.value, Items):
        return tuple(item.text for item in entry.value.items if isinstance(item, Scalar))
    return tuple((text_of(entry) or "").split())


def _prose(document: Document) -> str:
    """Return the body without its code blocks."""
    text, pieces, at = document.source.text, [], document.body.start
    for block in document.fences:
        pieces.append(text[at : block.span.start])
        at = max(at, block.span.end)
    return "".join((*pieces, text[at : document.body.end]))


def lower(
    skills: Sequence[Skill],
    *,
    model_name: str,
    limits: Limits | None = None,
    output: Mapping[str, Value] | bool | None = None,
    python: bool = True,
    name: str = "",
    file: str = "",
    classified: bool = False,
) -> Program:
    """Return the program of skills, of which one may be chosen; ``file`` is the name of its file. ``output`` is a JSON
    Schema of the answer, which is text without one. Without any skill it is the request alone."""
    chosen = next((skill for skill in skills if skill.chosen), None)
    home = PurePath(chosen.folder if chosen is not None else ".")
    return Program(
        name=name or (chosen.name if chosen is not None else "request"),
        description=chosen.description if chosen is not None else "",
        template=SkillText(chosen if chosen is not None and chosen.arguments is not None else None),
        input_schema=INPUT,
        output_schema={} if output is None else output,
        model_name=model_name,
        limits=limits or Limits(),
        python=python,
        asks_python=any(skill.scripts for skill in skills),
        file=f"{home.name}/{file}" if file else "",
        folder=str(home.parent) if file else ".",
        form="text" if output is None else "json",
        classified=classified,
        skills=tuple(skills),
    )
