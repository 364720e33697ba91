"""Runs that are recorded and played again (X27)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from prosa.app.options import Record, Replay
from prosa.app.run.recordings import load_recording as load_cassette
from prosa.runtime.errors import CassetteProblem, InputRefused, ProviderError, ReplayDrift
from prosa.runtime.events import TextArrived
from prosa.testing import ScriptedProvider
from tests.app.run.recordings.runs import Shuffled, asks, command, only, outer, program, ran, says, script, told
from tests.depth import examples

GIVEN = {"text": "apples"}


def recorded(folder: Path, **more: Any) -> tuple[Path, Path]:
    """A program with a recording of one call."""
    path = program(folder)
    ran(path, GIVEN, [says(7)], record=Record(folder / "tapes", **more))
    return path, only(folder / "tapes")


def edit(path: Path, old: str, new: str) -> None:
    """Changes a file."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_x27_a_replay_gives_the_output_and_the_summary_of_the_run(tmp_path: Path) -> None:
    """B1: 100 times, with no provider at all."""
    path, replies = outer(tmp_path)
    first = told(ran(path, GIVEN, replies, record=Record(tmp_path / "tapes")))
    for _ in range(examples(100, share=5)):
        assert told(ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))) == first
    assert first["summary"]["agent_calls"]["total_calls"] == 2
    assert first["summary"]["total"]["tokens"] == 81


def test_x27_equal_calls_at_once_keep_their_answers(tmp_path: Path) -> None:
    """B2: two equal concurrent calls with different answers, in any order of arrival, 100 of 100."""
    path, replies = outer(tmp_path)
    orders = set()
    for seed in range(examples(100, share=5)):
        folder = tmp_path / f"tapes{seed}"
        shuffled = Shuffled(ScriptedProvider(replies), seed)
        first = ran(path, GIVEN, provider=shuffled, record=Record(folder))
        results = [each.content for each in first.messages if each.role == "tool"]
        orders.add(tuple(results))
        again = ran(path, GIVEN, replay=Replay(folder))
        assert told(again) == told(first)
    assert orders == {('{"n": 1}', '{"n": 2}'), ('{"n": 2}', '{"n": 1}')}


def test_x27_six_calls_at_once_of_which_some_are_equal_play_in_every_order(tmp_path: Path) -> None:
    """B2 as it was measured: a program calls another one six times at once, which asks twice each time."""
    program(tmp_path, "inner")
    path = program(tmp_path, "outer", "imports: [./inner.md]\n")
    six = [("inner", {"text": word}) for word in ("a", "a", "b", "b", "a", "c")]
    answers = [
        each for number in range(6) for each in ({"program": "inner", "content": "no"}, says(number, program="inner"))
    ]
    for seed in range(examples(20, share=3)):
        replies = [asks(*six, program="outer"), *answers, says(9, program="outer")]
        folder = tmp_path / f"tapes{seed}"
        first = told(ran(path, GIVEN, provider=Shuffled(ScriptedProvider(replies), seed), record=Record(folder)))
        assert told(ran(path, GIVEN, replay=Replay(folder, strict=True))) == first
        assert len(load_cassette(only(folder)).replies) == 14


def test_x27_two_recordings_of_equal_answers_differ_in_created_and_run_id_alone(tmp_path: Path) -> None:
    path, replies = outer(tmp_path)
    replies = [copied(each) for each in replies]
    one, other = (Shuffled(ScriptedProvider(replies), seed) for seed in (1, 1))
    ran(path, GIVEN, provider=one, record=Record(tmp_path / "a"))
    ran(path, GIVEN, provider=other, record=Record(tmp_path / "b"))
    lines = zip(only(tmp_path / "a").read_text().split("\n"), only(tmp_path / "b").read_text().split("\n"), strict=True)
    assert {a.split(":")[0].strip() for a, b in lines if a != b} <= {"created", "run_id"}


def copied(reply: dict[str, Any]) -> dict[str, Any]:
    """A copy of a reply."""
    return json.loads(json.dumps(reply))


