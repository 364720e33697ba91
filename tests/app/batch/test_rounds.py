"""X29. Rows go to a service in batches, at half the price: each is answered once, whatever dies, expires or comes in
another order. The services are fakes, as strict as their documents (see `tests/batch_services`)."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types import Batch, FileObject
from openai.types.chat import ChatCompletion

from prosa.app.batch import rounds
from prosa.records.batch import MAX_ID, custom_id, run_of_id
from tests.app.batch.labels import LABEL, program, texts
from tests.app.batch.test_kill import LONGEST, begun
from tests.batch_services.openai import OpenAI
from tests.batch_services.service import Asked, letters, serving
from tests.cli.programs import prosa as command
from tests.cli.programs import user

ROWS = 12


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAI]:
    monkeypatch.setattr(rounds, "FIRST_POLL", 0.001)
    with serving(OpenAI()) as found:
        assert isinstance(found, OpenAI)
        yield found


def home(folder: Path, service: Any) -> dict[str, str]:
    (folder / "home/.config/prosa").mkdir(parents=True, exist_ok=True)
    (folder / "home/.config/prosa/settings.toml").write_text(
        '[prices."gpt-4o"]\ninput = 2.5\noutput = 10\n[prices."claude-x"]\ninput = 2.5\noutput = 10\n'
    )
    return user(folder, OPENAI_BASE_URL=service.base_url, OPENAI_API_KEY=service.key)


def batch(folder: Path, service: Any, *words: str, rows: int = ROWS) -> tuple[int, Any]:
    program(folder)
    environ = home(folder, service)
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts(rows)))
    named = [str(folder / "label.md"), "--rows", str(folder / "rows.jsonl"), "--backend", "openai-batch"]
    return command("batch", *named, "--no-progress", *words, environ=environ)


def outputs(at: Any) -> list[int]:
    return [json.loads(each)["output"]["n"] for each in at.out.splitlines()]


def stored(folder: Path, text: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "home/.local/share/prosa/store.sqlite")) as connection:
        return connection.execute(text).fetchall()


def test_x29_every_row_is_answered_once_in_one_batch_at_half_the_price(tmp_path: Path, service: OpenAI):
    """X29: results come in another order than they were asked for."""
    status, at = batch(tmp_path, service)
    assert status == 0, at.err
    assert outputs(at) == list(range(1, ROWS + 1)) and len(service.batches) == 1
    assert len(service.paid) == len(set(service.paid)) == ROWS
    lines = [json.loads(each) for each in at.out.splitlines()]
    assert {each["cost"] for each in lines} == {(100 * 2.5 + 10 * 10) / 1_000_000 / 2}
    assert not list((tmp_path / "home/.local/share/prosa").glob("*.waves/*"))
    assert batch(tmp_path, service)[0] == 0 and len(service.paid) == ROWS


def test_x29_what_the_fake_says_is_what_the_library_of_the_service_reads(tmp_path: Path, service: OpenAI):
    """X29: the types of the service's own library judge the fake, and with it what is sent."""
    assert batch(tmp_path, service)[0] == 0
    (found,) = service.batches.values()
    assert Batch.model_validate(found, strict=True).status == "completed"
    assert all(FileObject.model_validate(each, strict=True) for each in service.files.values())
    for line in service.contents[found["output_file_id"]].splitlines():
        assert ChatCompletion.model_validate_json(json.dumps(json.loads(line)["response"]["body"]), strict=True)
    (sent,) = (each for name, each in service.contents.items() if service.files[name]["purpose"] == "batch")
    first = json.loads(sent.splitlines()[0])
    assert first["url"] == "/v1/chat/completions" and first["body"]["model"] == "gpt-4o"
    assert first["body"]["response_format"]["type"] == "json_schema"


