"""A first skill with a first case (`prosa new skill`): what `prosa check` accepts and `prosa test` runs."""

from __future__ import annotations

import json

from prosa.data import Value
from prosa.dialects.skill_md.as_dialect import write
from prosa.dialects.skill_md.model import MAX_DESCRIPTION
from prosa.dialects.table import CASES

SKILL_FILE = "SKILL.md"


def first_skill(name: str, *, summary: str | None, owner: str | None) -> dict[str, str]:
    """Return the files of a new skill, by their paths below its folder. Raises ValueError for a summary that is too
    long."""
    described = summary or f"Does what {name} does. Use it when a request speaks of {name}."
    if len(described) > MAX_DESCRIPTION:
        raise ValueError(f"has {len(described):,} characters; a description has at most {MAX_DESCRIPTION:,}")
    fields: dict[str, Value] = {
        "name": name,
        "description": described,
        "metadata": {"author": owner} if owner else None,
    }
    return {SKILL_FILE: write(fields, _BODY), CASES: _cases(name)}


_BODY = """\
Say here what to do, step by step, in the words you would use for a colleague. Only this file is read when the skill is
used; link to `references/` for what is needed now and then, and put scripts into `scripts/`.

1. Begin the answer with the line `What I understood:` and one sentence that says what is asked.
2. Then answer.
"""


def _cases(name: str) -> str:
    return (
        json.dumps({"skill_name": name, "evals": [{"id": 1, **first_case(name)}]}, ensure_ascii=False, indent=2) + "\n"
    )


def first_case(name: str) -> dict[str, Value]:
    """Return a case of a new skill, without its id."""
    return {
        "prompt": f"I need help with {name}. Where do I begin?",
        "expected_output": "An answer that first says what it understood, then what to do first",
        "assertions": [
            {"name": "says what it understood", "contains": "What I understood:"},
            "The answer names one thing to do first",
        ],
    }
