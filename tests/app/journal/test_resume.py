"""X25. A run that broke off goes on: answered calls are not asked again, and what it runs is the same."""

from __future__ import annotations

import asyncio
import json
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.app.options import Options
from prosa.runtime.errors import InDoubt, NotResumed, ProviderError, RunError, StoreProblem, ToolServerError
from prosa.runtime.messages import ModelReply, ToolCall
from prosa.runtime.ports import ServerTool, ToolResult
from tests.app.journal.runs import CALLS, Model, nested, ran, rows, store_of
from tests.depth import examples
from tests.runtime.worlds import FakeServers, load, text_of


class Breaking(Model):
    """Fails for good at a call, by its number, as a service whose key has run out."""

    def __init__(self, at, turns=None):
        super().__init__(turns=turns)
        self.at = at

    async def complete(self, request, on_text=None):
        if len(self.asked) >= self.at:
            raise ProviderError("no more", kind="auth", retryable=False)
        return await super().complete(request, on_text)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return nested(tmp_path_factory.mktemp("nested"))


@pytest.fixture(scope="module")
def whole(program, tmp_path_factory):
    """What an uninterrupted run gives, and how many calls it makes."""
    model = Model()
    result = ran(program, tmp_path_factory.mktemp("home"), model)
    return result, len(model.asked)


def test_x25_a_run_that_ended_well_leaves_a_summary(program, whole, tmp_path):
    result = ran(program, tmp_path, Model())
    (run,) = rows(tmp_path, "SELECT * FROM run")
    assert (run["id"], run["state"], json.loads(run["output"])) == (result.run_id, "done", result.output)
    assert (run["calls"], run["input_tokens"]) == (whole[1], whole[0].summary.total_usage.input_tokens)
    calls = rows(tmp_path, "SELECT * FROM call")
    assert len(calls) == whole[1] + CALLS + CALLS * CALLS
    assert all(call["request"] is call["reply"] is None for call in calls)
    assert (run["input"], run["again"], run["whole"]) == (None, None, 0)
    assert all(call["digest"] and call["answer"] for call in calls)


def test_x25_what_is_forgotten_is_not_in_the_file(tmp_path):
    said = "a sentence that nobody else says"
    model = Model()
    reply = ModelReply(json.dumps({"n": 1, "why": said}))

    async def complete(request, on_text=None):
        return reply

    model.complete = complete
    ran(load(tmp_path, text_of().replace("additionalProperties: false", "additionalProperties: true")), tmp_path, model)
    (run,) = rows(tmp_path, "SELECT * FROM run")
    assert json.loads(run["output"])["why"] == said
    for path in store_of(tmp_path).parent.iterdir():
        if path.is_file():
            assert path.read_bytes().count(said.encode()) == 1, path  # the output, and not the reply


def test_x25_full_history_keeps_what_was_asked_and_answered(program, tmp_path):
    ran(program, tmp_path, Model(), history="full")
    calls = rows(tmp_path, "SELECT path, request, reply FROM call")
    assert all(call["reply"] for call in calls)
    first, second = (json.loads(call["request"]) for call in calls if call["path"] in ("1", "2"))
    assert first["after"] is None and [each["role"] for each in first["messages"]] == ["system", "user"]
    assert second["after"] == "1" and [each["role"] for each in second["messages"]] == ["assistant"] + CALLS * ["tool"]
    assert "tools" in first and "tools" not in second


def test_x25_without_history_nothing_is_written(program, tmp_path):
    assert ran(program, tmp_path, Model(), settings={"history": "off"}).run_id == ""
    assert not store_of(tmp_path).exists()
    with pytest.raises(NotResumed, match='runs are not stored with `history = "off"`'):
        ran(program, tmp_path, Model(), settings={"history": "off"}, resume="abc")


@pytest.mark.parametrize("value", ["confidential", "Secret", "[secret]"])
def test_x25_nothing_of_a_confidential_program_is_written(tmp_path, value):
    (tmp_path / "inner.md").write_text(text_of("inner", more=f"classification: {value}\n"))
    program = load(tmp_path, text_of(more="imports: [./inner.md]\n"))
    assert ran(program, tmp_path, Model()).run_id == ""
    assert not store_of(tmp_path).exists()
    with pytest.raises(NotResumed, match=r"inner\.md is confidential"):
        ran(program, tmp_path, Model(), resume="abc")


def test_x25_at_every_call_a_run_can_break_off_and_go_on(program, whole, tmp_path_factory):
    """The output is that of the uninterrupted run, and nothing is asked twice that was answered."""
    result, calls = whole

    @settings(max_examples=examples(25), deadline=None)
    @given(st.integers(0, calls - 1), st.lists(st.integers(0, 9), min_size=1, max_size=9))
    def broken(at, turns):
        home = tmp_path_factory.mktemp("home")
        first = Breaking(at, cycle(turns))
        with pytest.raises(ProviderError) as caught:
            ran(program, home, first)
        answered = rows(home, "SELECT path FROM call WHERE kind = 'model' AND state = 'answered'")
        if not answered:
            assert caught.value.run_id == ""
            return
        again = Model()
        gone_on = ran(program, home, again, resume=caught.value.run_id)
        assert gone_on.output == result.output
        assert gone_on.run_id == caught.value.run_id
        assert gone_on.summary.total_usage == result.summary.total_usage
        assert len(again.asked) == calls - len(answered)
        (run,) = rows(home, "SELECT state, attempts, calls, whole FROM run")
        assert run == {"state": "done", "attempts": 2, "calls": calls, "whole": 0}

    broken()


