"""A page as a run has it (X15): the node, the actions it offers, and the text that a model gets of it.

In: a node as it was read. Out: a `Place`, and its text with numbered links and actions, within the limit of a result.
A page may declare as much as it wants; what is offered of it is bounded, and the rest is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from prosa.app.site_access import SiteAccess
from prosa.app.site_action import OfferedAction, cleaned

if TYPE_CHECKING:
    from prosa.site.node import SiteNode
    from prosa.site.origin import Origin

MAX_ACTIONS = 64
"""Actions of one page that are offered."""

MAX_LOOKED_AT = 256
"""Actions of one page that are looked at."""

MAX_SCHEMAS = 256 * 1024
"""Characters of the schemas of all actions of a page: they go into every request to the model."""

MAX_LINKS = 200
"""Links that are listed; those behind them can be visited by their text or path all the same."""


@dataclass(frozen=True, slots=True)
class Place:
    """A page that a run is on. ``refused`` says of actions why they are not offered; ``beyond`` counts the others."""

    node: SiteNode
    origin: Origin
    actions: tuple[OfferedAction, ...]
    refused: tuple[str, ...] = ()
    beyond: int = 0


def place_of(access: SiteAccess, node: SiteNode) -> Place:
    """The place that a node is. Of several actions with one id the first counts (HA13)."""
    from prosa.site.offer import offer_of
    from prosa.site.origin import origin_of

    origin, left = origin_of(node.url), MAX_SCHEMAS
    found: dict[str, OfferedAction] = {}
    refused: list[str] = []
    looked = 0
    for action in islice(node.actions, MAX_LOOKED_AT):
        if len(found) >= MAX_ACTIONS or left < 0:
            break
        looked += 1
        offer = offer_of(action, str(origin))
        if isinstance(offer, str):
            refused.append(f"{cleaned(str(action.get('id') or 'an action without id'))}: {offer}")
        elif offer.contract.id not in found:
            left -= len(json.dumps(offer.parameters))
            if left >= 0:
                found[offer.contract.id] = OfferedAction(access, offer, node.url, origin)
    beyond = len(node.actions) - looked + (left < 0)
    return Place(node, origin, tuple(found.values()), tuple(refused[:MAX_ACTIONS]), beyond)


def page_text(place: Place, limit: int) -> str:
    """The page for a model: its name, its text, its links by number, its actions. The text is cut so that the rest fits
    into ``limit`` bytes."""
    node = place.node
    tail = "\n".join(("", *_links(place), *_actions(place)))
    head = f"page: {cleaned(node.title) or 'without title'} ({cleaned(node.url)})\n\n"
    room = max(limit - len((head + tail).encode("utf-8", "replace")), limit // 2) - 100
    body = node.body.strip("\r\n").encode("utf-8", "replace")
    text = body[: max(room, 0)].decode("utf-8", "ignore")
    cut = f"\n[cut: the text has {len(body):,} bytes]" if len(body) > max(room, 0) else ""
    return f"{head}{text}{cut}\n{tail}"


def _links(place: Place) -> Iterator[str]:
    from prosa.site.follow import leads

    every = leads(place.node)
    if every:
        yield "links, which `visit` takes by number:"
    for lead in every[:MAX_LINKS]:
        words = cleaned(next((word for word in lead.words if word), ""))
        yield f"{lead.number}. {words} ({cleaned(lead.url) if lead.url else f'the node {cleaned(lead.node_id)}'})"
    if len(every) > MAX_LINKS:
        yield f"and {len(every) - MAX_LINKS:,} more links"


def _actions(place: Place) -> Iterator[str]:
    yield "actions of this page, which are tools while you are here:" if place.actions else "no actions on this page"
    for action in place.actions:
        contract = action.offer.contract
        title = f": {cleaned(action.offer.title)}" if action.offer.title.strip() else ""
        yield f"- {cleaned(contract.id)} ({contract.method} {cleaned(contract.url)}){title}"
    for reason in place.refused:
        yield f"- not offered: {reason}"
    if place.beyond:
        yield f"- not offered: {place.beyond:,} more"