def test_x27_a_program_with_other_line_ends_is_the_same_program(tmp_path: Path) -> None:
    """A recording of Linux, replayed where Git writes CRLF."""
    path, _ = recorded(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    status, at = command(path, "text=apples", "--replay", tmp_path / "tapes")
    assert (status, json.loads(at.out)) == (0, {"n": 7})


def test_x27_an_input_with_other_line_ends_is_told_how_to_prevent_them(tmp_path: Path) -> None:
    """The text of an input keeps its line ends, so a file that Git turned into CRLF is another input."""
    path = program(tmp_path)
    ran(path, {"text": "red\napples"}, [says(7)], record=Record(tmp_path / "tapes"))
    status, at = command(path, "text=red\r\napples", "--replay", only(tmp_path / "tapes"))
    assert status == 1
    assert "only line ends differ" in at.err and ".gitattributes" in at.err


def test_x27_a_changed_prompt_is_named_with_its_place_and_both_texts(tmp_path: Path) -> None:
    """B3."""
    path, _ = recorded(tmp_path)
    edit(path, "Say a number", "Tell a number")
    status, at = command(path, "text=apples", "--replay", tmp_path / "tapes")
    assert status == 1
    assert "call 1 is not as recorded in" in at.err and "/messages/1/content" in at.err
    assert '"Say a number for apples.\\n"' in at.err and '"Tell a number for apples.\\n"' in at.err
    assert "--record" in at.err and "--match path" in at.err


def test_x27_drift_carries_what_a_program_may_want_to_know(tmp_path: Path) -> None:
    path, _ = recorded(tmp_path)
    edit(path, "Say a number", "Tell a number")
    with pytest.raises(ReplayDrift) as caught:
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))
    drift = caught.value
    assert (drift.path, drift.pointer, drift.nearest) == ("1", "/messages/1/content", "1")
    assert (drift.recorded, drift.now) == ("Say a number for apples.\n", "Tell a number for apples.\n")


def test_x27_drift_of_a_long_text_is_shown_around_the_place(tmp_path: Path) -> None:
    path = program(tmp_path)
    text = "word " * 2_000
    ran(path, {"text": text}, [says(1)], record=Record(tmp_path / "tapes"))
    with pytest.raises(ReplayDrift) as caught:
        ran(path, {"text": text + "end"}, replay=Replay(only(tmp_path / "tapes")))
    assert len(caught.value.message) < 800 and "…" in caught.value.message and "end" in caught.value.message


def test_x27_another_model_is_drift_and_the_one_of_the_recording_is_the_default(tmp_path: Path) -> None:
    path = program(tmp_path)
    ran(path, GIVEN, [says(7)], record=Record(tmp_path / "tapes"), model="tiny")
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes")).summary.model_name == "tiny"
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes"), model="tiny").output == {"n": 7}
    with pytest.raises(ReplayDrift, match='/model: recorded "tiny", now "large"'):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"), model="large")


def test_x27_another_default_model_is_no_drift_and_another_model_of_the_program_is(tmp_path: Path) -> None:
    path = program(tmp_path)
    ran(path, GIVEN, [says(7)], record=Record(tmp_path / "tapes"), default_model="mine")
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes")).output == {"n": 7}
    edit(path, "name: say", "name: say\nmodel: other")
    with pytest.raises(ReplayDrift, match='/model: recorded "mine", now "other"'):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))


@pytest.mark.parametrize(("match", "plays"), [("exact", False), ("messages", True), ("path", True)])
def test_x27_match_messages_ignores_what_is_said_of_tools(tmp_path: Path, match: Any, plays: bool) -> None:
    path, replies = outer(tmp_path)
    ran(path, GIVEN, replies, record=Record(tmp_path / "tapes"))
    edit(tmp_path / "inner.md", "type: string", "type: string, description: what to say it for")
    replay = Replay(tmp_path / "tapes", match)
    if plays:
        assert ran(path, GIVEN, replay=replay).output == {"n": 3}
    else:
        with pytest.raises(ReplayDrift, match="/tools/1/parameters"):
            ran(path, GIVEN, replay=replay)


