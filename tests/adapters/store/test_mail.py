"""L47, LA33, X29. Mailboxes on a server keep what they keep in a file, by the same tests."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from prosa.adapters.store.opening import open_store
from prosa.app.mail.post import box_list, message_list, poll_seconds, send_message
from prosa.app.mail.work import WorkerOptions, work_mail
from prosa.app.options import JournalOptions, Options
from prosa.records.run import StoreServer
from prosa.runtime.mail import MessageFilter
from tests.app.journal.runs import environment
from tests.app.mail.steps import Steps, answer, program
from tests.app.mail.test_messages import (
    test_l47_messages_are_found_by_sender_time_and_content,
    test_la33_a_program_writes_where_it_says_and_to_who_wrote_to_it,
    test_la33_messages_are_given_out_in_the_order_in_which_they_came,
    test_la33_what_waits_too_long_is_a_dead_letter,
    test_x29_a_message_fails_five_times_and_is_a_dead_letter,
    test_x29_a_run_that_goes_on_has_again_what_it_had,
    test_x29_a_send_that_is_made_again_is_the_same_message,
    test_x29_what_a_dead_process_had_is_given_out_again,
)

__all__ = [
    "test_l47_messages_are_found_by_sender_time_and_content",
    "test_la33_a_program_writes_where_it_says_and_to_who_wrote_to_it",
    "test_la33_messages_are_given_out_in_the_order_in_which_they_came",
    "test_la33_what_waits_too_long_is_a_dead_letter",
    "test_x29_a_message_fails_five_times_and_is_a_dead_letter",
    "test_x29_a_run_that_goes_on_has_again_what_it_had",
    "test_x29_a_send_that_is_made_again_is_the_same_message",
    "test_x29_what_a_dead_process_had_is_given_out_again",
]


@pytest.fixture
def store(url):
    with closing(open_store(StoreServer(url))) as database:
        yield database


def test_x29_two_workers_on_a_server_handle_each_message_once(url, tmp_path):
    """LA33: each message is answered once, whoever handles it."""
    place, reader = StoreServer(url), program(tmp_path, "reader")
    for n in range(10):
        send_message(place, "reader", {"text": str(n)})
    options = Options(journal=JournalOptions("mail", place))

    async def both() -> list[int]:
        models = [Steps(reader=[answer()] * 10) for _ in range(2)]
        around = environment(tmp_path)
        ends = await asyncio.gather(
            *(work_mail(reader, WorkerOptions(2, until_empty=True), options, around, provider=each) for each in models)
        )
        return [each.handled for each in ends]

    assert sum(asyncio.run(both())) == 10
    found = message_list(place, MessageFilter("reader"))
    assert {(each.state, each.attempts) for each in found} == {("handled", 1)}
    answered = {each.reply_to for each in message_list(place, MessageFilter("user"))}
    assert answered == {each.id for each in found}
    assert {each.mailbox: each.handled for each in box_list(place)} == {"reader": 10, "user": 0}


def test_x29_who_waits_for_a_message_looks_more_often_on_a_server(tmp_path):
    """X29: a look locks nothing there."""
    assert poll_seconds(StoreServer("postgresql://localhost/prosa")) < 0.1 < poll_seconds(tmp_path / "store.sqlite")
