"""Tolerated forms: what is understood although it is written another way (X4), each with the fix that `fmt` applies.

In: a node. Out: `single-action`, `method-case`, `relative-action-url` and `bare-url-target`. A fix is offered only
where its edits are certain to change nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.diagnostics import Fix, Problem
from prosa.dialects.fields import shown
from prosa.dialects.mdh.model import METHODS, ActionModel, NodeModel, Text
from prosa.dialects.mdh.singular import plural_edits
from prosa.dialects.mdh.target import BARE_URL, PREFIX
from prosa.source import Edit, SourceText, Span


def tolerated(model: NodeModel) -> Iterator[Problem]:
    """Every tolerated form of a node, in the order of this list: `action`, links, actions."""
    yield from _single_action(model)
    for link in model.links:
        if link.target is not None:
            yield from _bare_url(link.target, model.source)
    for action in model.actions:
        yield from _method(action, model.source)
        yield from _relative_url(action, model.source)


def _single_action(model: NodeModel) -> Iterator[Problem]:
    """HA9."""
    entry = model.fields.entry("action") if model.fields is not None else None
    if entry is None:
        return
    edits = plural_edits(model, entry)
    fix = Fix("write `actions` with a list", edits) if edits else None
    notes = () if fix else ("move it into the list under `actions`",)
    message = "`action` is not a field of MDH; one action is a list of one under `actions`"
    yield Problem("single-action", message, entry.key.span, notes, fix=fix)


def _bare_url(target: Text, source: SourceText) -> Iterator[Problem]:
    """HA4: without the prefix it would be the id of a node."""
    if not BARE_URL.match(target.text):
        return
    inside = _literal(target, source)
    edits = (Edit(Span(inside.start, inside.start), PREFIX),) if inside else ()
    fix = Fix("write `url:` in front of the URL", edits) if edits else None
    message = f"the link target `{shown(target.text)}` is a URL without `url:` in front"
    yield Problem("bare-url-target", message, target.span, ("without it a target is the id of a node",), fix=fix)


def _method(action: ActionModel, source: SourceText) -> Iterator[Problem]:
    """H11: the verbs are written in capital letters."""
    method = action.method
    if method is None or method.text == action.verb or action.verb not in METHODS:
        return
    inside = _literal(method, source)
    fix = Fix("write the method in capital letters", (Edit(inside, action.verb),)) if inside else None
    yield Problem("method-case", f"the method `{method.text}` is written `{action.verb}`", method.span, fix=fix)


def _relative_url(action: ActionModel, source: SourceText) -> Iterator[Problem]:
    """H11: the path is relative to the root of the site."""
    url = action.url
    if url is None or not url.text or url.text.startswith("/") or "://" in url.text:
        return
    inside = None if url.text.startswith(".") else _literal(url, source)
    fix = Fix("begin the path with `/`", (Edit(Span(inside.start, inside.start), "/"),)) if inside else None
    message = f"the URL `{shown(url.text)}` of an action does not begin with `/`"
    notes = ("it is a path from the root of the site, wherever the node stands",)
    yield Problem("relative-action-url", message, url.span, notes, fix=fix)


def _literal(text: Text, source: SourceText) -> Span | None:
    """Where the text stands letter for letter, inside its quotes; None where escapes or line folds are in between."""
    for quote in (0, 1):
        span = Span(text.span.start + quote, max(text.span.start + quote, text.span.end - quote))
        if source.slice(span) == text.text:
            return span
    return None
