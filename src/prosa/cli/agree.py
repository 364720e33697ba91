"""`prosa agree` and `markdownlang agree`: show a phrase, compare what the user types, store the agreement (L38–L40,
LA29).

In: a user at a terminal, or one of the phrases by flag, environment or pipe. Out: the record in the user's home. It
only accepts the phrase it shows, and never prompts without a terminal.
"""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable

from prosa.app.trust import AGREEMENT_VARIABLE, accept_agreement, stored_agreement
from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.errors import OK, say
from prosa.cli.parser import WrongUse
from prosa.dialects.markdownlang.agreement import (
    ACCEPTED,
    COMMAND,
    INTRODUCTION,
    PHRASES,
    PROMPT,
    TITLE,
    accepts,
    index_of,
)

# A typing mistake should not cost a new start; a third one is no mistake.
MAX_ATTEMPTS = 3

MAX_PHRASE_BYTES = 4096
"""Bytes of standard input; no phrase is longer."""


_ACCEPTED = '{"accepted": true}'


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the way that needs no terminal."""
    parser.add_argument(
        "--phrase", metavar="TEXT", help="accept by giving one of the phrases; works without a terminal"
    )
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Return the command."""
    return agree(console, phrase=args.phrase, as_json=args.format == "json")


def agree(
    console: Console,
    *,
    phrase: str | None = None,
    command: str = COMMAND,
    choose: Callable[[int], int] = secrets.randbelow,
    as_json: bool = False,
) -> int:
    """Accept the agreement and give the exit status: 0 accepted (also earlier), 1 not accepted, `WrongUse` for 2.

    ``choose`` picks the index of the phrase to show from the number of phrases; ``command`` is how hints call this.
    """
    stored = stored_agreement(console.environ)
    if stored.record is not None:
        when = f" on {stored.record.agreed_at}" if stored.record.agreed_at else ""
        message = f"The agreement was already accepted{when} ({stored.path})."
        console.out(_ACCEPTED if as_json else message)
        return OK
    if stored.problem:
        console.note(f"note: {stored.problem}")
    source, phrase_text = _found(console, phrase)
    index = _given(phrase_text, source, command) if phrase_text else _typed(console, command, choose, as_json=as_json)
    if index is None:
        return say(console, "the agreement was not accepted; nothing was stored", cause="agreement-required")
    accept_agreement(console.environ, index)
    console.out(_ACCEPTED if as_json else f"\n{ACCEPTED}")
    return OK


def _found(console: Console, phrase: str | None) -> tuple[str, str | None]:
    """Return a phrase that was not typed, and where it came from: the flag, the variable, a pipe or a file (LA29)."""
    if phrase is not None:
        return "--phrase", phrase
    if console.environ.get(AGREEMENT_VARIABLE):
        return AGREEMENT_VARIABLE, console.environ[AGREEMENT_VARIABLE]
    if not console.interactive and console.is_fed:
        text = console.read_bytes(MAX_PHRASE_BYTES).decode("utf-8", "replace")
        return "standard input", text.rstrip("\r\n")
    return "", None


def _given(phrase: str, source: str, command: str) -> int:
    """Return the index of a phrase that was not typed; anything else is wrong use."""
    index = index_of(phrase)
    if index is None:
        raise WrongUse(
            f"{source} holds none of the {len(PHRASES)} phrases of the agreement",
            hint=f'Write one exactly, for example: {command} --phrase "{PHRASES[0]}"',
        )
    return index


def _typed(console: Console, command: str, choose: Callable[[int], int], *, as_json: bool) -> int | None:
    """Show one phrase and ask for it; None when it was not typed. Without a terminal this is wrong use."""
    if not console.interactive or as_json:
        raise WrongUse(
            "the agreement is accepted by typing a phrase at a terminal, and there is none here",
            hint=f'Without a terminal: {command} --phrase "{PHRASES[0]}", a pipe, '
            f"or {AGREEMENT_VARIABLE} with a phrase.\n"
            f"The {len(PHRASES)} phrases:\n" + "\n".join(f"  {phrase}" for phrase in PHRASES),
        )
    index = choose(len(PHRASES))
    console.out(f"{TITLE}\n\n{INTRODUCTION}\n\n{PHRASES[index]}\n")
    for _ in range(MAX_ATTEMPTS):
        typed = console.ask(PROMPT)
        if typed is None:
            console.out("")
            return None
        if accepts(index, typed):
            return index
        console.out("That is not the phrase above, letter by letter.")
    return None
