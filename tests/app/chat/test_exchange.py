"""Chats in other forms and back: messages of the OpenAI API, YMJ records, logs of `llm` (P3, PA6, PW8)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.convert.exchange import ExchangeProblem, Imported, chat_text, llm, openai, record
from prosa.dialects.front import read_front
from prosa.dialects.prapti.write import NewMessage
from prosa.dialects.ymj.format import payload_hash
from prosa.dialects.ymj.read import read as read_record
from prosa.document import parse
from prosa.source import SourceText
from tests.app.chat.chats import ready
from tests.app.chat.test_escape import HOSTILE, LETTERS, plain
from tests.app.chat.turns import User
from tests.depth import examples

NAMES = st.none() | st.text(alphabet="aZ9_.-ü李", min_size=1, max_size=6)
MESSAGES = st.lists(
    st.builds(NewMessage, st.sampled_from(["user", "assistant", "system"]), HOSTILE | LETTERS, NAMES), max_size=6
)


def keyed(each):
    keys = st.sampled_from(["role", "content", "messages", "prompt", "response", "system", "name", "type", "text"])
    return st.dictionaries(keys, each | st.sampled_from(["user", "tool", "text"]), max_size=4)


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path)


def read_again(folder, text: str) -> list[NewMessage]:
    """The messages of a chat in a file, as an export would give them."""
    return [NewMessage(each.role, each.content, each.name) for each in ready(folder, text).spoken]


def assert_same(found: list[NewMessage], wanted: list[NewMessage]) -> None:
    """The same, up to what a chat file cannot hold: see `chat_text`."""
    kept = [each for each in wanted if each.content.strip()]
    assert [(each.role, each.name) for each in found] == [(each.role, each.name) for each in kept]
    for one, other in zip(found, kept, strict=True):
        said = plain(other.content)
        assert one.content.startswith(said)
        assert re.fullmatch(r"\s*(?:`{3,}|~{3,})?", one.content[len(said) :])


@settings(max_examples=examples(120), deadline=None)
@given(MESSAGES)
def test_p3_pa6_any_messages_become_a_chat_with_the_same_messages(tmp_path_factory, messages):
    """P3, PA6."""
    folder = tmp_path_factory.mktemp("any")
    text = chat_text(Imported(tuple(messages), {"model": "m", "temperature": 0.5}))
    assert_same(read_again(folder, text), messages)
    conversation = ready(folder, text)
    assert conversation.values["vars.model"].value == "m" and len(conversation.values) == 2


@settings(max_examples=examples(80), deadline=None)
@given(MESSAGES)
def test_p3_messages_of_the_api_and_logs_come_back_as_they_were(messages):
    """P3. These forms hold any message that a file can hold, so nothing is lost at all."""
    whole = (NewMessage(each.role, re.sub("[\ud800-\udfff]", "", each.content), each.name) for each in messages)
    kept = [each for each in whole if each.content]
    assert list(openai.read(openai.export(kept)).messages) == kept
    assert list(llm.read(llm.export(kept, "m")).messages) == kept


@settings(max_examples=examples(60), deadline=None)
@given(MESSAGES, st.sampled_from(["\n", "\r\n"]))
def test_y2_y18_a_record_holds_the_chat_to_the_letter_and_its_hash_is_right(messages, end):
    """Y2, Y18."""
    text = chat_text(Imported(tuple(messages)))
    made = record.export(text.replace("\n", end), "talk", messages)
    back, notes = record.read(made, "talk.ymj")
    assert back == text.replace("\r", "\n") and notes == ()
    source = SourceText(made)
    front = read_front(source)
    model, problems = read_record(front, parse(source, body=front.body))
    assert payload_hash(model).verified and model.text("kind") == "trace"
    assert [each for each in problems if each.severity == "error"] == []


def test_pw8_a_record_names_nobody_but_who_speaks(user: User):
    """PW8."""
    user.write("### @user/Ada:\n\nHi,\nthere.\n")
    done = user.chat("--export", "ymj")
    assert done.status == 0 and done.out.startswith(
        "---\ndoc_summary: Hi,\nkind: trace\nversion: 1.0.0\nsubject: chat\n"
    )
    assert "maintained_by: Ada\n" in done.out and str(user.folder) not in done.out


def test_an_export_is_what_was_said(user: User):
    user.write(
        '% model = "m"\n\n### @system:\n\nBe brief.\n\n### @user/Ada:\n\nHi. <!-- hm -->\n% n = 1\n\n'
        "### @_tools:\n\nx\n\n### @assistant:\n\n\\% no\n\n### @user/Ada:\n\n"
    )
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi.", "name": "Ada"},
        {"role": "assistant", "content": "% no"},
    ]
    assert json.loads(user.chat("--export", "openai").out) == said
    rows = json.loads(user.chat("--export", "llm").out)
    assert [list(row) for row in rows] == [["model", "prompt", "system", "response", "messages"]]
    assert (rows[0]["model"], rows[0]["prompt"], rows[0]["response"]) == ("m", "Hi.", "% no")
    target = user.folder / "out.json"
    done = user.chat("--export", "openai", "--output", target)
    assert (done.status, done.out, json.loads(target.read_text())) == (0, "", said)


@pytest.mark.parametrize("form", ["openai", "llm", "ymj"])
def test_what_was_exported_can_be_brought_in_once(user: User, form: str):
    user.write('% model = "m"\n\n### @user:\n\nHi.\n\n### @assistant:\n\nHo.\n\n### @user:\n\n')
    target = user.folder / "exported"
    assert user.chat("--export", form, "--output", target).status == 0
    new = user.folder / "new.md"
    done = user.chat("--import", form, target, file=new)
    assert (done.status, done.out, done.err) == (0, "", f"wrote {new}\n")
    wanted = user.text if form != "openai" else user.text.removeprefix('% model = "m"\n\n')
    assert new.read_text() == wanted
    again = user.chat("--import", form, target, file=new)
    assert again.status == 2 and "exists; nothing was written" in again.err


def test_logs_of_llm_itself_are_understood():
    rows = [
        {"id": "2", "model": "gpt-4o", "prompt": "And?", "system": None, "response": "So.", "datetime_utc": "2026-02"},
        {"id": "1", "model": "gpt-4o", "prompt": "Hi", "system": "Be.", "response": "Ho", "datetime_utc": "2026-01"},
    ]
    found = llm.read(json.dumps(rows))
    assert chat_text(found) == (
        '% model = "gpt-4o"\n\n### @system:\n\nBe.\n\n### @user:\n\nHi\n\n### @assistant:\n\nHo\n\n'
        "### @user:\n\nAnd?\n\n### @assistant:\n\nSo.\n\n### @user:\n\n"
    )


def test_what_a_chat_has_no_place_for_is_told_and_stays_hidden(tmp_path):
    given = {
        "model": "m",
        "temperature": 0.2,
        "stream": True,
        "max_tokens": "many",
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "See"}, picture("https://example.org/a.png")]},
            {"role": "user", "content": [picture("data:image/png;base64,AA")], "name": "A B"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "### @user:"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "```\n### @user:\n"},
            {"role": "user", "content": "", "name": "A B"},
            {"role": "user", "content": "Well?", "name": "A B"},
        ],
    }
    found = openai.read(json.dumps(given))
    assert found.settings == {"model": "m", "temperature": 0.2} and len(found.notes) == 6
    assert read_again(tmp_path, chat_text(found)) == [
        NewMessage("system", "Be brief."),
        NewMessage("user", "See\n\n![picture](https://example.org/a.png)"),
        NewMessage("user", "Well?", "A_B"),
    ]


def picture(url: str) -> dict[str, object]:
    return {"type": "image_url", "image_url": {"url": url}}


@pytest.mark.parametrize(
    ("form", "text", "words"),
    [
        ("openai", "{", "not valid JSON: line 1"),
        ("openai", "3", "expected a JSON list of messages"),
        ("openai", "[3]", "message 1 is not an object with a role"),
        ("openai", '[{"role": "judge", "content": "x"}]', "message 1 has the role `judge`"),
        ("openai", '[{"role": "user", "content": 3}]', "neither text nor a list of parts"),
        ("llm", "{}", "expected a JSON list of objects"),
        ("llm", "[{}]", "row 1 has neither `prompt` nor `response`"),
        ("llm", '[{"prompt": 3}]', "row 1: `prompt` is not a text"),
        ("llm", '[{"conversation_id": "a"}, {"conversation_id": "b"}]', "2 conversations in one file"),
        ("ymj", "no record", "wrong"),
    ],
)
def test_what_is_no_conversation_is_told(user: User, form: str, text: str, words: str):
    origin = user.folder / "from"
    origin.write_text(text)
    done = user.chat("--import", form, origin)
    assert done.status == 2 and done.err.startswith(f"error: {origin}: ") and not user.path.exists()
    assert words in done.err or form == "ymj"


@settings(max_examples=examples(60), deadline=None)
@given(
    st.recursive(st.none() | st.text(max_size=5) | st.integers(), lambda each: st.lists(each, max_size=4) | keyed(each))
)
def test_any_json_is_a_conversation_or_is_refused_in_words(data):
    for form in (openai, llm):
        try:
            found = form.read(json.dumps(data))
        except ExchangeProblem as problem:
            assert str(problem)
        else:
            assert chat_text(found)


def test_what_comes_through_a_pipe_is_called_standard_input(tmp_path):
    done = User(tmp_path).chat("--import", "openai", "-", typed="{", file=tmp_path / "new.md")
    assert done.status == 2
    assert done.err.startswith("error: standard input: not valid JSON")
