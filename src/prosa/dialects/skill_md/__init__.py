"""Agent Skills: a folder whose `SKILL.md` tells an agent what it can do and when to do it.

`read` gives the model, of the published form with front matter and of the bare form without (LA30).
"""

from prosa.dialects.dialect import Dialect
from prosa.dialects.skill_md.facts import facts
from prosa.dialects.skill_md.fields import SKILL as FRONT
from prosa.dialects.skill_md.format import format_edits
from prosa.dialects.skill_md.model import Parameter, SkillModel
from prosa.dialects.skill_md.read import read
from prosa.dialects.skill_md.references import definitions, references
from prosa.dialects.skill_md.write import write

__all__ = [
    "DIALECT",
    "FRONT",
    "Parameter",
    "SkillModel",
    "definitions",
    "facts",
    "format_edits",
    "read",
    "references",
    "write",
]

DIALECT: Dialect[SkillModel] = Dialect(
    name="skill_md",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    format_edits=format_edits,
)