def test_x27_match_path_tells_of_each_drift(tmp_path: Path) -> None:
    path, _ = recorded(tmp_path)
    edit(path, "Say a number", "Tell a number")
    notices: list[str] = []
    result = ran(path, GIVEN, replay=Replay(tmp_path / "tapes", "path"), notices=notices)
    assert result.output == {"n": 7}
    assert len(notices) == 1 and notices[0].startswith("note: call 1 is not as recorded")
    assert "/messages/1/content" in notices[0]


def test_x27_a_call_that_is_not_recorded_names_the_nearest(tmp_path: Path) -> None:
    """The recorded answer does not satisfy the schema any more, so the model is asked again."""
    path, _ = recorded(tmp_path)
    edit(path, "n: {type: integer}", "n: {type: integer, maximum: 5}")
    with pytest.raises(ReplayDrift) as caught:
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes", "path"))
    assert caught.value.path == "2" and caught.value.nearest == "1"
    assert "has no call 2; the nearest is 1, which differs at /messages/0/content" in caught.value.message


def test_x27_with_new_live_what_is_not_recorded_is_asked_and_added(tmp_path: Path) -> None:
    path, replies = outer(tmp_path)
    tapes = tmp_path / "tapes"
    ran(path, GIVEN, replies, record=Record(tapes))
    before = load_cassette(only(tapes))
    edit(path, "Say a number", "Tell a number")
    live = [asks(("inner", {"text": "a"}), program="outer"), says(9, program="outer")]
    provider = ScriptedProvider(live)
    result = ran(path, GIVEN, provider=provider, record=Record(tapes), replay=Replay(tapes, new="live"))
    assert result.output == {"n": 9} and provider.remaining == 0
    after = load_cassette(only(tapes))
    assert sorted(after.replies) == ["1", "1.0/1", "2"]
    assert after.replies["1.0/1"] == before.replies["1.0/1"], "what agrees is played"
    assert ran(path, GIVEN, replay=Replay(tapes)).output == {"n": 9}


def test_x27_with_new_live_a_folder_without_a_recording_is_filled(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, GIVEN, [says(4)], record=Record(tapes), replay=Replay(tapes, new="live"))
    assert ran(path, GIVEN, replay=Replay(tapes)).output == {"n": 4}


def test_x27_an_unused_recording_is_a_notice_and_strictly_an_error(tmp_path: Path) -> None:
    path = program(tmp_path)
    edit(path, "{type: integer}", "{type: integer, maximum: 5}")
    ran(path, GIVEN, [says(7), says(3)], record=Record(tmp_path / "tapes"))
    edit(path, ", maximum: 5", "")
    notices: list[str] = []
    replay = Replay(tmp_path / "tapes", "path")
    assert ran(path, GIVEN, replay=replay, notices=notices).output == {"n": 7}
    assert notices[-1].endswith("recorded calls that were not made: 2")
    with pytest.raises(CassetteProblem, match="recorded calls that were not made: 2"):
        ran(path, GIVEN, replay=structs.replace(replay, strict=True))


def test_x27_a_failed_run_keeps_what_was_answered(tmp_path: Path) -> None:
    path, replies = outer(tmp_path)
    broken = [*replies[:2], {"program": "inner", "error": {"message": "no credit", "kind": "auth", "status": 401}}]
    events: list[Any] = []
    with pytest.raises(ProviderError, match="no credit"):
        ran(path, GIVEN, broken, record=Record(tmp_path / "tapes"), events=events)
    text = only(tmp_path / "tapes").read_text()
    assert '"success": false' in text and '"error": "no credit"' in text and "failed" in text.split("\n")[1]
    with pytest.raises(ProviderError, match="no credit") as caught:
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))
    assert (caught.value.kind, caught.value.status) == ("auth", 401)


def test_x27_an_interrupted_run_keeps_what_was_answered(tmp_path: Path) -> None:
    class Interrupting(ScriptedProvider):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            if len(self.requests) == 1:
                raise KeyboardInterrupt
            return await super().complete(request, on_text)

    path = program(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        ran(path, GIVEN, provider=Interrupting([{"content": "?"}]), record=Record(tmp_path / "tapes"))
    assert sorted(load_cassette(only(tmp_path / "tapes")).replies) == ["1"]
    with pytest.raises(ReplayDrift, match="has no call 2, as the recorded run ended before it: interrupted"):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))


