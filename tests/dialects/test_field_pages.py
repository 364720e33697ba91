"""The pages of dialects say of every field what its table says: `PROSA_UPDATE=1` writes the tables anew."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import prosa.dialects
from prosa.dialects.evals.document import fields as suite
from prosa.dialects.fields import Field
from prosa.dialects.prapti import fields as prapti
from prosa.evaluation.case import run_mistakes
from prosa.evaluation.matchers import MATCHERS
from tools.docs.dialects import ELSEWHERE, TABLES

PAGES = Path(prosa.dialects.__file__).parent / "docs"

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