def test_x29_what_expired_is_sent_again_and_what_is_refused_fails_its_row(tmp_path: Path, service: OpenAI):
    """X29: three expired, one refused, one in trouble."""
    expired: set[str] = set()

    def answer(name: str, body: dict[str, Any]) -> Any:
        n = letters(name, body)["n"]
        if n in (2, 5, 7) and name not in expired:
            expired.add(name)
            return "expired"
        if n == 9 and name not in expired:
            expired.add(name)
            return 500
        return 400 if n == 4 else {"n": n}

    service.answer = answer
    status, at = batch(tmp_path, service, "--max-failures", "50%")
    assert status == 1 and outputs(at) == [n for n in range(1, ROWS + 1) if n != 4]
    assert f"{ROWS - 1} of {ROWS} rows done, 1 failed (provider 1)" in at.err
    assert len(service.batches) == 2 and service.paid.count(custom_id_of(tmp_path, 4)) == 1
    service.answer = letters
    assert batch(tmp_path, service)[0] == 1 and service.paid.count(custom_id_of(tmp_path, 4)) == 1
    environ = home(tmp_path, service)
    words = ("batch", "label", "--retry-failed", "--backend", "openai-batch", "--no-progress")
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err


def custom_id_of(folder: Path, row: int) -> str:
    ((run,),) = stored(folder, f"SELECT id FROM run WHERE number = {row}")
    return custom_id(run, "1")


CALLS = LABEL.replace("name: label", "name: outer\nimports: [./label.md]").replace("{{ .text }}", "Outer {{ .text }}")


def test_x29_calls_that_go_on_together_are_one_round_and_turns_are_rounds(tmp_path: Path, service: OpenAI):
    """X29: an import that is called three times at once; nothing is asked twice."""
    (tmp_path / "outer.md").write_text(CALLS)

    def answer(name: str, body: dict[str, Any]) -> Any:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return {"n": sum(json.loads(each["content"])["n"] for each in body["messages"] if each["role"] == "tool")}
        if "Outer" not in last["content"]:
            return letters(name, body)
        calls = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": "label", "arguments": json.dumps({"text": "x" * n})},
            }
            for n in (1, 2, 3)
        ]
        return {"tool_calls": calls}

    service.answer = answer
    program(tmp_path)
    rows = [{"text": "a"}, {"text": "b"}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    words = ["batch", str(tmp_path / "outer.md"), "--rows", str(tmp_path / "rows.jsonl"), "--backend", "openai-batch"]
    environ = home(tmp_path, service)
    status, at = command(*words, "--waves", "2", "--no-progress", environ=environ)
    assert status == 1 and "2 failed (provider 2)" in at.err and len(service.batches) == 2
    status, at = command("batch", "outer", "--retry-failed", *words[-2:], "--no-progress", environ=environ)
    assert status == 0 and outputs(at) == [6, 6], at.err
    assert [each["request_counts"]["total"] for each in service.batches.values()] == [2, 6, 2]
    assert len(service.paid) == len(set(service.paid)) == 10


def test_x29_what_is_not_done_in_time_is_asked_live_where_the_user_wants_that(tmp_path: Path, service: OpenAI):
    """X29."""
    service.answer = lambda name, body: letters(name, body) if name == "live" else "expired"
    status, at = batch(tmp_path, service, "--waves", "1", "--then", "live", rows=3)
    assert status == 0 and outputs(at) == [1, 2, 3] and len(service.live) == 3, at.err
    assert len(service.batches) == 1


def test_x29_a_program_that_takes_many_turns_is_refused_without_a_word(tmp_path: Path, service: OpenAI):
    """X29: by what earlier runs of it took."""
    service.answer = lambda name, body: "no object" if len(body["messages"]) < 8 else {"n": 1}
    assert batch(tmp_path, service, "--waves", "9", rows=2)[0] == 0
    asked = len(service.batches)
    assert asked > 3
    status, at = batch(tmp_path, service, rows=3)
    assert status == 2 and "model calls, by earlier runs" in at.err and f"--waves {asked}" in at.err
    assert len(service.batches) == asked
    status, at = batch(tmp_path, service, "--yes", rows=3)
    assert status == 1 and len(service.batches) == asked + 3


def test_x29_a_round_that_is_too_large_for_one_batch_becomes_several(
    tmp_path: Path, service: OpenAI, monkeypatch: pytest.MonkeyPatch
):
    """X29: by lines and by bytes."""
    from prosa.adapters.providers.openai_batches import OpenAIBatches
    from prosa.records.batch import BatchBounds

    service.max_lines = 5
    monkeypatch.setattr(OpenAIBatches, "bounds", BatchBounds(5, 200_000_000))
    status, at = batch(tmp_path, service)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
    assert [each["request_counts"]["total"] for each in service.batches.values()] == [5, 5, 2]
    monkeypatch.setattr(OpenAIBatches, "bounds", BatchBounds(50_000, 1_500))
    before = set(service.files)
    status, at = batch(tmp_path, service, rows=ROWS - 1)
    sent = [each for name, each in service.files.items() if name not in before and each["purpose"] == "batch"]
    assert status == 0 and len(sent) > 1 and all(each["bytes"] <= 1_500 for each in sent)


def test_x26_a_budget_holds_the_worst_case_at_half_the_price(tmp_path: Path, service: OpenAI):
    """X26: rows that do not fit wait for the next round, and what was held and not spent is there again."""
    words = ("--max-output-tokens", "20", "--max-cost")
    status, at = batch(tmp_path, service, *words, "0.03", "--waves", "20", rows=30)
    assert status == 0, at.err
    ((granted,),) = stored(tmp_path, "SELECT granted FROM batch")
    assert granted == 30 * 175_000  # billionths: what was spent, and nothing that was held
    assert len(service.batches) > 1
    status, at = batch(tmp_path, service, *words, "0.0001", rows=31)
    assert status == 1 and "the budget of $0.0001" in at.err


def test_x29_a_batch_that_the_service_refuses_ends_the_command_and_loses_nothing(tmp_path: Path, service: OpenAI):
    """X29."""
    service.refuse_batches = True
    status, at = batch(tmp_path, service)
    assert status == 1 and "Enqueued token limit reached" in at.err and not service.paid
    service.refuse_batches = False
    status, at = batch(tmp_path, service)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1))


