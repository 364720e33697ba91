"""`impossible-chunk`: a chunk that is none of the chunks there are (Y12)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, Scalar
from prosa.diagnostics import Problem
from prosa.dialects.ymj.model import YmjModel
from prosa.rules.subject import Subject

NOTE = "`chunk_id` says which of `total` chunks this one is"


def check(subject: Subject) -> Iterator[Problem]:
    """At the number that cannot be. Whether chunks are counted from 0 or from 1 is not asked."""
    model: YmjModel = subject.model
    chunking = model.ops_map("chunking")
    if chunking is None:
        return
    number, total = _whole(chunking, "chunk_id"), _whole(chunking, "total")
    if total is not None and total[0] < 1:
        yield _problem(f"there are {total[0]} chunks in all, and this is one of them", total[1])
    elif number is not None and number[0] < 0:
        yield _problem(f"a chunk cannot have the number {number[0]}", number[1])
    elif number is not None and total is not None and number[0] > total[0]:
        yield _problem(f"chunk {number[0]} of {total[0]} cannot be", number[1])


def _whole(mapping: Mapping, name: str) -> tuple[int, Scalar] | None:
    node = mapping.get(name)
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int):
        return None
    return node.value, node


def _problem(message: str, at: Scalar) -> Problem:
    return Problem("impossible-chunk", message, at.span, (NOTE,))
