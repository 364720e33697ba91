"""The agreement: its phrases, its record, the flow, the gate (L38–L41, LA29, LW12)."""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.adapters.files.agreement_store import agreement_path, check_agreement, load_agreement, save_agreement
from prosa.cli.agree import MAX_ATTEMPTS, agree
from prosa.cli.main import main
from prosa.cli.markdownlang import main as markdownlang
from prosa.dialects.markdownlang.agreement import (
    PHRASES,
    AgreementRecord,
    accepts,
    index_of,
    parse_record,
    write_record,
)
from prosa.runtime.errors import AgreementRequired
from tests.cli.desk import desk
from tests.depth import examples

GIVEN = (
    "Trans rights are human rights",
    "Trans women are women",
    "Trans men are men",
    "I support transgender people",
)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def stored(home: dict[str, str]) -> str:
    path = agreement_path(home)
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_l39_la29_there_are_sixteen_phrases_and_the_given_four_are_among_them():
    assert len(PHRASES) == len(set(PHRASES)) == 16
    assert set(GIVEN) <= set(PHRASES)
    assert all(phrase.isprintable() and phrase.isascii() and phrase == phrase.strip() for phrase in PHRASES)


def test_l39_lw12_only_the_phrase_that_is_shown_is_accepted():
    for shown in range(16):
        assert [index for index, phrase in enumerate(PHRASES) if accepts(shown, phrase)] == [shown]
    for typed in ("", "trans men are men", "Trans men are men.", " Trans men are men", "Trans men are men "):
        assert not accepts(2, typed)
        assert index_of(typed) is None


def test_l38_the_record_has_two_keys_in_order():
    text = write_record(AgreementRecord("2026-11-02T10:30:00Z", 7))
    assert json.loads(text) == {"agreed_at": "2026-11-02T10:30:00Z", "phrase_index": 7}
    assert text.index("agreed_at") < text.index("phrase_index")
    assert parse_record(text) == AgreementRecord("2026-11-02T10:30:00Z", 7)


@pytest.mark.parametrize("index", [0, 16, 99])
def test_la29_the_form_of_the_origin_is_read_too(index: int):
    text = json.dumps({"agreed": True, "version": "1.0", "required_phrase_index": index})
    assert parse_record(text) == AgreementRecord("", index)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not valid JSON"),
        ("{", "is not valid JSON"),
        ("[" * 4000, "is not valid JSON"),
        ("[]", "holds no record of the agreement"),
        ("{}", "holds no record of the agreement"),
        (" " * 5000 + "{}", "holds no record of the agreement"),
        ('{"agreed": false, "required_phrase_index": 1}', "holds no record of the agreement"),
        ('{"agreed": "true", "required_phrase_index": 1}', "holds no record of the agreement"),
        ('{"agreed": true, "required_phrase_index": -1}', "holds no record of the agreement"),
        ('{"agreed_at": 5, "phrase_index": 1}', "has no date in agreed_at"),
        ('{"agreed_at": "yesterday", "phrase_index": 1}', "has no date in agreed_at"),
        ('{"agreed_at": "2024-01-15T10:30:00Z"}', "has no phrase_index from 0 to 15"),
        ('{"agreed_at": "2024-01-15T10:30:00Z", "phrase_index": 16}', "has no phrase_index from 0 to 15"),
        ('{"agreed_at": "2024-01-15T10:30:00Z", "phrase_index": true}', "has no phrase_index from 0 to 15"),
        ('{"agreed_at": "2024-01-15T10:30:00Z", "phrase_index": "7"}', "has no phrase_index from 0 to 15"),
    ],
)
def test_l38_anything_else_is_no_record(text: str, reason: str):
    assert parse_record(text) == reason


@settings(max_examples=examples(50), deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(
    st.sampled_from(["agreed", "agreed_at", "phrase_index", "required_phrase_index"]), inner)))  # fmt: skip
def test_no_json_makes_reading_a_record_fail(value: object):
    assert isinstance(parse_record(json.dumps(value)), AgreementRecord | str)


def test_l40_the_flow_at_a_terminal_word_by_word(home: dict[str, str]):
    at = desk(PHRASES[4] + "\n", home, terminal=True)
    assert agree(at.console, choose=lambda count: 4) == 0
    assert at.out == (
        "markdownlang Trans Rights Agreement\n\n"
        "Before using markdownlang, you must agree to the following:\n\n"
        "Trans rights are human rights. I will not harm transgender people.\n\n"
        "Type the above phrase exactly to accept: \n"
        "Agreement accepted. You can now use markdownlang.\n"
    )
    assert at.err == ""
    record = json.loads(stored(home))
    assert record["phrase_index"] == 4
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", record["agreed_at"])


def test_l38_the_record_lies_in_home_and_belongs_to_its_owner(home: dict[str, str]):
    assert save_agreement(home, 3) == Path(home["HOME"]) / ".markdownlang-agreement.json"
    assert stat.S_ISREG(agreement_path(home).stat().st_mode)
    assert [path.name for path in Path(home["HOME"]).iterdir()] == [".markdownlang-agreement.json"]


def test_l39_the_phrase_is_picked_at_random_among_all_sixteen(home: dict[str, str]):
    shown = Counter()
    for _ in range(300):
        at = desk("", home, terminal=True)
        assert agree(at.console) == 1
        shown[at.out.split("\n\n")[2]] += 1
    assert set(shown) == set(PHRASES)
    assert stored(home) == ""


