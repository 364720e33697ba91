"""The reasons why a request cannot be made or answered, or a walk over pages cannot continue.

    ValueError
    ├── RequestError    (a `ProsaError`) an action or an input of which no request can be made; all problems at once
    └── PageProblem     an answer that does not lead to the next page
    Exception
    └── HttpProblem     no usable answer came

No message ever holds a credential.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from prosa.source import ProsaError

Where: TypeAlias = Literal["action", "site_root", "input", "path", "query", "body", "token"]
Again: TypeAlias = Literal["never", "always", "if-repeatable"]


class RequestProblem(NamedTuple):
    """A problem of a request.

    ``where`` is the part of the request: ``action`` and ``site_root`` come from the author or the caller, the others
    from the input. ``name`` is the parameter, the field, or for a body the JSON pointer (RFC 6901); it may be empty.
    ``message`` says what was expected and found.
    """

    where: Where
    name: str
    message: str

    def __str__(self) -> str:
        named = f"{self.where} `{self.name}`" if self.name else self.where.replace("_", " ")
        return f"{named}: {self.message}"


class RequestError(ProsaError, ValueError):
    """No request can be made. ``problems`` are all that was found; the text has one on each line."""

    def __init__(self, problems: Sequence[RequestProblem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class PageProblem(ValueError):
    """The next page cannot be requested (HA17): a cursor seen before, a link to another origin, an unusable value."""


class HttpProblem(Exception):
    """No usable answer. ``hint`` says what to do, if anything helps.

    ``again`` is whether a retry makes sense: never, always because nothing reached the site, or only for a method that
    may be sent twice.
    """

    def __init__(self, message: str, hint: str = "", *, again: Again = "never") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.again = again


def refuse(where: Where, name: str, message: str) -> RequestError:
    """Return a `RequestError` of one problem."""
    return RequestError([RequestProblem(where, name, message)])