def test_x27_an_input_that_is_no_json_is_told_as_ever(tmp_path: Path) -> None:
    for given in ({"text": {1, 2}}, {1: "a", "b": 2}, {"text": float("inf")}):
        with pytest.raises(InputRefused):
            ran(program(tmp_path), given, [says(1)], record=Record(tmp_path / "tapes"))


def test_x27_attempts_that_failed_stand_in_the_recording_and_cost_no_time_again(tmp_path: Path) -> None:
    path = program(tmp_path)
    failure = {"error": {"message": "busy", "kind": "server", "status": 503, "retry_after": 0}}
    ran(path, GIVEN, [failure, failure, says(7)], record=Record(tmp_path / "tapes"))
    assert load_cassette(only(tmp_path / "tapes")).replies["1"].attempts == ("busy", "busy")
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes")).output == {"n": 7}


def test_x27_a_streaming_reply_arrives_in_one_piece(tmp_path: Path) -> None:
    path, events = program(tmp_path), list[Any]()
    ran(path, GIVEN, [says(7)], record=Record(tmp_path / "tapes"), stream=True)
    ran(path, GIVEN, replay=Replay(tmp_path / "tapes"), stream=True, events=events)
    assert [each.text for each in events if isinstance(each, TextArrived)] == ['{"n":7}']


def test_x27_a_wrong_input_is_told_before_a_missing_recording(tmp_path: Path) -> None:
    path = program(tmp_path)
    with pytest.raises(InputRefused):
        ran(path, {"text": 5}, replay=Replay(tmp_path / "tapes"))


# Which file is meant.


def test_x27_a_recording_of_another_program_is_refused(tmp_path: Path) -> None:
    _, recording = recorded(tmp_path)
    with pytest.raises(CassetteProblem, match="is a recording of `say`, not of `other`"):
        ran(program(tmp_path, "other"), GIVEN, replay=Replay(recording))


def test_x27_a_folder_without_the_recording_names_those_of_other_inputs(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    with pytest.raises(CassetteProblem, match="does not exist") as caught:
        ran(path, GIVEN, replay=Replay(tapes))
    assert "--record" in caught.value.hint
    for text in ("pears", "plums"):
        ran(path, {"text": text}, [says(1)], record=Record(tapes))
    with pytest.raises(
        CassetteProblem, match=r"has no recording of `say` with this input; with other inputs: say-\w+\.ymj, "
    ):
        ran(path, GIVEN, replay=Replay(tapes))


def test_x27_a_renamed_recording_is_found_and_two_of_them_are_not_guessed_between(tmp_path: Path) -> None:
    path, recording = recorded(tmp_path)
    moved = recording.rename(recording.with_name("mine.ymj"))
    assert ran(path, GIVEN, replay=Replay(tmp_path / "tapes")).output == {"n": 7}
    moved.with_name("yours.ymj").write_text(moved.read_text())
    with pytest.raises(CassetteProblem, match=r"several recordings of `say` with this input: mine\.ymj, yours\.ymj"):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))
    assert ran(path, GIVEN, replay=Replay(moved)).output == {"n": 7}


def test_x27_takes_of_one_input_stand_beside_each_other(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    for take in (1, 2, 3):
        ran(path, GIVEN, [says(take)], record=Record(tapes, take=take))
    assert [ran(path, GIVEN, replay=Replay(tapes, take=take)).output["n"] for take in (3, 1, 2)] == [3, 1, 2]
    with pytest.raises(CassetteProblem, match="with this input \\(number 4\\)"):
        ran(path, GIVEN, replay=Replay(tapes, take=4))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text[:-30], "does not end in a footer"),
        (lambda text: text.replace(":7", ":8"), "was edited after"),
        (lambda text: text.replace('"schema": "1"', '"schema": "2"'), "schema"),
        (lambda text: "just text\n", "is not a recording"),
        (lambda text: "", "is not a recording"),
    ],
)
def test_x27_a_file_that_cannot_be_played_is_a_sentence(tmp_path: Path, change: Any, words: str) -> None:
    path, recording = recorded(tmp_path)
    changed = change(recording.read_text())
    assert changed != recording.read_text()
    recording.write_text(changed)
    status, at = command(path, "text=apples", "--replay", recording)
    assert status == 1 and words in at.err and str(recording) in at.err and "Traceback" not in at.err