def test_x25_a_finished_run_gives_its_output_once_more(program, whole, tmp_path):
    done = ran(program, tmp_path, Model())
    model = Model()
    assert ran(program, tmp_path, model, resume=done.run_id[:6]).output == done.output
    assert model.asked == []


def broken_run(program, home, at=3):
    with pytest.raises(RunError) as caught:
        ran(program, home, Breaking(at))
    return caught.value.run_id


def test_x25_a_changed_program_or_input_is_refused_by_its_digest(tmp_path):
    program = nested(tmp_path)
    run = broken_run(program, tmp_path)
    with pytest.raises(NotResumed, match=r"started with another input \(sha256 [0-9a-f]{12}, now [0-9a-f]{12}\)"):
        ran(program, tmp_path, Model(), given={"text": "else"}, resume=run)
    (tmp_path / "deep.md").write_text(text_of("deep", more="limits: {iterations: 3}\n").replace("Say", "Tell"))
    changed = load(tmp_path, text_of(more="imports: [./helper.md]\n"))
    with pytest.raises(NotResumed, match=r"deep.md changed \(sha256 [0-9a-f]{12}, now [0-9a-f]{12}\) since it began"):
        ran(changed, tmp_path, Model(), resume=run)
    alone = load(tmp_path, text_of())
    with pytest.raises(NotResumed, match=r"changed"):
        ran(alone, tmp_path, Model(), resume=run)
    assert [each["attempts"] for each in rows(tmp_path, "SELECT attempts FROM run")] == [1]


def test_x25_a_run_that_is_not_there_is_a_sentence(program, tmp_path):
    with pytest.raises(NotResumed, match="there is no run 'abc' in the store"):
        ran(program, tmp_path, Model(), resume="abc")


def test_x25_limits_and_the_model_may_be_others_when_a_run_goes_on(tmp_path):
    program = load(tmp_path, text_of())
    notes: list[str] = []

    class Wrong(Model):
        async def complete(self, request, on_text=None):
            self.asked.append(request)
            return ModelReply(json.dumps({"n": 1} if request.model_name == "better" else {"m": 1}))

    with pytest.raises(RunError) as caught:
        ran(load(tmp_path, iterations=2), tmp_path, Wrong())
    again = Wrong()
    result = ran(
        load(tmp_path, iterations=5, model="better"),
        tmp_path,
        again,
        resume=caught.value.run_id,
        notes=notes,
        options=Options(),
    )
    assert result.output == {"n": 1} and program.name == "number"
    assert len(again.asked) == 1  # the answer to the last question of before is none to this one: tools are offered now
    assert any("the rest of it goes to better" in note for note in notes)


@pytest.mark.parametrize("reads", [True, False])
def test_x25_a_tool_call_in_doubt_is_made_again_only_if_it_changes_nothing(tmp_path, monkeypatch, reads):
    """A call was begun, and the process died before its answer."""
    text = text_of(more="mcp_servers: [{name: files, command: x}]\n")
    program = load(tmp_path, text)

    class Calls(Model):
        async def complete(self, request, on_text=None):
            self.asked.append(request)
            if request.messages[-1].role == "tool":
                return ModelReply('{"n": 3}')
            return ModelReply("", (ToolCall("1", request.tools[-1].name, "{}"),), finish="tool_calls")

    class Dying(FakeServers):
        async def call(self, server, tool, arguments):
            self.calls.append((server, tool, dict(arguments)))
            raise KeyboardInterrupt

    class Living(FakeServers):
        async def call(self, server, tool, arguments):
            self.calls.append((server, tool, dict(arguments)))
            return ToolResult("done")

    tools = [ServerTool("files", "remove", "", {"type": "object"}, reads)]
    dying, living = Dying(tools), Living(tools)
    monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: dying)
    with pytest.raises(KeyboardInterrupt):
        ran(program, tmp_path, Calls())
    ((run, state),) = [(row["id"], row["state"]) for row in rows(tmp_path, "SELECT id, state FROM run")]
    assert state == "interrupted"
    monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: living)
    if not reads:
        with pytest.raises(InDoubt, match=r"tool call 1\.0 \(mcp__files__remove\) was in flight") as caught:
            ran(program, tmp_path, Calls(), resume=run)
        assert f"prosa run --resume {run} --in-doubt rerun" in caught.value.hint
        assert living.calls == []
    result = ran(program, tmp_path, Calls(), resume=run, rerun_in_doubt=not reads)
    assert result.output == {"n": 3}
    assert len(living.calls) == 1


