"""Tolerated variants of the notation (X4), each with the fix that `fmt` applies: `actions` for `action`, methods in
capital letters, URLs of actions from the root, `url:` in front of URL targets (HA4, HA9, H11).

In: a node. Out: `single-action`, `method-case`, `relative-action-url` and `bare-url-target`, and the edits of the
normal form. A fix is offered only if its edits certainly change nothing else. The edits of the normal form are these
fixes, so a document without such forms stays as it is: formatting twice is formatting once.
"""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Mapping, Sequence, read_yaml, to_value
from prosa.diagnostics import Fix, Problem
from prosa.dialects.dialect import FormatOptions
from prosa.dialects.fields import shown
from prosa.dialects.mdh.fields import METHODS
from prosa.dialects.mdh.model import ActionModel, NodeModel, Text
from prosa.dialects.mdh.url import BARE_URL, PREFIX
from prosa.regex import regex
from prosa.source import Edit, SourceText, Span, apply_edits


def tolerated(model: NodeModel) -> Iterator[Problem]:
    """Yield every tolerated form of a node, in the order of this list: `action`, links, actions."""
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
    notes = ("it is a path from the root of the site, wherever the node is",)
    yield Problem("relative-action-url", message, url.span, notes, fix=fix)


def _literal(text: Text, source: SourceText) -> Span | None:
    """Return where the text stands letter for letter, inside its quotes; None where escapes or line folds are in
    between."""
    for quote in (0, 1):
        span = Span(text.span.start + quote, max(text.span.start + quote, text.span.end - quote))
        if source.slice(span) == text.text:
            return span
    return None


_LINE_START = regex(r"(?:\r\n|\n|\r)(?=[^\r\n])")
_INDENT = "  "


def plural_edits(model: NodeModel, entry: Entry) -> tuple[Edit, ...]:
    """Return the edits that make a list under `actions` of the entry `action`; none where that is not certain."""
    if model.fields is None or model.fields.entry("actions"):
        return ()
    edits = (Edit(entry.key.span, "actions"), *_as_list(model.source, entry))
    return edits if _same_data(model, entry, edits) else ()


def _as_list(source: SourceText, entry: Entry) -> tuple[Edit, ...]:
    span = entry.value.span
    if not isinstance(entry.value, Mapping):
        return ()
    if source.slice(span).startswith("{"):
        return Edit(Span(span.start, span.start), "["), Edit(Span(span.end, span.end), "]")
    inner = source.slice(span).rstrip()
    starts = [span.start + match.end() for match in _LINE_START.finditer(inner)]
    shift = (Edit(Span(start, start), _INDENT) for start in starts)
    return Edit(Span(span.start, span.start), "- "), *shift


def _same_data(model: NodeModel, entry: Entry, edits: tuple[Edit, ...]) -> bool:
    """Return whether the new front matter reads as the old one with the action in a list."""
    if model.fields is None or not isinstance(entry.value, Mapping | Sequence):
        return False
    start, end = model.anchor.end, model.body.start
    old = model.source.text[start:end].rstrip("\r\n").removesuffix("---")
    reading = read_yaml(apply_edits(old, [Edit(edit.span.shift(-start), edit.replacement) for edit in edits]))
    if reading.problems or not isinstance(reading.node, Mapping):
        return False
    value = to_value(entry.value)
    expected = {field.key.text: to_value(field.value) for field in model.fields if field is not entry}
    expected["actions"] = value if isinstance(value, list) else [value]
    return bool(to_value(reading.node) == expected)


def format_edits(model: NodeModel, options: FormatOptions) -> tuple[Edit, ...]:
    """Return the edits that bring a node to its normal form; MDH has no hashes, so ``options`` changes nothing."""
    del options
    return tuple(edit for problem in tolerated(model) if problem.fix for edit in problem.fix.edits)
