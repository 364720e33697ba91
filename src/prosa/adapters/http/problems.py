"""What goes wrong between this machine and a site. No message holds a credential."""

from __future__ import annotations

from typing import Literal, TypeAlias

Again: TypeAlias = Literal["never", "always", "if-repeatable"]


class HttpProblem(Exception):
    """No usable answer. ``hint`` says what to do, where something can be done.

    ``again`` says whether another attempt makes sense: never, always because nothing reached the site, or only for a
    method that may be sent twice.
    """

    def __init__(self, message: str, hint: str = "", *, again: Again = "never") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.again = again
