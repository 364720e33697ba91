"""The output of `prosa call`: one answer, or the items of all pages. In: answers. Out: text on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, say

if TYPE_CHECKING:
    from prosa.app.client.call import PagedCall
    from prosa.site.answer import Answer

EXCUSE = 2_000
"""Characters of the text of a failure that are printed."""


def print_answer(answer: Answer, console: Console) -> int:
    """Return 0 for a success, 1 for any other answer. JSON is printed in one form, other text unchanged."""
    if not answer.is_success:
        return failed(answer, console)
    text = shown(answer)
    if text is None:
        return say(console, f"the answer is no text but {answer.media_type or 'of no named type'}, and is not printed")
    console.err(f"{answer.status} {_plain(answer.reason)}".rstrip())
    if text:
        console.out(text)
    return 0


def failed(answer: Answer, console: Console) -> int:
    """Say that the site refused, with the beginning of its reasons."""
    said = f"the site answers {answer.status} {answer.reason}".rstrip()
    return say(console, said, (shown(answer) or "")[:EXCUSE], status=FAILED)


def shown(answer: Answer) -> str | None:
    """Return the text of an answer; None where it is none."""
    from prosa.render.json import dump
    from prosa.site.answer import json_of

    value = json_of(answer)
    if value is not None:
        return dump(value, indent=2)
    try:
        return answer.body.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _plain(text: str) -> str:
    from prosa.render.plain import safe

    return safe(text)


def print_walk(walked: PagedCall, limit: int | None, console: Console) -> int:
    """Print how many items there were (HA17): return 0, also at the user's limit of pages; 1 for a listing
    without end."""
    if walked.more and limit is None:
        return say(console, f"there are more than {walked.pages:,} pages", "--max-pages N follows more of them")
    more = "; there are more pages" if walked.more else ""
    console.note(f"{_many(walked.items, 'item')} on {_many(walked.pages, 'page')}{more}")
    return 0


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
