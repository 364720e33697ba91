"""L47, LA33, X29. A worker runs a program for each message: once, whatever happens to it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from prosa.app.mail.post import box_list, message_list, retry_message, send_message
from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import JournalOptions, Options
from prosa.runtime.errors import ProviderError
from prosa.runtime.mail import MailRefused, MessageFilter, Worked, WorkerEnd
from prosa.runtime.program import Program
from tests import warm
from tests.app.journal.runs import environment, ran, rows, store_of
from tests.app.mail.dying import SENDS
from tests.app.mail.mortal import Forwarding, handle
from tests.app.mail.steps import BOX, Steps, answer, call, program
from tests.cli.programs import ROOT, SOURCE

AWAY = ProviderError("no such key", kind="auth", retryable=False)
BROKEN = ProviderError("broken", kind="server", retryable=False)


@pytest.fixture
def home(tmp_path) -> Path:
    folder = tmp_path / "home"
    (folder / ".local" / "share" / "prosa").mkdir(parents=True)
    return folder


def send(home: Path, *payloads: Any, to: str = "reader") -> list[str]:
    return [send_message(store_of(home), to, each).id for each in payloads]


def work(
    reader: Program, home: Path, model: Any, *, stop: asyncio.Event | None = None, told: Any = None, **chosen: Any
) -> tuple[WorkerEnd, list[Worked]]:
    """A worker until nothing is left."""
    worked: list[Worked] = []
    options = Options(journal=JournalOptions("mail"), **chosen.pop("options", {}))
    around = environment(home, **chosen.pop("settings", {}))

    def hear(each: Worked) -> None:
        worked.append(each)
        if told is not None:
            told(each)

    chosen = {"until_empty": True} | chosen
    end = asyncio.run(
        work_mail(reader, WorkerOptions(**chosen), options, around, provider=model, on_message=hear, stop=stop)
    )
    return end, worked


def box(home: Path, name: str) -> list[Any]:
    return [each.value for each in message_list(store_of(home), MessageFilter(name))]


def given(home: Path) -> list[Any]:
    """The states of the messages of the reader."""
    return [(each.state, each.attempts) for each in message_list(store_of(home), MessageFilter("reader"))]


def test_la33_the_payload_is_the_input_and_the_output_the_answer(tmp_path, home):
    first, second = send(home, {"text": "one"}, {"text": "two"})
    model = Steps(reader=[answer(1), answer(2)])
    end, worked = work(program(tmp_path, "reader"), home, model)
    assert [each.messages[-1].content.strip() for each in model.asked] == [
        "Say a number for one.",
        "Say a number for two.",
    ]
    assert [(each.message.id, each.output) for each in worked] == [(first, {"n": 1}), (second, {"n": 2})]
    answers = message_list(store_of(home), MessageFilter("user"))
    assert [(each.sender, each.reply_to, each.value) for each in answers] == [
        ("reader", first, {"n": 1}),
        ("reader", second, {"n": 2}),
    ]
    assert end == WorkerEnd(handled=2)
    assert given(home) == [("handled", 1)] * 2
    runs = rows(home, "SELECT door, job, state FROM run ORDER BY started, id")
    assert {(each["door"], each["state"]) for each in runs} == {("mail", "done")}


def test_la33_a_payload_that_is_no_input_is_a_dead_letter_at_once(tmp_path, home):
    send(home, {"text": 1}, {"text": "fine"})
    end, (bad, good) = work(program(tmp_path, "reader"), home, Steps(reader=[answer()]))
    assert (bad.end, good.end) == ("dead", "handled")
    assert "/text" in bad.error
    assert end == WorkerEnd(handled=1, failed=1, dead=1)
    assert given(home) == [("dead", 1), ("handled", 1)]


def test_x29_a_message_that_fails_five_times_is_a_dead_letter_and_can_be_retried(tmp_path, home):
    (name,) = send(home, {"text": "x"})
    reader = program(tmp_path, "reader")
    end, worked = work(reader, home, Steps(reader=[BROKEN] * 5))
    assert [each.end for each in worked] == ["again"] * 4 + ["dead"]
    assert (end.failed, end.dead, given(home)) == (5, 1, [("dead", 5)])
    retry_message(store_of(home), name[:8])
    end, _ = work(reader, home, Steps(reader=[answer()]))
    assert (end.handled, given(home)) == (1, [("handled", 1)])


def test_x29_a_further_attempt_goes_on_from_the_journal_and_sends_nothing_twice(tmp_path, home):
    send(home, {"text": "x"})
    model = Steps(reader=[call("mail_send", to="box", payload=1), BROKEN, answer()])
    work(program(tmp_path, "reader", SENDS), home, model)
    assert box(home, "box") == [1] and len(model.asked) == 3
    assert given(home) == [("handled", 2)]
    assert len(rows(home, "SELECT id FROM run")) == 1


def test_x29_an_output_that_was_refused_is_asked_for_from_the_beginning(tmp_path, home):
    send(home, {"text": "x"})
    reader = program(tmp_path, "reader", f"limits: {{iterations: 1}}\n{BOX}")
    _, worked = work(reader, home, Steps(reader=["no number", answer(4)]))
    assert [each.output for each in worked] == [None, {"n": 4}]
    assert [each["state"] for each in rows(home, "SELECT state FROM run ORDER BY state")] == ["done", "failed"]


def test_x29_what_is_no_fault_of_a_message_stops_the_worker_and_gives_it_back(tmp_path, home):
    send(home, {"text": "x"}, {"text": "y"})
    with pytest.raises(ProviderError, match="no such key"):
        work(program(tmp_path, "reader"), home, Steps(reader=[AWAY]))
    assert given(home) == [("new", 0), ("new", 0)]


def test_x29_a_worker_stops_when_its_budget_is_spent(tmp_path, home):
    send(home, {"text": "x"})
    reader = program(tmp_path, "reader", f"model: gpt-4o\n{BOX}")
    end, worked = work(reader, home, Steps(reader=[answer()]), options={"max_cost": "0.000001"})
    assert "budget" in end.reason and not worked
    assert given(home) == [("new", 0)]


def test_x29_a_worker_that_is_told_to_stop_gives_back_what_it_has(tmp_path, home):
    send(home, *({"text": str(n)} for n in range(6)))
    stop = asyncio.Event()
    end, worked = work(
        program(tmp_path, "reader"), home, Steps(reader=[answer()] * 6), stop=stop, told=lambda _: stop.set()
    )
    assert end.handled == len(worked) == 1
    assert given(home) == [("handled", 1)] + [("new", 0)] * 5


def test_x29_what_is_interrupted_does_not_count(tmp_path, home, monkeypatch):
    monkeypatch.setattr("prosa.app.mail.work.GRACE", 0.0)
    send(home, {"text": "x"})
    stop = asyncio.Event()

    class Slow(Steps):
        async def complete(self, request: Any, on_text: Any = None) -> Any:
            stop.set()
            await asyncio.Event().wait()

    end, worked = work(program(tmp_path, "reader"), home, Slow(), stop=stop, until_empty=False)
    assert not worked and end.handled == 0
    assert given(home) == [("new", 0)]
    work(program(tmp_path, "reader"), home, Steps(reader=[answer()]))
    assert given(home) == [("handled", 1)]


def test_x29_several_at_once_handle_each_message_once(tmp_path, home):
    send(home, *({"text": str(n)} for n in range(12)))
    end, worked = work(program(tmp_path, "reader"), home, Steps(reader=[answer()] * 12), at_once=4)
    assert end.handled == 12 and len({each.message.id for each in worked}) == 12


def test_x29_programs_that_answer_each_other_stop_after_sixteen_hops(tmp_path, home):
    """D3: two workers, each of which answers what the other one answers."""
    ping, pong = (program(tmp_path, name) for name in ("ping", "pong"))
    ran(
        program(tmp_path, "ping", "mailbox: {send: [pong]}\n"),
        home,
        Steps(ping=[call("mail_send", to="pong", payload={}), answer()]),
    )
    handled, unsent = 0, []
    while any(each.new for each in box_list(store_of(home))):
        for each in (pong, ping):
            end, worked = work(each, home, Steps(ping=[answer()] * 3, pong=[answer()] * 3))
            handled += end.handled
            unsent += [one.unsent for one in worked if one.unsent]
        assert handled <= 17
    assert handled == 17
    (why,) = unsent
    assert why.startswith("this would be message 18 of a chain") and why.endswith("after 16 hops nothing more is sent")


@pytest.mark.parametrize(
    ("more", "settings", "message"),
    [
        ("", {}, r"reader\.md has no mailbox"),
        (f"{BOX}classification: secret\n", {}, "is confidential, and a mailbox is stored on disk"),
        (BOX, {"history": "off"}, "stores nothing"),
    ],
)
def test_la33_a_worker_says_why_it_cannot_begin(tmp_path, home, more, settings, message):
    with pytest.raises(MailRefused, match=message):
        work(program(tmp_path, "reader", more), home, Steps(), settings=settings)


def killed(folder: Path, home: Path, what: str) -> None:
    """A process that received a message and sent one, and was killed then."""
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.app.mail.dying", str(folder), str(home), what]
    ended = warm.run(command, env=environ, cwd=ROOT, timeout=120, check=False).returncode
    assert ended == -signal.SIGKILL


def test_x29_a_message_of_a_killed_worker_is_handled_once_and_its_sends_are_not_doubled(tmp_path, home):
    """D2: kill -9 while a message is handled."""
    send(home, {"text": "x"})
    killed(tmp_path, home, "worker")
    assert given(home) == [("leased", 1)] and box(home, "box") == ["from the killed one"]
    model = Steps(reader=[answer(5)])
    end, (worked,) = work(program(tmp_path, "reader", SENDS), home, model)
    assert (end.handled, worked.message.attempts, worked.output) == (1, 2, {"n": 5})
    assert len(model.asked) == 1  # what was answered before is not asked again
    assert box(home, "box") == ["from the killed one"]
    assert given(home) == [("handled", 2)]


def test_x29_a_worker_that_is_killed_at_any_write_handles_and_sends_everything_once(tmp_path):
    """Before and after each commit; another worker goes on."""
    homes, texts = 14, ["one"]
    for number in range(2, homes + 2):
        (tmp_path / str(number) / ".local" / "share" / "prosa").mkdir(parents=True)
        send(tmp_path / str(number), *({"text": each} for each in texts))
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.app.mail.mortal", str(tmp_path), str(homes)]
    ran_to = warm.run(command, env=environ, cwd=ROOT, timeout=300, check=True, capture_output=True, text=True)
    ended = [int(each) for each in ran_to.stdout.split()]
    assert len(ended) == homes and ended.count(signal.SIGKILL) >= 6
    for number, how in enumerate(ended, 2):
        home, model = tmp_path / str(number), Forwarding()
        handle(home, home, model)
        assert {each[0] for each in given(home)} == {"handled"}, (number, how)
        assert sorted(each.split()[-1] for each in box(home, "box")) == ["one."], (number, how)
        answers = message_list(store_of(home), MessageFilter("user"))
        asked = [each.id for each in message_list(store_of(home), MessageFilter("reader"))]
        assert [each.reply_to for each in answers] == asked, (number, how)
        assert model.asked <= 2 * len(texts)


def test_x29_a_message_of_a_killed_run_is_received_again(tmp_path, home):
    """D2: kill -9 after a receive; the run that goes on sends nothing twice, and another one gets attempt 2."""
    send(home, {"text": "x"})
    killed(tmp_path, home, "run")
    ((run,),) = [tuple(each.values()) for each in rows(home, "SELECT id FROM run")]
    model = Steps(reader=[call("mail_receive"), BROKEN])
    reader = program(tmp_path, "reader", SENDS)
    with pytest.raises(ProviderError):
        ran(reader, home, model)
    assert model.last[0][0]["attempt"] == 2
    ran(reader, home, Steps(reader=[answer()]), resume=run)
    assert box(home, "box") == ["from the killed one"]
