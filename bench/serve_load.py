"""Asks a server as fast as it answers: `python -m bench.serve_load PORT SECONDS FILE`, a process of its own.

In: a port of this machine, and requests as a JSON list of texts, which are sent in turn. Out: how many were answered
in how many seconds, as JSON. Each connection sends its next request when it has the whole answer. How long an answer
is, is read once for each request; after that bytes are only counted, so that this process costs little beside the
server. Every answer must begin as the first one to the same request did.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.serve_http import WAIT_SECONDS, connected, piece_of, whole_answer

CONNECTIONS = 16


@dataclass(frozen=True, slots=True)
class Question:
    """A request, how its answer begins, and how many bytes it has."""

    request: bytes
    begins: bytes
    length: int


@dataclass(slots=True)
class _Asking:
    """A connection, the question that is under way, and the bytes that are still to come."""

    line: socket.socket
    at: int
    left: int = 0


def measure(port: int, requests: list[bytes], seconds: float) -> tuple[int, float]:
    """Return how many answers came in how many seconds."""
    with connected(port) as line:
        answers = [whole_answer(line, request) for request in requests]
    asked = [Question(each, got[:12], len(got)) for each, got in zip(requests, answers, strict=True)]
    poll, lines = select.poll(), dict[int, _Asking]()
    for number in range(CONNECTIONS):
        each = _Asking(connected(port), number * len(asked) // CONNECTIONS)
        lines[each.line.fileno()] = each
        poll.register(each.line, select.POLLIN)
    try:
        return _ask(poll, lines, asked, seconds)
    finally:
        for each in lines.values():
            each.line.close()


def _ask(poll: select.poll, lines: dict[int, _Asking], asked: list[Question], seconds: float) -> tuple[int, float]:
    done, started = 0, time.perf_counter()
    end = started + seconds
    for each in lines.values():
        _next(each, asked)
    while time.perf_counter() < end:
        for number, _ in poll.poll(WAIT_SECONDS * 1000) or _silent():
            each = lines[number]
            piece = piece_of(each.line)
            question = asked[each.at]
            if each.left == question.length and not piece.startswith(question.begins):
                raise SystemExit(f"another answer than before: {piece[:80]!r}")
            each.left -= len(piece)
            if each.left <= 0:
                done += 1
                each.at = (each.at + 1) % len(asked)
                _next(each, asked)
    return done, time.perf_counter() - started


def _next(each: _Asking, asked: list[Question]) -> None:
    question = asked[each.at]
    each.left = question.length
    each.line.sendall(question.request)


def _silent() -> list[tuple[int, int]]:
    raise SystemExit("the server does not answer")


def main(arguments: list[str]) -> int:
    """Print `[answers, seconds]`."""
    port, seconds, file = arguments
    requests = [text.encode("latin-1") for text in json.loads(Path(file).read_text(encoding="utf-8"))]
    print(json.dumps(measure(int(port), requests, float(seconds))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