def test_lw12_another_phrase_is_refused_and_the_same_one_stays_shown(home: dict[str, str]):
    at = desk("\n".join([PHRASES[1], "Trans men are man", PHRASES[2]]), home, terminal=True)
    assert agree(at.console, choose=lambda count: 2) == 0
    assert at.out.count("Trans men are men") == 1
    assert at.out.count("That is not the phrase above") == 2
    at = desk("no\n" * 10, {"HOME": home["HOME"] + "/none"}, terminal=True)
    assert agree(at.console, choose=lambda count: 2) == 1
    assert at.out.count("Type the above phrase") == MAX_ATTEMPTS
    assert at.err == "error: the agreement was not accepted; nothing was stored\n"


@pytest.mark.parametrize("command", [main, markdownlang])
def test_la29_a_flag_or_the_environment_accepts_without_a_terminal(command, home: dict[str, str]):
    at = desk("", home)
    assert command(["agree", "--phrase", PHRASES[9]], at.console) == 0
    assert at.out == "\nAgreement accepted. You can now use markdownlang.\n"
    assert json.loads(stored(home))["phrase_index"] == 9
    agreement_path(home).unlink()
    assert command(["agree"], desk("", {**home, "MARKDOWNLANG_AGREE": PHRASES[11]}).console) == 0
    assert json.loads(stored(home))["phrase_index"] == 11


@pytest.mark.parametrize("command", [main, markdownlang])
def test_la29_without_a_terminal_a_flag_or_the_variable_it_explains_and_exits_2(command, home: dict[str, str]):
    at = desk("", home)
    assert command(["agree"], at.console) == 2
    assert at.out == ""
    name = "prosa agree" if command is main else "markdownlang agree"
    assert "there is none here" in at.err and f"{name} --phrase" in at.err and "MARKDOWNLANG_AGREE" in at.err
    assert all(phrase in at.err for phrase in PHRASES)
    assert stored(home) == ""


@pytest.mark.parametrize("command", [main, markdownlang])
def test_la29_a_phrase_from_a_pipe_counts_as_the_flag(command, home: dict[str, str]):
    at = desk(PHRASES[7] + "\n", home)
    assert command(["agree"], at.console) == 0
    assert json.loads(stored(home))["phrase_index"] == 7


@pytest.mark.parametrize("text", ["yes\n", f" {PHRASES[7]}\n", f"{PHRASES[7]}\nmore\n", "\ufffd" * 9000])
def test_la29_anything_else_from_a_pipe_is_wrong_use(text: str, home: dict[str, str]):
    at = desk(text, home)
    assert main(["agree"], at.console) == 2
    assert at.err.startswith("error: standard input holds none of the 16 phrases of the agreement\n")
    assert stored(home) == ""


@pytest.mark.parametrize(
    ("argv", "environ", "source"),
    [(["agree", "--phrase", "yes"], {}, "--phrase"), (["agree"], {"MARKDOWNLANG_AGREE": "1"}, "MARKDOWNLANG_AGREE")],
)
def test_la29_a_wrong_phrase_is_wrong_use(argv: list[str], environ: dict[str, str], source: str, home: dict[str, str]):
    at = desk("", {**home, **environ}, terminal=True)
    assert main(argv, at.console) == 2
    assert at.err.startswith(f"error: {source} holds none of the 16 phrases of the agreement\n")
    assert stored(home) == ""


def test_accepting_twice_says_so_and_changes_nothing(home: dict[str, str]):
    agreement_path(home).write_text('{"agreed_at": "2024-01-15T10:30:00Z", "phrase_index": 7}')
    before = stored(home)
    at = desk("", home)
    assert main(["agree"], at.console) == 0
    assert at.out == f"The agreement was already accepted on 2024-01-15T10:30:00Z ({agreement_path(home)}).\n"
    assert stored(home) == before


def test_l41_the_gate_stops_a_run_with_the_words_of_the_specification(home: dict[str, str]):
    with pytest.raises(AgreementRequired) as caught:
        check_agreement(home)
    assert caught.value.hint == "To accept the agreement, run: prosa agree"


def test_l41_the_gate_opens_for_a_record_and_for_a_phrase_in_the_environment(home: dict[str, str]):
    check_agreement({**home, "MARKDOWNLANG_AGREE": PHRASES[0]})
    assert stored(home) == ""
    agreement_path(home).write_text('{"agreed": true, "version": "1.0", "required_phrase_index": 16}')
    check_agreement(home)
    assert load_agreement(home) == AgreementRecord("", 16)


def test_l41_a_wrong_phrase_in_the_environment_opens_nothing_and_is_named(home: dict[str, str]):
    with pytest.raises(AgreementRequired, match="MARKDOWNLANG_AGREE is set, but holds none of the 16 phrases"):
        check_agreement({**home, "MARKDOWNLANG_AGREE": "yes"})


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"x" * 10_000])
def test_l38_a_corrupted_record_counts_as_none_and_is_named(content: bytes, home: dict[str, str]):
    agreement_path(home).write_bytes(content)
    with pytest.raises(AgreementRequired, match=r"agreement\.json.*so the agreement counts as not accepted"):
        check_agreement(home)
    at = desk("", home)
    assert main(["agree", "--phrase", PHRASES[5]], at.console) == 0
    assert at.err.startswith("note: ") and "counts as not accepted" in at.err
    check_agreement(home)


def test_a_record_that_is_a_folder_is_named(home: dict[str, str]):
    agreement_path(home).mkdir()
    with pytest.raises(AgreementRequired, match="is a folder, not a regular file"):
        check_agreement(home)
    at = desk("", home)
    assert main(["agree", "--phrase", PHRASES[5]], at.console) == 1
    assert at.err.endswith(".markdownlang-agreement.json: is a folder\n")


def test_a_home_that_does_not_exist_is_a_plain_error(tmp_path: Path):
    at = desk("", {"HOME": str(tmp_path / "none")})
    assert main(["agree", "--phrase", PHRASES[5]], at.console) == 1
    assert at.err.endswith("No such file or directory\n") and "Traceback" not in at.err
