"""Requests that are not carried out, in words for a program (RFC 9457). In: a status and a sentence. Out: an `Answer`.

No text here ever holds a token, a key, or where on this machine a file lies.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from typing import NamedTuple

from prosa.render.json import dump
from prosa.runtime.usage import Meter
from prosa.web.answer import NEVER, Answer, answer

PROBLEM = "application/problem+json"
GONE = 499
"""The logged status of a request whose client disconnected before there was an answer; it is never sent."""

Pairs = tuple[tuple[str, str], ...]


class Wrong(NamedTuple):
    """One thing that is wrong with a body: where it stands (RFC 6901), and what was expected."""

    pointer: str
    message: str


class Refused(Exception):
    """A request that is not carried out. ``detail`` is a sentence for the client, ``headers`` go with it, ``wrong`` is
    everything that is wrong with its body."""

    def __init__(self, status: int, detail: str, *, headers: Pairs = (), wrong: Iterable[Wrong] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers
        self.wrong = tuple(wrong)

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase

    def answer(self) -> Answer:
        """As problem JSON."""
        return problem(self.status, self.detail, headers=self.headers, wrong=self.wrong)


class ClientGone(Exception):
    """The client disconnected."""


def taken(meter: Meter) -> Pairs:
    """Return what a run took, for the client: tokens and US dollars."""
    return ("x-prosa-tokens", str(meter.tokens)), ("x-prosa-cost", f"{meter.cost:.6f}")


def problem(status: int, detail: str, *, headers: Pairs = (), wrong: Iterable[Wrong] = ()) -> Answer:
    """Problem JSON: `type`, `title`, `status`, `detail`, and `errors` for an invalid body. Never cached."""
    value = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    errors = [each._asdict() for each in wrong]
    body = dump(value | ({"errors": errors} if errors else {}))
    return answer(f"{body}\n", PROBLEM, status=status, cache=NEVER, headers=headers)
