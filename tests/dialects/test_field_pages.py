"""The pages of dialects say of every field what its table says: `PROSA_UPDATE=1` writes the tables anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import prosa.dialects
from prosa.dialects import agent_files
from prosa.dialects.evals import fields as evals
from prosa.dialects.fields import Field
from prosa.dialects.magi import fields as magi
from prosa.dialects.markdownlang import fields as markdownlang
from prosa.dialects.mdh import fields as mdh
from prosa.dialects.prapti import fields as prapti
from prosa.dialects.skill_md import fields as skill_md
from prosa.dialects.test import fields as suite
from prosa.dialects.ymj import fields as ymj
from prosa.evaluation.case import run_mistakes
from prosa.evaluation.matchers import MATCHERS

PAGES = Path(prosa.dialects.__file__).parent / "docs"

TABLES = {
    ("markdownlang", "Fields"): markdownlang.PROGRAM,
    ("magi", "Front matter"): magi.FRONT,
    ("magi", "ai-script blocks"): magi.SCRIPT,
    ("magi", "Relationships"): magi.RELATIONSHIP,
    ("ymj", "Header"): ymj.HEADER,
    ("ymj", "Footer"): ymj.FOOTER,
    ("mdh", "Fields of a node"): mdh.NODE,
    ("mdh", "Fields of an action"): mdh.ACTION,
    ("skill_md", "Fields"): skill_md.SKILL,
    ("skill_md", "Fields of single clients"): skill_md.CLIENT,
    ("test", "Fields"): suite.FRONT,
    ("evals", "Cases"): evals.TOP,
    ("evals", "Requests"): evals.QUERY,
    ("test", "Matchers"): suite.WORDS,
    ("test", "How a run has to go"): suite.RUN,
    ("plain", "Fields"): agent_files.DOCUMENT,
    ("plain", "Agents"): agent_files.AGENT,
    ("plain", "Instructions"): agent_files.INSTRUCTIONS,
    ("plain", "Rules of Cursor"): agent_files.RULE,
    ("plain", "Commands and prompts"): agent_files.COMMAND,
}

ELSEWHERE = {"actions"}
"""Fields whose inner ones have a table of their own on the same page."""

OTHERS = {
    ("test", "Blocks"): [f"| `{info}` | {about} |" for info, about in suite.BLOCKS.items()],
    ("prapti", "Settings"): [f"| `{each.path}` | {each.about} |" for each in prapti.SETTINGS],
    ("prapti", "Actions"): [f"| `{name}` | {about} |" for name, about in prapti.ABOUT_ACTIONS.items()],
}


def rows(table: tuple[Field, ...], prefix: str = "") -> Iterator[str]:
    for field in table:
        if field.about:
            yield f"| `{prefix}{field.name}` | {'required; ' if field.required else ''}{field.about} |"
        if field.name not in ELSEWHERE:
            yield from rows(field.inner, f"{prefix}{field.name}.")


@pytest.mark.parametrize(("page", "heading"), [*TABLES, *OTHERS], ids="-".join)
def test_a_page_has_the_fields_of_the_table(page: str, heading: str):
    path = PAGES / f"{page}.md"
    text = path.read_text(encoding="utf-8")
    wanted = OTHERS.get((page, heading)) or [*rows(TABLES[page, heading])]
    found = re.search(
        rf"^##+ {re.escape(heading)}\n(?:(?!##).*\n)*?(?P<rows>\| \w+ \| \w+ \|\n\|---\|---\|\n(?:\|.*\n)*)", text, re.M
    )
    assert found is not None, f"{page}.md has no table below `{heading}`"
    if os.environ.get("PROSA_UPDATE"):
        head = "".join(found["rows"].splitlines(keepends=True)[:2])
        text = text[: found.start("rows")] + head + "".join(f"{row}\n" for row in wanted) + text[found.end("rows") :]
        path.write_text(text, encoding="utf-8")
    else:
        assert found["rows"].splitlines()[2:] == wanted


def test_the_words_of_tests_are_those_that_are_read():
    assert [each.name for each in suite.WORDS] == [*MATCHERS]
    run = {each.name: {inner.name: None for inner in each.inner} or None for each in suite.RUN}
    assert [each for each in run_mistakes(run) if each.on_key] == []


def test_every_field_that_may_be_written_says_what_it_means():
    def silent(table: tuple[Field, ...]) -> list[str]:
        return [each.name for each in table if not each.about] + [name for each in table for name in silent(each.inner)]

    # The hash of an attachment below `ops` is read only to say where it belongs.
    assert {name for table in TABLES.values() for name in silent(table)} == {"sha256"}
