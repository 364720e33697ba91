"""Chats: messages, roles, configuration lines, what is opaque, what is in effect, the normal form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.prapti import facts, format_edits, read, references
from prosa.dialects.prapti.configuration import effective
from prosa.dialects.prapti.write import NewMessage, write
from prosa.document import parse
from prosa.rules.engine import check_text
from prosa.source import SourceText, apply_edits
from tests.depth import examples
from tests.work import is_linear


def chat(text):
    source = SourceText(text, "chat.md")
    front = read_front(source)
    return read(front, parse(source, body=front.body))


def shown(text):
    return facts(chat(text)[0])


def rules(text):
    return [each.rule for each in check_text(SourceText(text), dialect="prapti").diagnostics]


def roles(text):
    return [(m["role"], m["name"], m["hidden"], m["disabled"]) for m in shown(text)["messages"]]


def keys(text):
    return [(each["key"], each["value"], each["line"]) for each in shown(text)["assignments"]]


def test_p2_p3_p4_messages_begin_at_level_three_headings_with_a_role():
    text = "% n = 2\nHead.\n\n# Title\n\n### @user/Ada:\n\nOne.\n\n## Part\n\n### Other\n\n### @assistant:\nTwo.\n"
    assert roles(text) == [
        ("_head", None, True, False),
        ("user", "Ada", False, False),
        ("assistant", None, False, False),
    ]
    messages = shown(text)["messages"]
    assert [message["line"] for message in messages] == [0, 6, 14]
    assert messages[0]["content"] == "Head.\n\n# Title"
    assert messages[1]["content"] == "One.\n\n## Part\n\n### Other"
    assert shown(text)["sent"] == [1, 2]


def test_p4_configuration_of_the_head_counts_and_its_text_is_never_sent():
    text = "% temperature = 0.5\n\n### @user:\n\nHello.\n"
    assert keys(text) == [("temperature", 0.5, 1)]
    assert shown(text)["sent"] == [1]


def test_p5_p6_p8_pa12_roles_decide_what_is_sent():
    text = "### @system:\n### @_note:\n% n = 3\n### //@user:\n% n = 4\n### @observer:\n### @user:\n"
    assert shown(text)["sent"] == [1, 5]
    assert keys(text) == [("n", 3, 3)]
    assert "unknown-role" in rules(text)


def test_p7_names_are_kept():
    assert [name for _, name, *_ in roles("### @user/Ada:\n### @assistant/Bo:\n### @system:\n")][1:] == [
        "Ada",
        "Bo",
        None,
    ]


def test_p9_p11_p14_lines_assign_or_act():
    text = '### @user:\n\n% temperature = 0.8\n% include "a b.md"\n% responders.default.top_p = 1\n%model="m"\n'
    config = shown(text)["messages"][1]["config"]
    assert [(each["kind"], each["key"], each["name"], each["args"]) for each in config] == [
        ("assign", "temperature", None, None),
        ("action", None, "include", '"a b.md"'),
        ("assign", "responders.default.top_p", None, None),
        ("assign", "model", None, None),
    ]
    assert [each["value"] for each in config] == [0.8, None, 1, "m"]
    assert list(config[0]) == ["kind", "key", "raw", "value", "name", "args", "line", "disabled"]


def test_p10_p12_pa10_configuration_lines_are_no_text_and_leave_no_double_blank():
    text = "### @user:\n\nBefore.\n\n% n = 2\n\nAfter.\n% top_p = 1\n% stream = true\n\nMore.\n\n//% n = 9\n"
    assert shown(text)["messages"][1]["content"] == "Before.\n\nAfter.\n\nMore."
    assert [key for key, *_ in keys(text)] == ["n", "top_p", "stream"]


def test_p12_p13_pa7_disabled_and_quoted_lines_with_indentation_and_depth():
    text = "### @user:\n\n   //% n = 1\n> % n = 2\n> > % n = 3\n>//% n = 4\n   % n = 5\n"
    config = shown(text)["messages"][1]["config"]
    assert [(each["value"], each["disabled"]) for each in config] == [
        (1, True),
        (2, False),
        (3, False),
        (4, True),
        (5, False),
    ]
    assert shown(text)["messages"][1]["content"].strip("> \n") == ""


def test_p14_the_last_enabled_assignment_wins():
    text = "% temperature = 0.8\n//% temperature = 0.6\n> % temperature = 0.7\n\n### @user:\n\nHi.\n"
    model, _ = chat(text)
    assert effective(model)["vars.temperature"].value == 0.7
    assert [value for _, value, _ in keys(text)] == [0.8, 0.7]


def test_pa9_a_bare_name_is_looked_up_in_order():
    text = "% dry_run = true\n% prapti.halt_on_error = false\n% temperature = 1\n% mine = 3\n\n### @user:\n"
    assert list(effective(chat(text)[0])) == [
        "prapti.dry_run",
        "prapti.halt_on_error",
        "vars.temperature",
        "vars.mine",
    ]
    assert rules(text) == ["user-variable"]


def test_pa8_values_are_json_and_unknown_fields_have_a_nearest():
    found = check_text(SourceText("% prapti.dry_rum = true\n% n = many\n\n### @user:\n"), dialect="prapti").diagnostics
    assert [(each.rule, each.severity) for each in found] == [
        ("unknown-field", "error"),
        ("configuration-literal", "error"),
    ]
    assert "prapti.dry_run" in found[0].notes[0]
    assert 'write "many"' in found[1].notes
    assert found[1].fix is not None


def test_pa8_var_looks_a_name_up_late_and_circles_end():
    model, _ = chat('% model = var(big)\n% big = "one"\n% big = "two"\n% a = var(b)\n% b = var(a)\n\n### @user:\n')
    assert effective(model)["vars.model"].value == "two"
    assert effective(model)["vars.a"].problem is not None


def test_p1_p15_pa1_pw1_code_is_opaque():
    text = "### @user:\n\n```\n### @system:\n% n = 2\n```\n\n    % n = 3\n\n`a\n% n = 4`\n"
    assert len(roles(text)) == 2
    assert keys(text) == []
    assert "% n = 2" in shown(text)["messages"][1]["content"]
    assert rules(text) == ["configuration-in-code"] * 3


def test_p15_pa13_comments_are_opaque():
    text = "### @user:\n\n<!--\n### @system:\n% n = 2\n-->\n\nText <!-- \n% n = 3 --> end.\n"
    assert len(roles(text)) == 2
    assert keys(text) == []


def test_p15_pa14_a_command_of_many_lines_ends_at_a_blank_line_or_heading():
    text = '### @user:\n\n%% stop = [\n  "a",\n  "b"\n]\n\nText.\n\n%% include x.md\nmore words\n### @system:\n\n%%\n'
    messages = shown(text)["messages"]
    assert messages[1]["config"][0]["value"] == ["a", "b"]
    assert messages[1]["config"][1]["args"] == "x.md\nmore words"
    assert messages[1]["content"] == "Text."
    assert rules(text)[-1:] == ["empty-configuration-line"]


def test_p15_pa15_roles_compare_without_case_and_keep_their_text():
    assert roles("### @User:\n### @SYSTEM:\n")[1:] == [("User", None, False, False), ("SYSTEM", None, False, False)]
    assert shown("### @User:\n### @SYSTEM:\n")["sent"] == [1, 2]


def test_p13_pa7_pa14_a_quoted_command_of_many_lines_loses_its_marks_and_ends_at_a_quoted_blank_line():
    text = '### @user:\n\n> > %% stop = [\n> >   "a",\n>> "b"\n> > ]\n> >\n> > More.\n'
    message = shown(text)["messages"][1]
    assert [(each["key"], each["value"], each["line"]) for each in message["config"]] == [("stop", ["a", "b"], 3)]
    assert message["content"] == "> >\n> > More."
    action = shown("> %% include x.md\n> more\n>\n> rest\n\n### @user:\n")["messages"][0]["config"][0]
    assert (action["args"], action["raw"]) == ("x.md\nmore", "include x.md\nmore")


def test_p8_nothing_is_said_about_configuration_in_a_disabled_message():
    assert rules("### //@user:\n\n% n = many\n% =\n%%\n\n### @user:\n") == []


def test_pa8_pa9_a_dotted_name_that_begins_nowhere_is_an_unknown_field_and_a_bare_one_a_variable():
    text = "% respnders.default.n = 1\n% mine = 1\n\n### @user:\n"
    found = check_text(SourceText(text), dialect="prapti").diagnostics
    assert [(each.rule, each.severity) for each in found] == [("unknown-field", "error"), ("user-variable", "hint")]
    assert "responders.default.n" in found[0].notes[0]


def test_pa9_a_seed_may_be_any_whole_number():
    assert rules("% seed = 0\n\n### @user:\n") == []
    assert rules("% seed = 0.5\n\n### @user:\n") == ["wrong-type"]


def test_x7_a_chat_chooses_no_tool():
    """X7. To choose among what is granted is worth a hint; a responder with tools of its own is refused."""
    assert rules('% tools = ["python"]\n\n### @user:\n') == ["refused-configuration"]
    text = '% tools = ["python"]\n% responders.a.tools = ["python"]\n\n### @user:\n'
    found = check_text(SourceText(text), dialect="prapti", strict=True).diagnostics
    assert [each.severity for each in found] == ["hint", "error"]


def test_pa1_a_disabled_line_in_code_was_never_executed():
    assert rules("### @user:\n\n```\n//% n = 1\n```\n") == []


def test_pa1_ticks_in_configuration_lines_open_no_code_around_the_next():
    text = '### @user:\n\n% stop = "`"\n% model = "`"\n'
    assert [key for key, *_ in keys(text)] == ["stop", "model"]


def test_pa10_all_blank_lines_behind_a_removed_line_go_where_one_stood_before_it():
    text = "### @user:\n\nOne.\n\n% n = 1\n\n\n\n% n = 2\n\nTwo.\n% n = 3\n\nThree.\n"
    assert shown(text)["messages"][1]["content"] == "One.\n\nTwo.\n\nThree."


def test_pa13_a_comment_behind_a_configuration_line_is_no_part_of_it():
    text = '% n = 2 <!-- two -->\n% include a.md <!-- x --> <!-- y -->\n% stop = "<!-- s -->"\n% model = "m<!--"\n'
    config = shown(text)["messages"][0]["config"]
    assert [each["value"] for each in config] == [2, None, "<!-- s -->", "m<!--"]
    assert config[1]["args"] == "a.md"


def test_pa3_an_escaped_heading_is_text():
    assert roles("### \\@user:\n\n### \\//@user:\n\n\\### @user:\n")[1:] == []


@pytest.mark.parametrize(
    ("heading", "message"),
    [
        ("### @user", ("user", None, False, False)),
        ("### @user: ###", ("user", None, False, False)),
        ("###   @user/Jean-Luc.2:  ", ("user", "Jean-Luc.2", False, False)),
        ("### //@user/A_b", ("user", "A_b", False, True)),
        ("### @größe/Ä7:", ("größe", "Ä7", False, False)),
        ("### @_head:", ("_head", None, True, False)),
    ],
)
def test_pa2_pa3_pa4_pa16_headings_that_begin_a_message(heading, message):
    assert roles(f"{heading}\n\nText.\n") == [("_head", None, True, False), message]


@pytest.mark.parametrize(
    ("text", "rule", "permissive", "strict"),
    [
        ("### @user\n", "message-heading-colon", "warning", "error"),
        ("### @user: hi\n", "message-heading-text", "hint", "hint"),
        ("### @observer:\n", "unknown-role", "warning", "error"),
        ("### @user:\n%%\n", "empty-configuration-line", "error", "error"),
        ("### @user:\n% n = 'x'\n", "configuration-literal", "error", "error"),
        ("### @user:\n% prapti.none = 1\n", "unknown-field", "error", "error"),
        ("### @user:\n% mine = 1\n", "user-variable", "hint", "hint"),
        ("### @assistant:\n% mine = 1\n", "configuration-by-assistant", "warning", "error"),
        ("### @user:\n    % n = 1\n", "configuration-in-code", "hint", "hint"),
    ],
)
def test_pa1_pa2_pa3_pa6_pa8_pa9_pa12_pa14_x4_every_finding_has_its_severity(text, rule, permissive, strict):
    for mode, severity in ((None, permissive), (True, strict)):
        (found,) = check_text(SourceText(text), dialect="prapti", strict=mode).diagnostics
        assert (found.rule, found.severity) == (rule, severity)


def test_p8_pa16_a_disabled_message_ends_at_the_next_message_heading_and_at_no_other():
    text = "### //@user:\n\n% n = 1\n\n### Other\n\n% n = 2\n\n### @_head:\n\n% n = 3\n\n### @user:\n"
    assert keys(text) == [("n", 3, 11)]
    assert shown(text)["sent"] == [3]


def test_pa12_texts_for_completion_have_roles_of_their_own():
    assert shown("### @prompt:\n### @Completion:\n### @observer:\n")["sent"] == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "### @user: hello",
        "###@user:",
        "#### @user:",
        "## @user:",
        "> ### @user:",
        "- ### @user:",
        "<div>\n### @user:\n</div>",
        "### @user/Ada Lovelace:",
        "    ### @user:",
    ],
)
def test_pa3_pa5_headings_that_are_ordinary_text(text):
    assert len(roles(f"{text}\n")) == 1


def test_pa3_text_behind_the_colon_is_a_hint():
    assert rules("### @user: hello\n") == ["message-heading-text"]


def test_pa6_pw2_in_a_message_of_an_assistant_only_sampling_counts():
    text = '### @assistant:\n\n% temperature = 0.1\n% model = "x"\n% plugins.load openai.chat\n'
    assert keys(text) == [("temperature", 0.1, 3)]
    assert rules(text) == ["configuration-by-assistant"] * 2


def test_pa6_what_a_model_wrote_is_nobodys_mistake_even_where_it_is_no_command():
    text = "### @assistant:\n\nTen\n%\n% = 3\n//% =\n% n = many\nends.\n"
    found = check_text(SourceText(text), dialect="prapti").diagnostics
    assert [(each.rule, each.severity) for each in found] == [("configuration-by-assistant", "warning")] * 3
    assert shown(text)["messages"][1]["content"] == "Ten\nends."


def test_x7_a_chat_chooses_no_endpoint_key_plugin_or_permission():
    text = '% base_url = "http://x"\n% openai.api_key = "k"\n% plugins.load evil\n% trust = true\n\n### @user:\n'
    found = check_text(SourceText(text), dialect="prapti").diagnostics
    assert [each.rule for each in found if each.rule == "refused-configuration"] == ["refused-configuration"] * 4


def test_pw5_a_wrong_qualifier_is_not_accepted():
    assert rules("### @user:\n\n% nonsense.load x\n") == ["unknown-action"]


@pytest.mark.parametrize("line", ["% model == x", "%", "%%", "% ", "% =", "% [1]", "% a b = 1 ="])
def test_pw10_strange_lines_get_a_clear_word(line):
    found = rules(f"### @user:\n\n{line}\n")
    assert found == [] or set(found) <= {"unreadable-configuration-line", "empty-configuration-line", "unknown-action"}
    assert found


def test_pa11_includes_are_references():
    model, _ = chat('### @user:\n\n% include notes.md\n% include.code "a b.py" python\n//% include no.md\n')
    assert [(ref.origin, ref.kind, ref.target) for ref in references(model)] == [
        ("include", "path", "notes.md"),
        ("include", "path", "a b.py"),
    ]


def formatted(text):
    model, _ = chat(text)
    return apply_edits(text, format_edits(model, FormatOptions()))


def test_pa2_the_normal_form_has_colons_and_spaces():
    text = "%n = 2\n\n### @user/Ada\n\n>%top_p = 1\n\nText. 100%sure\n\n### //@assistant\r\n%%include x\n"
    done = formatted(text)
    assert done == (
        "% n = 2\n\n### @user/Ada:\n\n>% top_p = 1\n\nText. 100%sure\n\n### //@assistant:\r\n%% include x\n"
    )
    assert formatted(done) == done


def test_p3_a_written_chat_reads_back():
    text = write([NewMessage("system", "Be short."), NewMessage("user", "Hi.", name="Ada")], head="% n = 2")
    assert roles(text)[1:] == [("system", None, False, False), ("user", "Ada", False, False)]
    assert [message["content"] for message in shown(text)["messages"]] == ["", "Be short.", "Hi."]


PIECES = st.sampled_from(
    [
        "### @user:",
        "### @assistant/Bo",
        "### //@system:",
        "% n = 1",
        "%% stop = [",
        '> % model = "x"',
        "//% a",
        "```",
        "~~~",
        "<!--",
        "-->",
        "    % b",
        "text",
        "",
        "- item",
        "> quote",
        "% include x.md",
        "% =",
        "ä\u2028😀",
    ]
)
CHATS = st.lists(PIECES, max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n", "\r"]).map(lambda end: end.join(lines))
)


@given(st.one_of(CHATS, st.text(max_size=300)))
@settings(max_examples=examples(250), deadline=None)
def test_p1_reading_never_fails_and_spans_are_what_they_claim(text):
    model, problems = chat(text)
    facts(model)
    effective(model)
    for message in model.messages:
        assert message.heading is None or message.role in message.role_span.of(text)
        for line in message.config:
            assert "%" in line.span.of(text)
            assert (line.key or line.name) == line.name_span.of(text)
    for problem in problems:
        assert problem.span.end <= len(text)


@given(CHATS)
@settings(max_examples=examples(200), deadline=None)
def test_pa2_the_normal_form_is_stable_and_means_the_same(text):
    done = formatted(text)
    assert formatted(done) == done
    before, after = shown(text), shown(done)
    assert [each["role"] for each in before["messages"]] == [each["role"] for each in after["messages"]]
    assert before["assignments"] == after["assignments"]


@pytest.mark.parametrize(
    "piece",
    [
        "%% a\n",
        "### @user:\n%% x\n",
        "> " * 50 + "% n = 1\n",
        "> %% a\n> b\n>\n",
        "%" * 100 + "\n",
        "% a = [" + "[" * 50 + "\n",
        "% a <!-- b --> <!-- c -->\n",
        "text\n\n\n\n% n = 1\n\n\n",
        '% stop = "`"\n',
        "a `b` c",
        "### //@user:\n% n = x\n",
    ],
)
def test_pw1_work_is_linear_in_hostile_chats(piece):
    def work(count):
        model, _ = chat(piece * count)
        facts(model)
        effective(model)
        format_edits(model, FormatOptions())

    assert is_linear(work, 200, 3000)