def test_x25_l21_a_call_whose_server_did_not_start_was_not_made_and_is_not_in_doubt(tmp_path, monkeypatch):
    """The server starts for the call, and only when the run goes on."""
    more = "mcp_servers: [{name: files, command: x, tools: [{name: remove, parameters: {type: object}}]}]\n"
    program = load(tmp_path, text_of(more=more))

    class Calls(Model):
        async def complete(self, request, on_text=None):
            self.asked.append(request)
            if request.messages[-1].role == "tool":
                return ModelReply('{"n": 3}')
            return ModelReply("", (ToolCall("1", request.tools[-1].name, "{}"),), finish="tool_calls")

    servers = FakeServers([ServerTool("files", "remove", "", {"type": "object"})], broken="files")
    monkeypatch.setattr("prosa.app.run.world.servers", lambda *_: servers)
    with pytest.raises(ToolServerError, match="files did not start"):
        ran(program, tmp_path, Calls())
    ((run,),) = [(row["id"],) for row in rows(tmp_path, "SELECT id FROM run")]
    assert [row["state"] for row in rows(tmp_path, "SELECT state FROM call WHERE path = '1.0'")] == ["unmade"]
    servers.broken = ""
    assert ran(program, tmp_path, Calls(), resume=run).output == {"n": 3}
    assert len(servers.calls) == 1


def test_x25_a_reply_is_used_only_after_its_commit(program, tmp_path, monkeypatch):
    """Whatever a program does next, the answer it follows from is on the disk."""
    seen: list[int] = []

    class Looking(Model):
        async def complete(self, request, on_text=None):
            if request.messages[-1].role == "tool" and request.program == "number":
                seen.append(len(rows(tmp_path, "SELECT * FROM call WHERE state = 'answered' AND path LIKE '1.%'")))
            return await super().complete(request, on_text)

    ran(program, tmp_path, Looking())
    assert seen == [CALLS * (1 + 2 + CALLS + CALLS)]


def test_x25_a_store_that_cannot_be_opened_costs_a_notice_and_not_the_run(program, whole, tmp_path):
    store_of(tmp_path).parent.mkdir(parents=True, mode=0o700)
    store_of(tmp_path).write_bytes(b"this is not a database at all, and longer than a header of one is" * 9)
    notes: list[str] = []
    assert ran(program, tmp_path, Model(), notes=notes).output == whole[0].output
    assert len(notes) == 1 and "this run is not stored, and cannot be resumed: the store" in notes[0]
    assert "is not an SQLite file" in notes[0]
    with pytest.raises(StoreProblem, match="is not an SQLite file"):
        ran(program, tmp_path, Model(), resume="abc")


def test_x25_a_home_that_nobody_can_write_costs_a_notice(program, whole, tmp_path):
    (tmp_path / ".local").write_text("a file")
    notes: list[str] = []
    assert ran(program, tmp_path, Model(), notes=notes).output == whole[0].output
    assert len(notes) == 1 and "there is no folder for the store of runs" in notes[0]


def test_x25_streams_hear_the_text_of_an_answer_that_is_known(tmp_path):
    program = load(tmp_path, text_of())
    heard: list[str] = []

    class Half(Model):
        async def complete(self, request, on_text=None):
            if request.messages[-1].role == "user" and len(request.messages) > 2:
                raise ProviderError("no more", kind="auth", retryable=False)
            if on_text:
                on_text('{"m"')
                on_text(": 1}")
            return ModelReply('{"m": 1}')

    with pytest.raises(ProviderError) as caught:
        ran(program, tmp_path, Half(), options=Options(stream=True))
    from prosa.app.options import JournalOptions
    from prosa.app.run.jobs import run_program
    from prosa.runtime.events import TextArrived
    from tests.app.journal.runs import environment

    def listener(event):
        if isinstance(event, TextArrived):
            heard.append(event.text)

    options = Options(stream=True, journal=JournalOptions("run", resume=caught.value.run_id))
    with pytest.raises(ProviderError):
        asyncio.run(
            run_program(program, {"text": "it"}, options, environment(tmp_path), provider=Half(), listener=listener)
        )
    assert heard == ['{"m": 1}']


def test_x25_the_python_interface_keeps_nothing_unasked(tmp_path, monkeypatch):
    import prosa

    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".markdownlang-agreement.json").write_text('{"agreed_at": "2026-01-01T00:00:00Z", "phrase_index": 0}')
    path = Path(tmp_path / "number.md")
    path.write_text(text_of())
    assert prosa.run(path, provider=Model()).run_id == ""
    assert not store_of(tmp_path).exists()
    kept = prosa.run(path, provider=Model(), journal=True)
    assert [row["door"] for row in rows(tmp_path, "SELECT * FROM run WHERE id = ?", kept.run_id)] == ["python"]
    elsewhere = tmp_path / "mine.sqlite"
    with pytest.raises(prosa.ProviderError) as caught:
        prosa.run(path, {"text": "x"}, provider=Breaking(0), journal=elsewhere)
    assert caught.value.run_id == "" and elsewhere.exists()
