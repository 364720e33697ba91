"""Reading a node of a site and following its links. Only GET is sent (H1).

In: a URL, and the name of each link. Out: the `SiteNode` at the end of the path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from prosa.app.client.requests import Bounds, SiteClient
from prosa.app.client.tokens import SiteTokens
from prosa.site.answer import json_of
from prosa.site.follow import FollowProblem, followed, index_of, index_urls
from prosa.site.node import SiteNode
from prosa.site.page_link import same_site


def visit_site(
    url: str, follow: Sequence[str], bounds: Bounds, tokens: SiteTokens, *, any_origin: bool = False
) -> SiteNode:
    """Return the node at ``url``, or where the links lead that ``follow`` names: by number, rel, target, text or path.
    With ``any_origin`` also to other sites. Raises `FollowProblem`, `HttpProblem`, `RequestError`."""
    with SiteClient(bounds, tokens) as client:
        node, _ = client.fetch(url, any_origin=any_origin)
        for what in follow:
            node = _step(client, node, what, any_origin=any_origin)
    return node


def _step(client: SiteClient, node: SiteNode, what: str, *, any_origin: bool) -> SiteNode:
    """Return the node that a link leads to."""
    url = followed(node, what, lambda: _index(client, node))
    if not any_origin and not same_site(url, node.url):
        raise FollowProblem(f"the link leads to {url}, another site", "go there with --any-origin, if you trust it")
    return client.fetch(url, any_origin=any_origin)[0]


def _index(client: SiteClient, node: SiteNode) -> Mapping[str, str]:
    """Return the index of the node's site (HA1); empty where it has none."""
    for url in index_urls(node.url):
        answer = client.get(url, "application/json")
        if answer.is_success and (found := index_of(json_of(answer), url)):
            return found
    return {}
