"""`oauth2-without-token-url`: `oauth2` without the place where a token comes from (H12, HA15)."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Problem
from prosa.rules.subject import Subject


def check(subject: Subject) -> Iterator[Problem]:
    """At the type of the authentication."""
    for action in subject.model.actions:
        auth = action.auth
        if auth and auth.type and auth.type.text == "oauth2" and not auth.token_url and not auth.token_help:
            message = f"{action.title_for_people} needs an OAuth2 token and does not say where one comes from"
            notes = ("write `token_url`, or say it in `token_help`",)
            yield Problem("oauth2-without-token-url", message, auth.type.span, notes)