def test_x27_a_long_value_stands_beside_and_is_needed(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    given = {"text": "z" * 100_000}
    ran(path, given, [says(1)], record=Record(tapes))
    (beside,) = tapes.glob("*.txt")
    assert ran(path, given, replay=Replay(tapes)).output == {"n": 1}
    beside.write_text("something else")
    with pytest.raises(CassetteProblem, match=f"{beside.name}, which belongs to it, was changed"):
        ran(path, given, replay=Replay(tapes))
    beside.unlink()
    with pytest.raises(CassetteProblem, match=f"{beside.name}, which belongs to it, cannot be read"):
        ran(path, given, replay=Replay(tapes))


# Writing.


def test_x27_a_recording_is_written_again_and_its_old_long_values_go(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    ran(path, GIVEN, [{"content": "x" * 70_000}, says(1)], record=Record(tapes))
    assert len(list(tapes.iterdir())) == 2
    ran(path, GIVEN, [says(2)], record=Record(tapes))
    assert len(list(tapes.iterdir())) == 1
    assert ran(path, GIVEN, replay=Replay(tapes)).output == {"n": 2}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: "mine\n", "is not a recording, and is not written over"),
        (lambda text: text.replace(":7", ":8"), "was edited after it was recorded, and is not written over"),
        (
            lambda text: text.replace('"program": "say",\n    "input"', '"program": "say2",\n    "input"'),
            "of another run",
        ),
    ],
)
def test_x27_what_somebody_else_wrote_is_not_written_over(tmp_path: Path, change: Any, words: str) -> None:
    path, recording = recorded(tmp_path)
    changed = change(recording.read_text())
    assert changed != recording.read_text()
    recording.write_text(changed)
    provider = ScriptedProvider([says(8)])
    with pytest.raises(CassetteProblem, match=words):
        ran(path, GIVEN, provider=provider, record=Record(tmp_path / "tapes"))
    assert provider.remaining == 1 and recording.read_text() == changed, "nothing was asked"


def test_x27_a_file_that_changes_while_a_run_goes_on_is_left_and_the_output_is_not_lost(tmp_path: Path) -> None:
    path, recording = recorded(tmp_path)

    class Meanwhile(ScriptedProvider):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            recording.write_text("mine")
            return await super().complete(request, on_text)

    result = ran(path, GIVEN, provider=Meanwhile([says(8)]), record=Record(tmp_path / "tapes"))
    assert result.output == {"n": 8} and recording.read_text() == "mine"
    assert result.unrecorded is not None and "changed since it was read" in result.unrecorded.message


def test_x27_a_folder_that_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    path = program(tmp_path)
    (tmp_path / "tapes").write_text("a file")
    with pytest.raises(CassetteProblem, match=r"nothing can be recorded in .*tapes: a file is already there"):
        ran(path, GIVEN, [says(1)], record=Record(tmp_path / "tapes"))


def test_x27_a_run_in_which_nothing_was_asked_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputRefused):
        ran(program(tmp_path), {"text": 5}, [says(1)], record=Record(tmp_path / "tapes"))
    assert list((tmp_path / "tapes").iterdir()) == []


# Secrets.


@pytest.mark.parametrize("word", ["confidential", "secret"])
def test_x25_a_confidential_program_is_recorded_only_when_told_to(tmp_path: Path, word: str) -> None:
    path = program(tmp_path, more=f"classification: {word}\n")
    provider = ScriptedProvider([says(1), says(2), says(3)])
    with pytest.raises(CassetteProblem, match="`say` is confidential or secret") as caught:
        ran(path, GIVEN, provider=provider, record=Record(tmp_path / "tapes"))
    assert "--redact" in caught.value.hint and "--force" in caught.value.hint and provider.remaining == 3
    ran(path, GIVEN, provider=provider, record=Record(tmp_path / "tapes", force=True))
    assert "classification: confidential" in only(tmp_path / "tapes").read_text()
    ran(path, GIVEN, provider=provider, record=Record(tmp_path / "other", redact=("apples",)))
    assert "apples" not in only(tmp_path / "other").read_text()


