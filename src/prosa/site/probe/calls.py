"""The GET actions that can be called without input, for `--call-reads` (H16). In: nodes. Out: what to ask for.

Only what declares no authentication, needs no parameter and stays on the site; everything else is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prosa.dialects.mdh.facts import action_value
from prosa.site.contract import read_contract
from prosa.site.probe.evidence import Mark, NodeSeen
from prosa.site.probe.questions import Ask
from prosa.site.problems import RequestError
from prosa.site.request import build_request

MAX_CALLS = 20
"""Actions that are called."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make: where the action is declared, the request, and whether it declares pages."""

    mark: Mark
    ask: Ask
    paginated: bool


def calls_of(nodes: Iterable[NodeSeen], root: str) -> tuple[Call, ...]:
    """The first calls of different URLs."""
    found: dict[str, Call] = {}
    for call in _calls(nodes, root):
        if len(found) < MAX_CALLS:
            found.setdefault(call.ask.exact, call)
    return tuple(found.values())


def _calls(nodes: Iterable[NodeSeen], root: str) -> Iterator[Call]:
    for node in nodes:
        for action in node.model.actions:
            try:
                contract = read_contract(action_value(action))
                if contract.wants_consent or contract.required or contract.path_names or contract.auth.wants_token:
                    continue
                request = build_request(contract, {}, site_root=root)
            except RequestError:
                continue
            mark = node.mark(action.anchor.start, action.title_for_people)
            ask = Ask("", contract.accept or "application/json", exact=request.address())
            yield Call(mark, ask, contract.pagination is not None)
