"""A node in one of its forms, as an answer (H8, HA7, HA8): bytes, tag, and where the other forms are."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.render.json import dump
from prosa.render.page.model import Page
from prosa.render.page.node import language_of, node_page
from prosa.render.page.policy import POLICY
from prosa.site.layout import twin_of
from prosa.site.negotiate import MEDIA_TYPES
from prosa.site.represent import json_of
from prosa.site.view import Form, NodeView
from prosa.web.answer import PRIVATE, PUBLIC, Answer, answer

_FORMS: tuple[Form, ...] = ("markdown", "json", "html")


def markdown_answer(view: NodeView, prefix: str, *, negotiated: bool, private: bool = False) -> Answer:
    """The Markdown of a node: an MDH node to the byte, another dialect with derived front matter; links are as
    `resolving.for_agents` made them."""
    return _answer(view.markdown, "markdown", view, prefix, negotiated=negotiated, private=private)


def json_answer(view: NodeView, prefix: str, *, negotiated: bool, private: bool = False) -> Answer:
    """The JSON of a node (HA8)."""
    body = dump(json_of(view, prefix)).encode("utf-8", "replace") + b"\n"
    return _answer(body, "json", view, prefix, negotiated=negotiated, private=private)


def html_answer(page: Page, *, negotiated: bool, private: bool = False) -> Answer:
    """The page of a node. One with forms of this reader is nobody else's."""
    body = node_page(page).encode("utf-8", "replace")
    own = private or page.frame.can_run or page.frame.signed_in
    more = [("content-security-policy", POLICY), ("content-language", language_of(page))]
    return _answer(body, "html", page.view, page.frame.prefix, more, negotiated=negotiated, private=own)


def _answer(
    body: bytes,
    form: Form,
    view: NodeView,
    prefix: str,
    more: Sequence[tuple[str, str]] = (),
    *,
    negotiated: bool,
    private: bool,
) -> Answer:
    return answer(
        body,
        MEDIA_TYPES[form],
        cache=PRIVATE if private else PUBLIC,
        form=form[0],
        headers=[
            *([("vary", "Accept")] if negotiated else []),
            ("link", _links(view.url, prefix, form)),
            *([("content-location", f"{prefix}{twin_of(view.url, form)}")] if negotiated else []),
            *([("x-robots-tag", "noindex")] if form != "html" and not negotiated else []),
            *more,
        ],
    )


def _links(url: str, prefix: str, form: Form) -> str:
    """Where the other forms are (RFC 8288), the node itself, and the overview for agents."""
    others = [
        f'<{prefix}{twin_of(url, each)}>; rel="alternate"; type="{MEDIA_TYPES[each].partition(";")[0]}"'
        for each in _FORMS
        if each != form
    ]
    return ", ".join([f'<{prefix}{url}>; rel="canonical"', *others, f'<{prefix}/llms.txt>; rel="llms-txt"'])