def test_x25_a_confidential_import_counts_too(tmp_path: Path) -> None:
    path, replies = outer(tmp_path)
    program(tmp_path, "inner", more="classification: secret\n")
    with pytest.raises(CassetteProblem, match="`inner` is confidential or secret"):
        ran(path, GIVEN, replies, record=Record(tmp_path / "tapes"))


def test_x27_a_redacted_recording_plays_and_says_where_it_cannot(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    given = {"text": "key sk-123abc and sk-9 twice sk-123abc"}
    ran(path, given, [{"content": "it is sk-9"}, says(1)], record=Record(tapes, redact=(r"sk-\w+",)))
    text = only(tapes).read_text()
    assert "sk-" not in text and text.count("[redacted:") >= 4 and '"redacted": true' in text
    assert ran(path, given, replay=Replay(tapes)).output == {"n": 1}
    with pytest.raises(ReplayDrift, match="secrets were removed from the recording"):
        ran(path, {"text": "key sk-other and sk-9 twice sk-123abc"}, replay=Replay(only(tapes)))


def test_x27_an_answer_that_is_worth_nothing_without_its_secret_is_said(tmp_path: Path) -> None:
    path = program(tmp_path)
    ran(path, GIVEN, [says(4711)], record=Record(tmp_path / "tapes", redact=("47..",)))
    with pytest.raises(ReplayDrift, match=r"has no call 2.*secrets were removed from the recording"):
        ran(path, GIVEN, replay=Replay(tmp_path / "tapes"))


@pytest.mark.parametrize(("pattern", "words"), [("(", "is not a pattern (RE2)"), ("x*", "matches an empty text")])
def test_x27_a_pattern_that_is_none_is_told_before_anything_is_asked(tmp_path: Path, pattern: str, words: str) -> None:
    path = program(tmp_path)
    status, at = command(
        path, "--record", tmp_path / "tapes", "--redact", pattern, "--model", script(tmp_path, says(1))
    )
    assert status == 1 and words in at.err and "Traceback" not in at.err


def test_x27_a_password_in_an_address_is_not_recorded(tmp_path: Path) -> None:
    class Somewhere(ScriptedProvider):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            reply = await super().complete(request, on_text)
            return structs.replace(reply, service="https://ada:pa55@models.example/v1?key=k3y")

    path = program(tmp_path)
    ran(path, GIVEN, provider=Somewhere([says(1)]), record=Record(tmp_path / "tapes"))
    text = only(tmp_path / "tapes").read_text()
    assert '"service": "https://models.example/v1"' in text and "pa55" not in text and "k3y" not in text


# The command line.


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--match", "path"), "--match is about a recording that is played"),
        (("--new", "live"), "--new is about a recording that is played"),
        (("--tools", "live"), "--tools is about a recording that is played"),
        (("--strict",), "--strict is about a recording that is played"),
        (("--redact", "x"), "--redact is about a recording that is made"),
        (("--replay", "t", "--new", "live"), "--new live records the calls that it makes"),
        (("--replay", "t", "--model", "scripted:x"), "both answer every call"),
    ],
)
def test_x27_flags_that_mean_nothing_are_wrong_use(tmp_path: Path, flags: tuple[str, ...], words: str) -> None:
    status, at = command(program(tmp_path), *flags)
    assert status == 2 and words in at.err


def test_x27_the_command_records_and_plays(tmp_path: Path) -> None:
    path, tapes = program(tmp_path), tmp_path / "tapes"
    status, first = command(path, "text=apples", "--record", tapes, "--model", script(tmp_path, says(7)))
    assert status == 0, first.err
    status, again = command(path, "text=apples", "--replay", tapes)
    assert (status, again.out) == (0, first.out)
    status, whole = command(path, "text=apples", "--replay", tapes, "--summary", "--max-cost", "0.0001")
    assert status == 0 and json.loads(whole.err)["tokens"]["input"] == 20, "what is played costs nothing"
