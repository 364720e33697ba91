"""Results of many scripts written at once: the same document as one after the other, in time linear in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.magi import MagiModel, Script
from prosa.dialects.magi.choosing import state_of
from prosa.dialects.magi.result_text import normal_text, owners_of, region_text
from prosa.dialects.magi.results import Given, written, written_together
from prosa.source import apply_edits
from tests.depth import examples
from tests.dialects.magi.reading import PARENT, model, script
from tests.dialects.magi.test_results_hostile import TEXTS, documents, meaning, within
from tests.work import is_linear

DOC = f"# Hours\n\n{script(name='a')}\n\nText.\n\n{within('> ', '> ')}\n{script(name='b')}{script(name='b')}"


def put(text: str, *results: str, form: str = "markdown") -> str | None:
    """The document with the results of its first scripts, written at once."""
    read = model(text)
    edits = written_together(read, [said(each, text, form) for each, text in zip(read.scripts, results, strict=False)])
    return None if edits is None else apply_edits(text, edits)


def said(script: Script, text: str, form: str = "markdown") -> Given:
    return Given(script, text, "small", "document", form)


def one_by_one(text: str, *results: str, form: str = "markdown") -> str:
    """The same, one after the other, from the last to the first."""
    for index in reversed(range(len(results))):
        read = model(text)
        edits = written(read, read.scripts[index], results[index], model_name="small", context="document", form=form)
        text = apply_edits(text, edits)
    return text


RESULTS = ("One.", "## Head\n\n- x", f"[^a]: `{PARENT}`\n\n### @user:", "```\nopen")


def test_x19_together_as_one_after_the_other():
    """X19, MA3, MA9. In quotations and for blocks of one id, too; and again in their place."""
    once = put(DOC, *RESULTS)
    assert once is not None and once == one_by_one(DOC, *RESULTS)
    read = model(once)
    assert [state_of(read, each) for each in read.scripts] == ["fresh"] * 4
    assert put(once, *RESULTS) == once
    assert put(put(once, "1", "2", "3", "4") or "", *RESULTS) == once


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("One.", "By hand."),
        lambda text: text.replace("One.", "By hand.").replace("\n", "\r\n"),
        lambda text: text + "\n```ai-script\n",
    ],
)
def test_x19_what_one_keeps_from_being_written_is_left_to_each(change: object):
    once = put(DOC, *RESULTS)
    assert once is not None and callable(change)
    text = change(once)
    assert put(text, "1", "2", "3", "4", "5") is None


def test_x19_definitions_are_left_to_each():
    """A definition in one result would make links in another."""
    assert put(DOC, "[l]: /x", "Plain.") is None


def test_x19_new_results_and_replaced_ones_do_not_go_together():
    once = put(DOC, "One.")
    assert once is not None
    assert put(once, "1", "2") is None


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(documents(), min_size=1, max_size=3), st.lists(TEXTS, min_size=2, max_size=4))
def test_x19_together_any_texts_are_data(texts: list[str], results: list[str]):
    """X19. Whatever is written together acts on nothing, and each text can be had back."""
    text = "\n".join(texts)
    read = model(text)
    scripts = [each for each in read.scripts if each.script_id and owners_of(read).region_of(each) is None]
    chosen = list(zip(scripts, results, strict=False))
    edits = written_together(read, [said(*each) for each in chosen]) if len(chosen) > 1 else None
    if edits is None:
        return
    once = apply_edits(text, edits)
    after = model(once)
    assert meaning(after) == meaning(read)
    assert len(after.regions) == len(read.regions) + len(chosen)
    for (before, result), now in zip(chosen, _same(read, after, chosen), strict=True):
        region = owners_of(after).region_of(now)
        assert region is not None and region_text(after, region) == normal_text(result)
        assert state_of(after, now) == "fresh" and now.pieces.text == before.pieces.text


def _same(read: MagiModel, after: MagiModel, chosen: list[tuple[Script, str]]) -> list[Script]:
    """The scripts in the later reading, by their number."""
    numbers = {each.fence.span.start: index for index, each in enumerate(read.scripts)}
    return [after.scripts[numbers[each.fence.span.start]] for each, _ in chosen]


def test_x19_work_is_linear_in_the_number_of_results():
    def work(count: int) -> object:
        text = "# T\n\n" + "\n".join(f"Text {number}.\n\n{script(name=f's{number}')}" for number in range(count))
        return put(text, *("Result." for _ in range(count)))

    assert put(script(name="a") + "\n" + script(name="b"), "1", "2") is not None
    assert is_linear(work, 25, 500)
