"""L47, LA33, X29. Messages in the store: who gets them, what becomes of them, and that none is lost or doubled."""

from __future__ import annotations

import json
import os
import sys
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.adapters.store import mail
from prosa.adapters.store.opening import open_store
from prosa.adapters.store.writer import writer_of
from prosa.corpus.where import parse_where
from prosa.runtime.digest import as_json
from prosa.runtime.mail import (
    MAX_ATTEMPTS,
    MAX_HOPS,
    MAX_PAYLOAD,
    Letter,
    MailRefused,
    MessageFilter,
    MessageRecord,
)
from tests import warm
from tests.app.mail.writing import WRITERS
from tests.cli.programs import ROOT, SOURCE
from tests.depth import examples

NOW = "2026-03-01T12:00:00.000Z"
NUMBERS = count()


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.sqlite") as database:
        yield database
    database.close()


def letter(payload="1", *, run="r", path="1.0", to="box", **values):
    values = {"program": "writer", "mailbox": "writer", "allowed": ("box", "writer")} | values
    return Letter(payload=payload, run=run, path=path, to=to, **values)


def sent(store, *given_, now=NOW, **values) -> MessageRecord:
    return mail.send(letter(*given_, **values), now)(store)


def take(store, *, run="", path="", box="box", holder="me", alive=("me",), **values):
    wanted = mail.Lease(box, NOW, run, path, **values)
    return mail.lease(wanted, lambda: holder, lambda name: name in alive)(store)


def me() -> str:
    return "me"


def state(store, message):
    return mail.named(store, message.id).state


def test_l47_a_message_has_sender_timestamp_and_payload(store):
    sent(store, '{"text":"hello"}')
    (found,) = take(store, run="r2", path="1.0")
    said = found.for_model()
    assert (said["sender"], said["timestamp"], said["payload"]) == ("writer", NOW, {"text": "hello"})


def test_x29_eight_writers_lose_nothing_and_each_keeps_its_order(tmp_path):
    """L47: eight processes with a thousand sends each to one mailbox."""
    path, many = tmp_path / "store.sqlite", 1_000
    environ = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", "tests.app.mail.writing", str(path), str(many)]
    assert warm.run(command, env=environ, cwd=ROOT, timeout=300, check=False).returncode == 0
    with open_store(path) as database:
        found = mail.messages(database, MessageFilter("box"))
    database.close()
    assert len(found) == len({each.place for each in found}) == WRITERS * many
    for number in range(WRITERS):
        assert [each.value for each in found if each.sender == f"s{number}"] == list(range(many))


def test_x29_a_send_that_is_made_again_is_the_same_message(store):
    first, again, other = sent(store, "1"), sent(store, "2"), sent(store, "1", path="1.1")
    assert first == again
    assert other.id != first.id
    assert len(mail.messages(store, MessageFilter("box"))) == 2


def test_la33_messages_are_given_out_in_the_order_in_which_they_came(store):
    for n in range(5):
        sent(store, str(n), path=f"1.{n}", program=f"p{n % 2}")
    assert [each.value for each in take(store, run="a", path="1.0", most=2)] == [0, 1]
    assert [each.value for each in take(store, run="b", path="1.0", most=9, sender="p0")] == [2, 4]
    assert [each.value for each in take(store, run="b", path="2.0", most=9)] == [3]
    assert [each.value for each in take(store, run="b", path="1.0", most=9)] == [2, 4]  # the same call again


def test_la33_what_does_not_fit_into_a_result_waits(store):
    for n in range(3):
        sent(store, json.dumps("x" * 1_000), path=f"1.{n}")
    assert len(take(store, run="a", path="1.0", most=9, room=2_900)) == 2
    assert len(take(store, run="a", path="2.0", most=9, room=10)) == 1


def test_x29_what_a_dead_process_had_is_given_out_again(store):
    sent(store)
    (first,) = take(store, run="a", path="1.0", holder="gone", alive=("gone",))
    assert not take(store, run="b", path="1.0", alive=("me", "gone"))
    (again,) = take(store, run="b", path="1.0")
    assert (first.attempts, again.attempts) == (1, 2)
    mail.handled("a", me, NOW)(store)  # whoever was thought dead says something of it all the same
    assert state(store, again) == "leased"
    mail.handled("b", me, NOW)(store)
    assert state(store, again) == "handled"


def test_x29_a_message_fails_five_times_and_is_a_dead_letter(store):
    sent(store)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        (message,) = take(store, run=f"r{attempt}", path="1.0")
        assert message.attempts == attempt
        mail.given_back(f"r{attempt}", me, NOW, error="no")(store)
    assert not take(store, run="r9", path="1.0")
    dead = mail.named(store, message.id)
    assert (dead.state, dead.error, dead.attempts) == ("dead", "no", MAX_ATTEMPTS)
    mail.retry(dead.id, NOW)(store)
    (again,) = take(store, run="r9", path="1.0")
    assert again.attempts == 1


def test_x29_a_message_that_ends_its_process_five_times_is_a_dead_letter(store):
    sent(store)
    for attempt in range(MAX_ATTEMPTS):
        assert take(store, run=f"r{attempt}", path="1.0", holder=f"h{attempt}")
    assert not take(store, run="r9", path="1.0")
    (dead,) = mail.messages(store, MessageFilter(states=("dead",)))
    assert dead.error == "its process ended 5 times while it was handled"


def test_x29_who_was_thought_dead_gives_back_nothing_that_another_has(store):
    """The same run goes on in another process, with the same message."""
    sent(store)
    (first,) = take(store, holder="gone", alive=("gone",))
    (again,) = take(store)
    assert (first.run, again.attempts) == (again.run, 2)
    for settled in (
        mail.given_back(again.run, lambda: "gone", NOW, error="no"),
        mail.handled(again.run, lambda: "gone", NOW),
    ):
        settled(store)
    assert state(store, again) == "leased"


