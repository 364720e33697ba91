"""What is sent of a chat: roles, names, text without configuration and comments, code as it is (P2–P8, PA1–PA18)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.app.options import Options
from prosa.dialects.prapti.read import mentioned, wire_names
from prosa.render.turns import turns_data, turns_text
from prosa.runtime.errors import ProgramRefused, RunError
from tests.app.chat.chats import around, chat, ready, sent
from tests.depth import examples


def test_p2_p3_p4_p5_p6_p8_what_is_hidden_disabled_or_a_head_is_not_sent(tmp_path):
    """P2, P3, P4, P5, P6, P8."""
    text = (
        "Notes of mine.\n% temperature = 0.5\n\n### @system:\n\nBe brief.\n\n### @_aside:\n\nHidden.\n% top_p = 0.9\n\n"
        "### //@user:\n\nNot this.\n% n = 9\n\n### @user:\n\nOne.\n\n### A title\n\n### @Assistant:\n\nTwo.\n\n"
        "### @User:\n\nThree.\n"
    )
    conversation = ready(tmp_path, text)
    assert sent(conversation) == [
        ("system", None, "Be brief."),
        ("user", None, "One.\n\n### A title"),
        ("assistant", None, "Two."),
        ("user", None, "Three."),
    ]
    assert conversation.parameters == {"temperature": 0.5, "top_p": 0.9}
    assert conversation.n == 1


def test_p7_p7b_pa4_pa4b_names_of_users_and_systems_are_passed_reduced(tmp_path):
    """P7, P7b, PA4, PA4b."""
    text = (
        "### @system/House.Rules:\nA\n### @user/Jean-Luc:\nB\n### @user/Zoë:\nC\n### @user/Zoe:\nD\n### @user/李:\nE\n"
    )
    names = [name for _, name, _ in sent(ready(tmp_path, text))]
    assert names == ["House_Rules", "Jean-Luc", "Zoe", "Zoe-2", "_"]


def test_pa4b_reduced_names_stay_apart_and_short():
    """PA4b."""
    made = wire_names(["李", "王", "x" * 80, "x" * 81, "a b", "a.b"])
    assert len(set(made.values())) == 6
    assert all(0 < len(name) <= 64 and name.isascii() for name in made.values())


def test_pa18_names_of_assistants_go_only_where_the_service_takes_them(tmp_path):
    """PA18."""
    text = "### @user:\nA\n### @assistant/Bo:\nB\n### @user:\nC\n"
    assert [name for _, name, _ in sent(ready(tmp_path, text))] == [None, "Bo", None]
    elsewhere = ready(tmp_path, text, choices=Options(base_url="http://127.0.0.1:9/v1"))
    assert [name for _, name, _ in sent(elsewhere)] == [None, None, None]
    assert elsewhere.model.messages[2].name == "Bo"


def test_p9_p10_p12_p13_pa10_configuration_lines_are_never_sent(tmp_path):
    """P9, P10, P12, P13, PA10."""
    text = '### @user:\n\nA\n\n% n = 1\n\n//% n = what\n> % top_p = 1\n\nB\n%% model =\n  "m"\n\nC\n'
    conversation = ready(tmp_path, text)
    assert sent(conversation) == [("user", None, "A\n\nB\n\nC")]
    assert (conversation.model_name, conversation.parameters) == ("m", {"top_p": 1})


def test_pa1_code_is_sent_as_it_is(tmp_path):
    """PA1, P1."""
    code = "```\n### @system:\n% n = 2\n<!-- kept -->\n```\n\n    % indented <!-- too -->"
    assert sent(ready(tmp_path, f"### @user:\n\nLook:\n\n{code}\n")) == [("user", None, f"Look:\n\n{code}")]


def test_pa1b_old_documents_are_read_the_old_way_on_demand(tmp_path):
    """PA1b."""
    text = "### @user:\n\nA\n\n```\n% temperature = 0.1\n### @assistant:\n```\nB\n\n### @user:\n\nC\n"
    assert len(ready(tmp_path, text).messages) == 2
    old = ready(tmp_path, text, legacy=True)
    assert [(role, words) for role, _, words in sent(old)] == [
        ("user", "A\n\n```"),
        ("assistant", "```\nB"),
        ("user", "C"),
    ]
    assert old.parameters == {"temperature": 0.1}


def test_pa13_pa13b_comments_are_not_sent_and_configure_nothing(tmp_path):
    """PA13, PA13b."""
    comment = "<!-- one\n\n% temperature = 9\n-->"
    text = f"### @user:\n\nA <!-- aside --> B\n\n{comment}\n\nC\n% n = 1 <!-- why -->\n`<!-- code -->`\n"
    conversation = ready(tmp_path, text)
    assert sent(conversation) == [("user", None, "A  B\n\nC\n`<!-- code -->`")]
    assert conversation.parameters == {}


def test_p14_pa9_later_lines_and_the_responders_own_win(tmp_path):
    """P14, PA9."""
    text = (
        "% temperature = 0.8\n//% temperature = 0.6\n> % temperature = 0.7\n% vars.top_p = 0.5\n"
        '% responders.default.top_p = 0.9\n% model = var(best)\n% best = "one"\n% best = "two"\n'
        '% stop = ["END"]\n% seed = 7\n% max_tokens = 99\n% mine = 1\n\n### @user:\n\nHi.\n'
    )
    conversation = ready(tmp_path, text)
    assert conversation.model_name == "two"
    assert conversation.parameters == {"temperature": 0.7, "top_p": 0.9, "stop": ["END"], "seed": 7, "max_tokens": 99}


def test_p14_a_line_with_an_exclamation_mark_counts_in_the_last_message_only(tmp_path):
    """P14."""
    text = "### @user:\n\nA\n%! temperature = 1\n\n### @assistant:\n\nB\n\n### @user:\n\nC\n%! top_p = 1\n"
    assert ready(tmp_path, text).parameters == {"top_p": 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("% temperature = hot", "not JSON"),
        ("% prapti.dry_rum = true", "no setting"),
        ("% n = 0", "at least 1"),
        ("% n = 99", "at most 16"),
        ("% temperature = var(nothing)", "not set anywhere"),
        ('% temperature = var(x)\n% x = "warm"', "must be a number"),
        ("% includes a.md", "no command"),
    ],
)
def test_pa8_pa9_pw10_what_is_wrong_stops_before_anything_is_sent(tmp_path, line, words):
    """PA8, PA9, PW10."""
    with pytest.raises(ProgramRefused, match=r"chat\.md:") as caught:
        ready(tmp_path, f"{line}\n\n### @user:\n\nHi.\n")
    assert words in str(caught.value)
    told = ready(tmp_path, f"% halt_on_error = false\n{line}\n\n### @user:\n\nHi.\n")
    assert any(words in each.message for each in told.diagnostics)
    assert sent(told) == [("user", None, "Hi.")]


def test_pa12_unknown_roles_are_not_sent_with_a_warning(tmp_path):
    """PA12."""
    conversation = ready(tmp_path, "### @narrator:\nOnce.\n### @user:\nHi.\n")
    assert sent(conversation) == [("user", None, "Hi.")]
    assert [(each.rule, each.severity) for each in conversation.diagnostics] == [("unknown-role", "warning")]


def test_pa12_prompts_become_one_raw_text(tmp_path):
    """PA12."""
    text = (
        "### @system:\nNo.\n### @prompt:\nOnce\n### @completion:\n\\% upon\n### @prompt:\na time\n% temperature = 1\n"
    )
    (turn,) = ready(tmp_path, text).turns
    assert (turn.mode, turn.prompt, turn.parameters) == ("completion", "Once\n\n% upon\n\na time", {"temperature": 1})
    assert turn.messages == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no message"),
        ("Only a head.\n", "no message"),
        ("### @user:\n\nHi.\n\n### @assistant:\n\nHello.\n", "of the assistant"),
        ("### @user:\n\nHi.\n\n### @user:\n\n% n = 1\n", "empty"),
        ("### @system:\n\nHi.\n", "of the system"),
        ("% responder.new raw completion\n% responder.push raw\n\n### @user:\n\nHi.\n", "takes messages of the user"),
    ],
)
def test_pa17_nothing_is_sent_unless_the_last_message_asks(tmp_path, text, why):
    """PA17."""
    conversation = ready(tmp_path, text)
    assert conversation.turns == () and why in conversation.nothing


def test_pa17_a_hidden_message_at_the_end_does_not_matter_and_force_asks_anyway(tmp_path):
    """PA17."""
    assert sent(ready(tmp_path, "### @user:\n\nHi.\n\n### @_note:\n\nx\n")) == [("user", None, "Hi.")]
    text = "### @user:\n\nHi.\n\n### @assistant:\n\nHello.\n"
    assert len(ready(tmp_path, text, force=True).messages) == 2


def test_pa6_pa6b_pw2_what_a_model_wrote_configures_nothing_and_is_sent_as_it_wrote_it(tmp_path):
    """PA6, PA6b, PW2."""
    wrote = '% temperature = 0.1\n% model = "mine"\n% include "secret.txt"\n% plugins.load evil\n\\% n = 3\nSo.'
    (tmp_path / "secret.txt").write_text("secret")
    conversation = ready(tmp_path, f"### @user:\n\nA\n\n### @assistant:\n\n{wrote}\n\n### @user:\n\nB\n")
    assert sent(conversation)[1] == ("assistant", None, "% n = 3\nSo.")
    assert (conversation.model_name, conversation.parameters) == (None, {"temperature": 0.1})


def test_x7_a_chat_chooses_no_endpoint_key_or_permission(tmp_path):
    """X7."""
    lines = '% openai.api_base = "http://evil"\n% vars.api_key = "k"\n% permissions = true\n% plugins.load evil\n'
    told = ready(tmp_path, f"% halt_on_error = false\n{lines}\n### @user:\n\nHi.\n")
    refused = [each for each in told.diagnostics if each.rule == "refused-configuration"]
    assert [each.start.line for each in refused] == [2, 3, 4, 5]
    assert not [path for path in told.values if "api" in path or "permissions" in path]


def test_what_would_be_sent_is_shown_as_text_and_as_data(tmp_path):
    text = '% model = "m"\n### @system:\nBe brief.\n### @user/Ada:\nHi.\n'
    turns = ready(tmp_path, text).turns
    assert turns_text(turns) == "-- system\nBe brief.\n\n-- user/Ada\nHi."
    assert turns_data(turns) == [
        {
            "responder": "default",
            "model": "m",
            "provider": None,
            "n": 1,
            "parameters": {},
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi.", "name": "Ada"},
            ],
        }
    ]


def test_an_edit_of_what_is_answered_changes_its_digest(tmp_path):
    text = "### @user:\n\nHi.\n"
    first = ready(tmp_path, text).answered
    assert ready(tmp_path, text + "\n<!-- a remark -->\n").answered == first
    assert ready(tmp_path, text + "More.\n").answered != first
    assert ready(tmp_path, "% temperature = 1\n" + text).answered != first


TWO = (
    '% responder.new Ada chat\n% responder.new Bo chat\n% responders.Bo.model = "b"\n\n'
    "### @system:\n\nAll.\n\n### @system/Ada:\n\nYou are Ada.\n\n### @system/Bo:\n\nYou are Bo.\n\n"
    "### @user/Eve:\n\nHello @Ada.\n\n### @assistant/Ada:\n\nHi.\n\n### @user/Eve:\n\n"
)


def test_several_participants_each_see_the_chat_their_own_way(tmp_path):
    conversation = ready(tmp_path, TWO + "And you, @bo? Then @Ada again.\n")
    assert [turn.name for turn in conversation.turns] == ["Bo", "Ada"]
    assert [turn.model_name for turn in conversation.turns] == ["b", None]
    last = ("user", "Eve", "And you, @bo? Then @Ada again.")
    bo, ada = ([(each.role, each.name, each.content) for each in turn.messages] for turn in conversation.turns)
    start = ("user", "Eve", "Hello @Ada.")
    assert bo == [("system", None, "All.\n\nYou are Bo."), start, ("user", "Ada", "Hi."), last]
    assert ada == [
        ("system", None, "All.\n\nYou are Ada."),
        start,
        ("assistant", "Ada", "Hi."),
        last,
    ]


def test_without_a_mention_the_responder_that_was_pushed_answers(tmp_path):
    assert ready(tmp_path, TWO + "Well?\n% responder.push Bo\n").turns[0].name == "Bo"
    assert ready(tmp_path, TWO + "Well?\n").turns[0].name is None
    assert ready(tmp_path, '% responder_stack = ["Ada"]\n' + TWO + "Well?\n").turns[0].name == "Ada"


def test_a_mention_is_a_word_of_its_own():
    assert mentioned("mail ada@example.org, a/@Ada, @Ada. @ADA @nobody", ["Ada", "Bo"]) == ("Ada",)


def test_a_file_that_is_included_calls_nobody(tmp_path):
    (tmp_path / "note.txt").write_text("@Bo")
    assert ready(tmp_path, TWO + 'Look.\n% include "note.txt"\n').turns[0].name is None


def test_a_provider_nobody_knows_is_an_error_with_the_nearest(tmp_path):
    import asyncio

    from prosa.app.chat.answer import answer

    conversation = ready(tmp_path, '% provider = "antropic"\n\n### @user:\n\nHi.\n')
    with pytest.raises(RunError, match="antropic") as caught:
        asyncio.run(answer(conversation, Options(), around(tmp_path)))
    assert "anthropic" in caught.value.hint


def test_pw9_two_chats_share_nothing(tmp_path):
    """PW9."""
    first = ready(tmp_path, "% responder.new Ada chat\n% responder.push Ada\n\n### @user:\n\nHi.\n", name="a.md")
    second = ready(tmp_path, "### @user:\n\nHi.\n", name="b.md")
    assert (first.turns[0].name, second.turns[0].name) == ("Ada", None)


def test_pa1b_without_the_switch_the_reader_is_as_before():
    """PA1b."""
    assert len(chat("### @user:\n\n```\n### @user:\n```\n").messages) == 2
    assert len(chat("### @user:\n\n```\n### @user:\n```\n", legacy=True).messages) == 3


@settings(max_examples=examples(60), deadline=None)
@given(st.text(alphabet='#@%!"=var()use: \n<!->`~[]{}1.,/\\', max_size=120))
def test_whatever_a_chat_says_it_is_made_ready_or_refused_in_words(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("any")
    try:
        conversation = ready(folder, f"### @user:\n\n{text}\n")
    except ProgramRefused as refused:
        assert "chat.md:" in refused.message
    else:
        assert conversation.turns or conversation.nothing


def test_pa18_code_speaks_to_nobody(tmp_path):
    """PA18, PA1. A name in code is no mention."""
    text = "% responder.new Ada chat\n\n### @user:\n\n`@Ada` and\n\n```python\n@Ada\ndef f(): ...\n```\n"
    assert [turn.name for turn in ready(tmp_path, text).turns] == [None]
    assert [turn.name for turn in ready(tmp_path, f"{text}\n@Ada?\n").turns] == ["Ada"]


def test_pa3_pa4_a_heading_that_is_almost_one_of_a_message_is_told_before_it_is_sent_as_text(tmp_path):
    """PA3, PA4."""
    conversation = ready(tmp_path, "### @system:\n\nBe brief.\n\n### @user/Jean Luc:\n\nHi.\n\n### @user:\n\nSo?\n")
    assert sent(conversation)[0] == ("system", None, "Be brief.\n\n### @user/Jean Luc:\n\nHi.")
    assert [(each.rule, each.severity, each.start.line) for each in conversation.diagnostics] == [
        ("message-heading-text", "hint", 5)
    ]
