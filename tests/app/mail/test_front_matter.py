"""L47, LA33. What front matter says of mailboxes and of imports that are not waited for."""

from __future__ import annotations

import pytest

from prosa.dialects.markdownlang.as_dialect import facts
from prosa.dialects.markdownlang.read import read
from prosa.records.plan import plan
from prosa.runtime.digest import closure_digests
from prosa.runtime.program import Mailbox
from prosa.source import SourceText
from tests.runtime.worlds import load, text_of


def model_of(more: str):
    return read(SourceText(text_of(more=more), "number.md"))


@pytest.mark.parametrize(
    ("more", "name", "sends", "expires"),
    [
        ("mailbox: true\n", "number", None, None),
        ("mailbox: {}\n", "number", None, None),
        ("mailbox: {name: ./send}\n", "send", None, None),
        ("mailbox: {send: []}\n", "number", (), None),
        ("mailbox: {send: [review, ./send], expires: 30d}\n", "number", ("review", "send"), 30 * 86_400.0),
    ],
)
def test_la33_a_mailbox_is_asked_for_in_front_matter(more, name, sends, expires):
    model, problems = model_of(more)
    assert not problems and model.mailbox is not None
    assert (model.mailbox.name, model.mailbox.sends, model.mailbox.expires) == (name, sends, expires)
    assert facts(model)["mailbox"]["name"] == name


@pytest.mark.parametrize("more", ["", "mailbox: false\n", "mailbox:\n"])
def test_la33_without_asking_there_is_none(more):
    assert model_of(more)[0].mailbox is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("mailbox: 3\n", "`mailbox` must be true, false or a mapping, not a number"),
        ("mailbox: [a]\n", "`mailbox` must be true, false or a mapping, not a list"),
        ("mailbox: {name: a b}\n", "`mailbox.name` must be the name of a mailbox: letters, digits, `_` and `-`"),
        ("mailbox: {send: é}\n", "`mailbox.send` must be a list of strings, not a string"),
        ("mailbox: {expires: soon}\n", "`mailbox.expires` must be a time above zero"),
        ("mailbox: {name: user}\n", "neither a program with a mailbox nor the mailbox is called `user`"),
        ("mailbox: {nmae: a}\n", "`nmae` is not a field of `mailbox`"),
        ("imports: [{wait: false}]\n", "`imports.path` is missing: an import needs a string"),
        ("imports: [{path: a.md, wait: maybe}]\n", "`imports.wait` must be true or false, not a string"),
        ("imports: [[a.md]]\n", "an item of `imports` must be a string or a mapping, not a list"),
    ],
)
def test_la33_what_is_wrong_is_said_with_its_place(more, message):
    _, problems = model_of(more)
    assert [each.message for each in problems if each.message.startswith(message)], problems


def test_la33_no_program_passes_for_who_sends_by_hand():
    text = text_of("user", more="mailbox: {name: desk}\n")
    (problem,) = read(SourceText(text, "user.md"))[1]
    assert (problem.rule, problem.span.of(text)) == ("wrong-form", "mailbox")
    assert read(SourceText(text_of("user"), "user.md"))[1] == ()


def test_l47_imports_may_be_paths_or_mappings():
    model, problems = model_of("imports: [a.md, {path: b.md}, {path: c.md, wait: false}]\n")
    assert not problems
    assert [(each.text, each.wait) for each in model.imports] == [("a.md", True), ("b.md", True), ("c.md", False)]


def test_l47_a_plan_tells_of_mailboxes_and_of_calls_that_are_not_waited_for(tmp_path):
    for name in ("helper", "other"):
        (tmp_path / f"{name}.md").write_text(text_of(name, more="mailbox: true\n"), encoding="utf-8")
    imports = "imports: [{path: helper.md, wait: false}, other.md]\n"
    program = load(tmp_path, text_of("boss", more=f"{imports}mailbox: {{name: desk}}\n"))
    assert (program.mailbox, program.tickets, program.addresses) == (Mailbox("desk"), ("helper",), ("helper", "other"))
    planned = plan(program, None, has_input=False, service="nobody")
    assert [each.name for each in planned.tools if each.kind in ("mail", "program")] == [
        *("mail_send", "mail_receive", "mail_query", "helper", "other"),
    ]
    assert "receives messages from the mailbox desk" in planned.effects
    assert "may send messages to the mailbox helper, the mailbox other, who wrote to it" in planned.effects
    assert "may call helper and not wait for it" in planned.effects and "may call other" in planned.effects


def test_x25_a_mailbox_is_part_of_what_a_program_is_and_changes_no_other(tmp_path):
    plain = closure_digests(load(tmp_path, text_of()))
    with_box = closure_digests(load(tmp_path, text_of(more="mailbox: true\n")))
    named = closure_digests(load(tmp_path, text_of(more="mailbox: {name: desk}\n")))
    assert len({plain, with_box, named}) == 3