def test_x7_a_wrong_key_is_told_and_never_shown(tmp_path: Path, service: OpenAI):
    """X7."""
    service.key = "k-other"
    environ = home(tmp_path, service) | {"OPENAI_API_KEY": "sk-secret"}
    program(tmp_path)
    (tmp_path / "rows.jsonl").write_text('{"text": "a"}\n')
    words = ["batch", str(tmp_path / "label.md"), "--rows", str(tmp_path / "rows.jsonl"), "--backend", "openai-batch"]
    status, at = command(*words, "--no-progress", environ=environ)
    assert status == 1 and "refused the key" in at.err and "sk-secret" not in at.err + at.out
    store = (tmp_path / "home/.local/share/prosa/store.sqlite").read_bytes()
    assert b"sk-secret" not in store
    status, at = command(*words, "-m", "scripted:x.jsonl", environ=environ)
    assert status == 2 and "names none" in at.err


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 31)), max_size=14), st.integers(1, 50))
def test_x29_the_id_of_a_line_leads_back_to_its_call(steps: list[tuple[int, int]], last: int):
    """X29: letters that both services take, at most 64 of them."""
    path = "".join(f"{one}.{other}/" for one, other in steps) + str(last)
    name = custom_id("c2b29fc4a851.1000000", path)
    assert len(name) <= MAX_ID and name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    run, found = run_of_id(name) or ("", "")
    assert run == "c2b29fc4a851.1000000" and found in (path, None)
    assert (found is None) == (len(path) > MAX_ID - 21)


@given(st.text(max_size=30))
def test_x29_an_id_of_nobody_leads_nowhere(name: str):
    """X29: a service may send anything."""
    found = run_of_id(name)
    assert found is None or found[0].count(".") >= 1


MOMENTS = ("the file went up", "the batch was made", "somebody looked", "results were fetched")


@pytest.mark.parametrize("moment", MOMENTS)
def test_x29_a_process_that_is_killed_pays_nothing_twice(tmp_path: Path, service: OpenAI, moment: str):
    """X29: before the service's answer is there, and whatever it was: the same command goes on."""
    words = command_words(tmp_path)
    environ = home(tmp_path, service)
    child = Killed(service, moment)
    child.run(words, environ)
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
    assert len(service.paid) == len(set(service.paid)) == ROWS and len(service.batches) == 1


