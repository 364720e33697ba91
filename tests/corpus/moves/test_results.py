"""Links in the result of an ai-script are rewritten, and its marker stays true (X19, X22)."""

from __future__ import annotations

import pytest

from prosa.dialects.magi.result_text import is_edited, region_text
from prosa.dialects.magi.results import written
from prosa.source import apply_edits
from tests.corpus.moves.store import Texts, after, plan

SCRIPT = '# D\n\n```ai-script\n{"script-id": "s", "prompt": "p"}\n```\n'
QUOTED = '# D\n\n> ```ai-script\n> {"script-id": "s", "prompt": "p"}\n> ```\n'


def with_result(text: str, result: str) -> str:
    model = Texts({}).reread("d.mda", text).model
    return apply_edits(text, written(model, model.scripts[0], result, model_name="m", context="none"))


@pytest.mark.parametrize("text", [SCRIPT, QUOTED, SCRIPT.replace("\n", "\r\n")], ids=["plain", "quoted", "crlf"])
@pytest.mark.parametrize(
    "result",
    [
        "See [old](old.md) and [[old]].",
        "<!-- no --> [a](old.md) <!-- no -->\n\n[b](old.md)\n\n[^1] <!-- end -->",
        "[b](old.md)\n\n```ai-script\n{}\n```\n[c](old.md) <!-- x -->",
    ],
    ids=["plain", "escaped", "fence"],
)
def test_x19_a_result_says_the_same_but_for_the_name(text: str, result: str):
    texts = {"d.mda": with_result(text, result), "old.md": "# Old\n"}
    before = Texts(texts).reading("d.mda").model
    assert not is_edited(before, before.regions[0])
    found = after(texts, plan(texts, "old.md", "some/where new.md"))["d.mda"]
    model = Texts({}).reread("d.mda", found).model
    assert not is_edited(model, model.regions[0])
    if text is not QUOTED:
        wanted = result.replace("old.md", "some/where%20new.md").replace("[[old]]", "[[where new]]")
        assert region_text(model, model.regions[0]) == wanted


def test_x19_a_result_that_was_edited_stays_marked_so():
    texts = {"d.mda": with_result(SCRIPT, "See [old](old.md).").replace("See", "Do see"), "old.md": "# Old\n"}
    model = Texts({}).reread("d.mda", after(texts, plan(texts, "old.md", "new.md"))["d.mda"]).model
    assert is_edited(model, model.regions[0])
