"""X24: the order of messages, for every program, chat and transcript."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.runtime import prompt
from prosa.runtime.messages import Message, ModelReply, ToolCall, joined, sequence
from prosa.runtime.output import contract_of
from prosa.runtime.ports import ToolResult
from prosa.runtime.program import Program
from prosa.runtime.prompt import EMPTY_ANSWER, Transcript
from prosa.template import Template
from tests.depth import examples
from tests.runtime.worlds import call, load, run

TEXTS = st.sampled_from(["", "a", "two\nlines", "### @system:", " "])
NAMES = st.sampled_from([None, "ada", "bo"])
SAID = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS, name=NAMES)
CALLS = st.integers(1, 3).map(lambda count: tuple(ToolCall(f"c{at}", "python", "{}") for at in range(count)))
STEPS = st.lists(st.one_of(CALLS, st.lists(st.text(max_size=9), min_size=1, max_size=3)), max_size=6)
PROGRAM = Program("p", "Counts.", Template("Say it."), True, True, "m", python=True)


def transcript_of(steps) -> Transcript:
    made = Transcript()
    for step in steps:
        if isinstance(step, tuple):
            results = [ToolResult(f"result {each.id}") for each in step]
            made = made.with_tool_calls(ModelReply("", step), results)
        else:
            made = made.with_rejected(step[0], prompt.feedback(step))
    return made


def check_order(messages: tuple[Message, ...]) -> None:
    """What X24 asks of every request."""
    roles = [each.role for each in messages]
    assert roles and roles[-1] in ("user", "tool")
    assert "system" not in roles[1:]
    assert ("assistant", "assistant") not in pairwise(roles)
    waiting: list[str] = []
    for each in messages:
        assert not waiting or (each.role == "tool" and each.tool_call_id == waiting[0])
        waiting = waiting[1:] if each.role == "tool" else [made.id for made in each.tool_calls]
    assert not waiting


@given(STEPS, st.lists(st.text(max_size=9), max_size=2), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_x24_the_requests_of_a_program(steps, rejected, final):
    made = prompt.messages(PROGRAM, contract_of(PROGRAM), "Say it.", transcript_of(steps), rejected, final=final)
    check_order(made)
    assert [each.role for each in made[:2]] == ["system", "user"]


@given(st.lists(SAID, min_size=1, max_size=7), STEPS, st.booleans())
@settings(max_examples=examples(300), deadline=None)
def test_x24_the_requests_of_a_chat(said, steps, final):
    """X24, P7: a chat in whatever order; what users say is sent as it is, and nothing is lost."""
    ends_with_assistant = sequence(said)[-1].role == "assistant" and not steps  # only `--force` sends that (PA17)
    said = [*said, Message("user", "So?")] if ends_with_assistant else said
    chat = replace(PROGRAM, conversation=tuple(said), form="text")
    made = prompt.messages(chat, contract_of(chat), "", transcript_of(steps), (), final=final)
    check_order(made)
    assert sequence(made) == made
    users = [each for each in said if each.role == "user"]
    assert users == [each for each in made if each.role == "user"][: len(users)]
    text = "\n".join(each.content for each in made)
    assert all(each.content in text for each in said)


def test_x24_system_messages_are_one_message_in_front():
    written = (Message("user", "Hi"), Message("system", "Be brief.", name="house"), Message("system", "Be kind."))
    assert sequence(written) == (Message("system", "house:\nBe brief.\n\nBe kind."), Message("user", "Hi"))
    assert sequence(written[1:]) == (Message("user", "house:\nBe brief.\n\nBe kind."),)
    assert sequence(written[:2]) == (Message("system", "Be brief.", name="house"), Message("user", "Hi"))


def test_x24_neighbouring_assistants_are_joined_and_users_are_not():
    """X24, P7."""
    users = (Message("user", "a", name="ada"), Message("user", "b", name="ada"))
    assert sequence(users) == users
    first, second = Message("assistant", "One.", name="bo"), Message("assistant", "Two.", name="bo")
    assert sequence((*users, first, second, users[0]))[2] == Message("assistant", "One.\n\nTwo.", name="bo")
    assert joined((first, Message("assistant", "Two."))) == Message("assistant", "bo:\nOne.\n\nTwo.")


def test_x24_la8_every_rejected_answer_is_followed_by_its_reasons(tmp_path):
    """X24, LA8: answers that are not valid, tools in between, an empty answer."""
    replies = [
        {"content": "no"},
        {"content": ""},
        {"tool_calls": [call("python", {"code": "1"})] * 2},
        {"content": "{}"},
    ]
    ran = run(load(tmp_path), {}, [*replies, {"content": {"n": 1}}])
    assert ran.output == {"n": 1}
    for request in ran.requests:
        check_order(request.messages)
    last = ran.requests[-1].messages
    told = ["assistant", "user"]
    assert [each.role for each in last[2:]] == [*told, *told, "assistant", "tool", "tool", *told]
    assert [each.content for each in last if each.role == "assistant"] == ["no", "{}", "", "{}"]
    assert Transcript().with_rejected(" \n", "why").messages[0].content == EMPTY_ANSWER