def test_x29_what_is_only_given_back_does_not_count(store):
    sent(store)
    for n in range(MAX_ATTEMPTS + 2):
        (message,) = take(store, run=f"r{n}", path="1.0")
        assert message.attempts == 1
        mail.given_back(f"r{n}", me, NOW)(store)
    assert state(store, message) == "new"


def test_x29_a_run_that_goes_on_has_again_what_it_had(store):
    sent(store)
    take(store, run="a", path="1.0")
    mail.given_back("a", me, NOW)(store)
    mail.hold_again("a", lambda: "me", NOW)(store)
    assert not take(store, run="b", path="1.0")
    mail.handled("a", me, NOW)(store)
    assert mail.boxes(store)[0].handled == 1


def test_x29_a_run_that_goes_on_leaves_what_another_has_by_now(store):
    sent(store)
    take(store, run="a", path="1.0")
    mail.given_back("a", me, NOW)(store)
    take(store, run="b", path="1.0")
    mail.hold_again("a", lambda: "me", NOW)(store)
    mail.handled("a", me, NOW)(store)
    assert mail.boxes(store)[0].leased == 1


def test_x29_a_chain_of_messages_ends_after_sixteen_hops(store):
    message, sends = sent(store, run="r0", to="writer"), 1
    with pytest.raises(MailRefused, match="after 16 hops nothing more is sent"):
        while True:
            run = f"r{sends}"
            take(store, run=run, path="1.0", box="writer")
            message = mail.send(letter(run=run, path="2.0", to="writer"), NOW)(store)
            mail.handled(run, me, NOW)(store)
            sends += 1
    assert (sends, message.hops) == (MAX_HOPS + 1, MAX_HOPS)
    assert message.thread == mail.messages(store, MessageFilter("writer"))[0].id


def test_la33_a_program_writes_where_it_says_and_to_who_wrote_to_it(store):
    with pytest.raises(MailRefused, match="writer may not write to 'other'; its addresses are box, writer"):
        sent(store, to="other")
    question = mail.send(letter(to="box", mailbox="asker", run="q"), NOW)(store)
    with pytest.raises(MailRefused, match=r"no message .* among those that this run received"):
        sent(store, run="a", to=None, reply_to=question.id)
    take(store, run="a", path="1.0")
    answer = sent(store, run="a", path="2.0", to=None, reply_to=question.id, program="box", allowed=())
    assert (answer.mailbox, answer.reply_to, answer.thread) == ("asker", question.id, question.thread)
    with pytest.raises(MailRefused, match="box may not write to 'asker'; its addresses are none"):
        sent(store, run="a", path="3.0", to=None, reply_to=question.id, program="box", allowed=(), answers=False)
    assert len(mail.messages(store, MessageFilter())) == 2


def test_la33_a_payload_has_a_largest_size(store):
    fits = json.dumps("x" * (MAX_PAYLOAD - 2))
    assert sent(store, fits).payload == fits
    with pytest.raises(MailRefused, match="a message at most 262,144"):
        sent(store, json.dumps("é" * MAX_PAYLOAD), path="1.1")


def test_la33_what_waits_too_long_is_a_dead_letter(store):
    old, new = sent(store), sent(store, path="1.1", now="2026-03-02T12:00:00.000Z")
    wanted = mail.Lease("box", "2026-03-03T00:00:00.000Z", "a", "1.0", most=9, since="2026-03-02T00:00:00.000Z")
    assert [each.id for each in mail.lease(wanted, lambda: "me", lambda _: True)(store)] == [new.id]
    assert mail.named(store, old.id).error == "it expired before it was handled"


def test_l47_messages_are_found_by_sender_time_and_content(store):
    for n, (sender, payload) in enumerate(
        [("a", '{"urgent":true,"text":"Rent is due"}'), ("b", '{"urgent":false}'), ("a", '["RENT"]')]
    ):
        sent(store, payload, path=f"1.{n}", program=sender, now=f"2026-03-0{n + 1}T00:00:00.000Z")

    def found(**chosen):
        if "where" in chosen:
            chosen["where"] = parse_where(chosen["where"])
        return [each.origin_path for each in mail.messages(store, MessageFilter("box", **chosen))]

    assert found() == ["1.0", "1.1", "1.2"]
    assert found(sender="a") == ["1.0", "1.2"]
    assert found(after="2026-03-02") == ["1.1", "1.2"]
    assert found(before="2026-03-02") == ["1.0"]
    assert found(text="rent") == ["1.0", "1.2"]
    assert found(where="payload.urgent = true") == ["1.0"]
    assert found(where="has payload.urgent and sender = b") == ["1.1"]
    assert found(limit=2) == ["1.1", "1.2"]
    assert found(limit=1, text="rent") == ["1.2"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(payload=JSON)
def test_l47_any_payload_comes_back_as_it_was(store, payload):
    message = mail.send(letter(as_json(payload), run=f"p{next(NUMBERS)}", path="1"), NOW)(store)
    assert mail.named(store, message.id).value == payload


def test_x29_work_of_many_threads_through_the_writer_is_settled_once(tmp_path):
    """What is leased by one is not leased by another."""
    path = tmp_path / "store.sqlite"
    writer = writer_of(path)
    for n in range(40):
        writer.do(mail.send(letter(str(n), path=f"1.{n}"), NOW))
    leases = [
        writer.do(mail.lease(mail.Lease("box", NOW, f"r{n}", "1.0", most=3), lambda: writer.holder, lambda _: True))
        for n in range(20)
    ]
    got = [each.value for one in leases for each in one.result()]
    writer.release()
    assert sorted(got) == list(range(40))
