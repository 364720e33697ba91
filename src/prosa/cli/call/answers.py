"""What the site answers to `prosa call`: one answer, or the items of all pages. In: answers. Out: text on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.errors import FAILED, say
from prosa.cli.parser import WrongUse

if TYPE_CHECKING:
    from prosa.app.client.requests import SiteClient
    from prosa.site.answer import Answer
    from prosa.site.contract import Contract
    from prosa.site.request import Request

EXCUSE = 2_000
"""Characters of the text of a failure that are printed."""


def print_answer(answer: Answer, console: Console) -> int:
    """0 for a success, 1 for any other answer. JSON is printed in one form, other text as it is."""
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
    """Says that the site refused, with the beginning of its reasons."""
    said = f"the site answers {answer.status} {answer.reason}".rstrip()
    return say(console, said, (shown(answer) or "")[:EXCUSE], status=FAILED)


def shown(answer: Answer) -> str | None:
    """The text of an answer; None where it is none."""
    from prosa.app.client.requests import json_of
    from prosa.render.json import dump

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


# `prosa call --all-pages`: one page after the other, each item a line of JSON as soon as it is there (HA17).


def walk(client: SiteClient, contract: Contract, request: Request, limit: int | None, console: Console) -> int:
    """0 at the last page, and after as many as the user asked for; 1 where the walk cannot go on."""
    from prosa.app.client.requests import json_of
    from prosa.render.json import dump
    from prosa.site.pages import MAX_PAGES, Pages, items_of, next_page
    from prosa.site.problems import PageProblem

    if contract.wants_consent:
        what = (
            f"the name of this GET says `{contract.changing}`" if contract.changing else f"this is a {contract.method}"
        )
        raise WrongUse(f"--all-pages is for reads, and {what}")
    if contract.pagination is None:
        raise WrongUse("the action declares no pagination", hint="call it without --all-pages")
    state: Pages | None = Pages(request, limit=limit or MAX_PAGES)
    items = 0
    while state is not None:
        answer = client.send(state.request)
        value = json_of(answer)
        if not answer.is_success:
            return failed(answer, console)
        if value is None:
            return say(console, f"page {state.count} is no JSON, so its items cannot be told")
        for item in items_of(value):
            console.out(dump(item))
            items += 1
        count, full = state.count, state.full
        try:
            state = next_page(contract, value, state)
        except PageProblem as problem:
            return say(console, str(problem))
        if state is not None and full:
            return _cut(count, items, limit, console)
    console.note(f"{_many(items, 'item')} on {_many(count, 'page')}")
    return 0


def _cut(count: int, items: int, limit: int | None, console: Console) -> int:
    if limit is None:
        return say(console, f"there are more than {count:,} pages", "--max-pages N follows more of them")
    console.note(f"{_many(items, 'item')} on {_many(count, 'page')}; there are more pages")
    return 0


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
