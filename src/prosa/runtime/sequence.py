"""The order of messages that every service accepts (X24), and the merging of messages.

In: messages in any order of roles. Out: messages of which only the first may be a system message, without two
neighbouring assistant messages; those of users and tools keep their place and text (P7).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby

from prosa.runtime.messages import Message, Role


def sequence(written: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages in the order in which they are sent (X24).

    All system messages are joined into the first message: chat templates refuse a later one, and a request never ends
    with one. Where nothing but system messages was written, their text is sent as that of a user. Neighbouring
    assistant messages are joined: services refuse two of them. Applied again it changes nothing.
    """
    all_of_it = tuple(written)
    system = [each for each in all_of_it if each.role == "system"]
    rest = join_neighbours((each for each in all_of_it if each.role != "system"), "assistant")
    if system and not rest:
        return (Message("user", joined(system).content),)
    return ((joined(system),) if system else ()) + rest


def join_neighbours(messages: Iterable[Message], role: Role) -> tuple[Message, ...]:
    """Return the messages with each run of neighbours of one role merged; all others unchanged."""
    runs = groupby(messages, key=lambda each: each.role)
    return tuple(chain.from_iterable((joined(list(run)),) if of == role else run for of, run in runs))


def joined(messages: Sequence[Message]) -> Message:
    """Return several messages of one role as one, with an empty line between them.

    A name shared by all of them stays the name; otherwise each name is the first line of its text.
    """
    first = messages[0]
    if len(messages) == 1:
        return first
    is_shared = len({each.name for each in messages}) == 1
    texts = (each.content if is_shared or not each.name else f"{each.name}:\n{each.content}" for each in messages)
    calls = tuple(call for each in messages for call in each.tool_calls)
    return Message(
        first.role, "\n\n".join(text for text in texts if text), calls, name=first.name if is_shared else None
    )
