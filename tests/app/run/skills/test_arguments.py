"""The request in the text of a skill: `$ARGUMENTS`, `$1` and names, as agents fill them (X32)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.app.options import Options
from prosa.app.run.skills import skills_program
from prosa.dialects.skill_md.arguments import Arguments, arguments_of, filled, split
from prosa.settings import Settings
from tests.app.run.skills.worlds import call, run, skill

REQUEST = 'moment "two words" $1'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do $ARGUMENTS.", f"Do {REQUEST}."),
        ("Move $1 to $2, $3.", "Move moment to two words, $1."),
        ("Move $0 to $1, $2.", "Move moment to two words, $1."),
        ("$ARGUMENTS[1], $ARGUMENTS[9]", f"two words, $ARGUMENTS[9]\n\nARGUMENTS: {REQUEST}"),
        ("$1 and $4", f"moment and $4\n\nARGUMENTS: {REQUEST}"),
        (
            "$1 src/$1/x costs $1.50 or $12, \\$1 $2 $3",
            "moment src/moment/x costs $1.50 or $12, \\$1 two words $1",
        ),
        ("$ARGUMENTS_LIST $HOME $ARGUMENTS", f"$ARGUMENTS_LIST $HOME {REQUEST}"),
    ],
)
def test_x32_a_request_is_filled_in_once(text, expected):
    taken = arguments_of(text, text)
    assert taken is not None
    assert filled(text, REQUEST, taken) == expected


def test_x32_named_arguments_stand_for_words():
    taken = arguments_of("Make $name of $type, $names", "", names=("name", "type"))
    assert taken is not None
    assert filled("Make $name of $type, $names", "bar 'a b'", taken) == "Make bar of a b, $names"


def test_x32_words_of_a_shell_are_no_arguments():
    text = "```sh\nawk '{print $1}'\n```\n"
    assert arguments_of(text, "") is None
    assert arguments_of(text, "", declared=True) == Arguments()
    for text in ("It costs $15, or $5.", "free: $0 of $X/month", "**PLG ($0-$10K):** $1K", "$0 (never paying)"):
        assert arguments_of(text, text) is None


@given(st.text(), st.text())
def test_x32_text_without_a_place_comes_back_unchanged(text, request):
    if "$" not in text:
        assert filled(text, request, Arguments(("a",))).startswith(text)


@given(st.text())
def test_x32_a_request_is_data_and_nothing_of_it_is_lost(request):
    assert filled("[$ARGUMENTS]", request, Arguments()) == f"[{request}]"
    text = filled("[$1]", request, Arguments())
    assert request in text or [text[1:-1]] == split(request) or not split(request)


def test_x32_a_skill_that_takes_arguments_is_the_message_itself(tmp_path):
    home = skill(tmp_path, body="Fix issue $1 of $ARGUMENTS in ${CLAUDE_SKILL_DIR}.\n")
    ran = run(skills_program((), Options(), Settings(), chosen=home), "7 now {{ .x }}", [{"content": "x"}])
    assert ran.first["user"] == "Fix issue 7 of 7 now {{ .x }} in /skill."
    assert "Fix issue" not in ran.first["system"]


def test_x32_a_model_that_loads_a_skill_says_on_what(tmp_path):
    home = skill(tmp_path, body="Fix $ARGUMENTS.\n")
    replies = [call("skill", name="greeting", arguments="issue 7"), {"content": "x"}]
    ran = run(skills_program([home], Options(), Settings()), "Please fix issue 7.", replies)
    assert ran.answer().endswith("Fix issue 7.")