def command_words(folder: Path) -> list[str]:
    program(folder)
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in texts(ROWS)))
    rows = ["--rows", str(folder / "rows.jsonl"), "--backend", "openai-batch", "--no-progress"]
    return ["batch", str(folder / "label.md"), *rows]


class Killed:
    """A process that is killed at a moment, before it hears what the service says."""

    def __init__(self, service: Any, moment: str) -> None:
        self.service, self.moment = service, moment
        self.ready, self.child = threading.Event(), None
        service.after = self

    def __call__(self, asked: Asked) -> None:
        what = asked.method, asked.path.rpartition("/")[2]
        known = {
            "the file went up": what == ("POST", "files"),
            "the batch was made": what == ("POST", "batches"),
            "somebody looked": asked.method == "GET" and "/batches/" in asked.path and what[1] != "results",
            "results were fetched": asked.method == "GET" and what[1] in ("content", "results"),
        }
        if known[self.moment]:
            assert self.ready.wait(LONGEST)
            self.service.after = lambda _: None
            os.kill(self.child.pid, signal.SIGKILL)
            self.child.wait(LONGEST)
            raise ConnectionError

    def run(self, words: list[str], environ: dict[str, str]) -> None:
        """Begins the command, and waits for its end."""
        self.child = begun(words, environ)
        self.ready.set()
        assert self.child.wait(LONGEST) == -signal.SIGKILL
        self.child.stderr.close()


def test_x29_a_signal_ends_the_waiting_and_the_same_command_fetches(tmp_path: Path, service: OpenAI):
    """X29: the service works on meanwhile."""
    words, environ = command_words(tmp_path), home(tmp_path, service)
    looked = threading.Event()
    service.works = False
    service.after = lambda asked: looked.set() if asked.path.startswith("/v1/batches/") else None
    child = begun(words, environ)
    assert looked.wait(LONGEST)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=LONGEST)
    assert child.returncode == 130 and b"to continue:" in said and b"Traceback" not in said, said
    service.works, service.after = True, lambda _: None
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)) and len(service.paid) == ROWS, at.err
    assert "12 requests in 1 batch of the service were sent before" in at.err


def test_x29_a_batch_whose_id_was_lost_is_found_on_a_later_page(tmp_path: Path, service: OpenAI):
    """X29: the answer to its creation was lost, and the service has many batches."""
    service.page = 2
    words, environ = command_words(tmp_path), home(tmp_path, service)

    def lose(asked: Asked) -> None:
        if (asked.method, asked.path) == ("POST", "/v1/batches"):
            for _ in range(5):
                made = dict(next(iter(service.batches.values())), id=service.new("batch"), metadata={"of": "others"})
                service.batches[made["id"]] = made
            raise ConnectionError

    service.after = lose
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)), at.err
    assert len([each for each in service.asked if each == ("POST", "/v1/batches")]) == 1
    assert len([each for each in service.asked if each == ("GET", "/v1/batches")]) == 3


def test_x29_a_batch_under_way_is_not_paid_once_more_elsewhere_and_can_be_cancelled(tmp_path: Path, service: OpenAI):
    """X29: live, or at another service."""
    words, environ = command_words(tmp_path), home(tmp_path, service)
    Killed(service, "somebody looked").run(words, environ)
    live = [each for each in words if each not in ("--backend", "openai-batch")]
    status, at = command(*live, environ=environ)
    assert status == 2 and "under way" in at.err and "--backend openai-batch" in at.err and not service.live
    status, at = command("batch", "label", "--cancel", environ=environ)
    assert status == 0 and [each["status"] for each in service.batches.values()] == ["cancelling"], at.err
    status, at = command(*words, environ=environ)
    assert status == 1 and "was cancelled at the service" in at.err and not service.paid
    status, at = command(*words, environ=environ)
    assert status == 0 and outputs(at) == list(range(1, ROWS + 1)) and len(service.paid) == ROWS, at.err
