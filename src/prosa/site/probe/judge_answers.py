"""The checks of a server's answers: the form for each `Accept`, and cache headers (H8, HA7, H18, HW1, HW2).

All of them examine the sample of nodes that was requested in every form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prosa.data import Value
from prosa.dialects.fields import shown
from prosa.dialects.mdh.jsonpath import Parts
from prosa.site.pages import value_at
from prosa.site.probe.evidence import (
    MARKDOWN,
    CallSeen,
    Evidence,
    Mark,
    NodeSeen,
    Outcome,
    PageSeen,
    Reply,
    judged,
)

_META = ("meta", "front_matter", "frontmatter")
"""Where the JSON of a node may have its front matter when it is not at the top (HA8)."""

_NOTHING = "no sampled node has what this is about"

_GUARDS = ("Content-Security-Policy", "X-Content-Type-Options")

_ENVELOPE: tuple[tuple[str, Parts], ...] = (
    ("page.page_size", ("page", "page_size")),
    ("page.next_cursor", ("page", "next_cursor")),
    ("links.self", ("links", "self")),
    ("links.next", ("links", "next")),
)


def negotiates_markdown(evidence: Evidence) -> Outcome:
    """Judge SHOULD 5: `text/markdown` returns Markdown with that media type, at the URL of the node."""
    assert evidence.site is not None
    pages = evidence.site.nodes
    wrong = [_mark(page, f"asked for text/markdown, {page.reply.said}") for page in pages if not _is_named(page.reply)]
    return judged(wrong, len(pages), "node", "nodes")


def _is_named(reply: Reply) -> bool:
    return reply.is_success and reply.media_type in MARKDOWN


def negotiates_json(evidence: Evidence) -> Outcome:
    """Judge SHOULD 5: `application/json` returns the node as an object (H23)."""

    def look(_: PageSeen, reply: Reply) -> str | None:
        if not reply.is_json:
            return f"asked for application/json, {reply.said}"
        return None if isinstance(reply.value, dict) else "the JSON of the node is not an object that can be read"

    return _each(evidence, "json", look)


def json_agrees(evidence: Evidence) -> Outcome:
    """Require the id, type and title of the Markdown in the JSON of a node (HA8)."""
    nodes = {node.at: node for node in evidence.nodes}

    def look(page: PageSeen, reply: Reply) -> str | None:
        node = nodes.get(page.url)
        value = reply.value
        return _difference(node, value) if node is not None and isinstance(value, dict) else None

    return _each(evidence, "json", look, only=lambda page: _has_object(page.answer("json")))


def _difference(node: NodeSeen, value: dict[str, Value]) -> str | None:
    inner = next((member for key in _META if isinstance(member := value.get(key), dict)), value)
    fields = value if "id" in value or "title" in value else inner
    for name, text in (("id", node.model.id), ("type", node.model.type), ("title", node.model.title)):
        if text is not None and str(fields.get(name)) != text.text:
            actual = f"`{shown(str(fields[name]))}`" if name in fields else "missing"
            return f"`{name}` of its JSON is {actual}, and `{shown(text.text)}` in its Markdown"
    return None


def _has_object(reply: Reply | None) -> bool:
    return reply is not None and reply.is_json and isinstance(reply.value, dict)


def weights_respected(evidence: Evidence) -> Outcome:
    """Between two forms the q-values decide, not the order and not a substring (HA7, HW1)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        if not reply.is_markdown:
            return f"asked for Markdown before JSON by q-values, {reply.said}"
        other = page.answer("json-preferred")
        if other is not None and not other.is_json:
            return f"asked for JSON before Markdown by q-values, {other.said}"
        return None

    return _each(evidence, "markdown-preferred", look, only=lambda page: _has_object(page.answer("json")))


def markdown_by_default(evidence: Evidence) -> Outcome:
    """Require Markdown for `*/*` (HA7)."""
    return _each(evidence, "anything", lambda _, reply: None if reply.is_markdown else f"asked for */*, {reply.said}")


def never_refused(evidence: Evidence) -> Outcome:
    """Require Markdown instead of 406 for a form that does not exist (HA7)."""
    words = "asked for a form that no site has, "
    return _each(evidence, "unknown-form", lambda _, reply: None if reply.is_markdown else words + reply.said)


def varies(evidence: Evidence) -> Outcome:
    """Require `Vary` if the form depends on `Accept` (HA7)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        for answer, form in ((page.reply, "Markdown"), (reply, "JSON"), (page.answer("browser"), "HTML")):
            if (
                answer is not None
                and answer.is_success
                and not (answer.lists("vary", "accept") or answer.lists("vary", "*"))
            ):
                return f"the {form} has no `Vary: Accept`"
        return None

    return _each(evidence, "json", look, only=_has_forms)


def _has_forms(page: PageSeen) -> bool:
    kinds = {
        reply.media_type for reply in (page.reply, page.answer("json"), page.answer("browser")) if reply is not None
    }
    return len(kinds) > 1


def head_like_get(evidence: Evidence) -> Outcome:
    """Require the status and the headers of GET for HEAD, and no body (RFC 9110, section 9.3.2)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        if reply.status != page.reply.status:
            return f"asked with HEAD, {reply.said}; GET gives {page.reply.status}"
        again = page.answer("again")
        steady = again is not None and again.header("etag") == page.reply.header("etag")
        for name in ("content-type", "vary", *(("etag",) if steady else ())):
            if reply.header(name) != page.reply.header(name):
                return f"`{name}` of HEAD is `{shown(reply.header(name))}`, of GET `{shown(page.reply.header(name))}`"
        return "HEAD has a body" if reply.size else None

    return _each(evidence, "head", look)


def same_twice(evidence: Evidence) -> Outcome:
    """Require the same bytes under the same ETag for a repeated request (H6)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        if reply.text != page.reply.text:
            return "asked twice, its Markdown differs"
        return None if reply.header("etag") == page.reply.header("etag") else "asked twice, its ETag differs"

    return _each(evidence, "again", look, only=lambda page: page.reply.is_markdown)


def cache_headers(evidence: Evidence) -> Outcome:
    """Nodes have `Cache-Control` and an `ETag` (H18)."""
    assert evidence.site is not None
    wrong = []
    for page in evidence.site.nodes:
        reply = page.markdown or page.reply
        absent = [name for name in ("Cache-Control", "ETag") if not reply.header(name.lower())]
        if absent:
            wrong.append(_mark(page, f"its Markdown has no `{'` and no `'.join(absent)}`"))
    return judged(wrong, len(evidence.site.nodes), "node", "nodes")


def not_modified(evidence: Evidence) -> Outcome:
    """Require 304 for a request with the node's own ETag (H18)."""

    def look(_: PageSeen, reply: Reply) -> str | None:
        return None if reply.status == 304 else f"asked again with its own ETag, {reply.said}; expected 304"

    return _each(evidence, "unchanged", look)


def etag_for_each_form(evidence: Evidence) -> Outcome:
    """Forms of one node have different ETags (HA7)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        tag = page.reply.header("etag")
        for answer, form in ((reply, "JSON"), (page.answer("browser"), "HTML")):
            if answer is not None and answer.media_type != page.reply.media_type and answer.header("etag") == tag:
                return f"its {form} has the ETag of its Markdown, `{shown(tag)}`"
        return None

    return _each(evidence, "json", look, only=lambda page: bool(page.reply.header("etag")) and _has_forms(page))


def may_be_stored(evidence: Evidence) -> Outcome:
    """Public nodes are not `no-store` (HW2)."""
    assert evidence.site is not None
    pages = evidence.site.nodes
    wrong = [
        _mark(page, "its Markdown is `no-store`") for page in pages if page.reply.lists("cache-control", "no-store")
    ]
    return judged(wrong, len(pages), "node", "nodes")


def html_for_people(evidence: Evidence) -> Outcome:
    """Return a browser gets HTML (H8)."""
    return _each(
        evidence, "browser", lambda _, reply: None if reply.is_html else f"asked as a browser asks, {reply.said}"
    )


def html_guarded(evidence: Evidence) -> Outcome:
    """Require a content security policy and a fixed content type for HTML (HW3)."""

    def look(_: PageSeen, reply: Reply) -> str | None:
        absent = [name for name in _GUARDS if not reply.header(name.lower())]
        return f"its HTML has no `{'` and no `'.join(absent)}`" if absent else None

    return _each(evidence, "browser", look, only=lambda page: _is_html(page.answer("browser")))


def _is_html(reply: Reply | None) -> bool:
    return reply is not None and reply.is_html


def file_forms(evidence: Evidence) -> Outcome:
    """Return the same at `/<path>.md` and `/<path>.json`, for clients that send no `Accept` (HA7)."""

    def look(page: PageSeen, reply: Reply) -> str | None:
        other = page.answer("file-json")
        if not reply.is_markdown:
            return f"{reply.url}: {reply.said}"
        return None if other is None or other.is_json else f"{other.url}: {other.said}"

    return _each(evidence, "file-markdown", look)


def reads_answer(evidence: Evidence) -> Outcome:
    """GET actions that need no input answer (H5)."""
    calls = _calls(evidence)
    if calls is None:
        return Outcome("not-applicable", words="actions are called only with --call-reads")
    failed = [(call.mark, call.reply.said) for call in calls if not call.reply.is_success]
    wrong = [Mark(mark.at, f"{mark.message}: {reason}", mark.line) for mark, reason in failed]
    return judged(wrong, len(calls), "action", "actions without required input")


def listing_envelope(evidence: Evidence) -> Outcome:
    """Pages of a listing have the envelope of §9.2 (H16)."""
    calls = _calls(evidence)
    if calls is None:
        return Outcome("not-applicable", words="actions are called only with --call-reads")
    listings = [call for call in calls if call.paginated and call.reply.is_success]
    wrong = []
    for call in listings:
        lacks = _lacks(call.reply.value)
        if lacks:
            wrong.append(Mark(call.mark.at, f"the answer of {call.mark.message} {lacks}", call.mark.line))
    return judged(wrong, len(listings), "listing", "listings without required input")


def _calls(evidence: Evidence) -> tuple[CallSeen, ...] | None:
    assert evidence.site is not None
    return evidence.site.calls


def _lacks(value: Value) -> str:
    """Return what is missing from the envelope. The last page may omit `links.next`."""
    if not isinstance(value, dict):
        return "is not a JSON object"
    names = [name for name, parts in _ENVELOPE if not _is_there(parts, value)]
    if value_at(("page", "next_cursor"), value) in (None, ""):
        names = [name for name in names if name not in ("links.next", "page.next_cursor")]
    return f"has no `{'`, no `'.join(names)}`" if names else ""


def _is_there(parts: Parts, value: Value) -> bool:
    inner = value_at(parts[:-1], value)
    return isinstance(inner, dict) and parts[-1] in inner


def _each(
    evidence: Evidence,
    name: str,
    look: Callable[[PageSeen, Reply], str | None],
    *,
    only: Callable[[PageSeen], bool] = lambda _: True,
) -> Outcome:
    """Examine the answer of that name of every page that was requested in every form, ``only`` some of them."""
    pages = [(page, reply) for page, reply in _answers(evidence, name) if only(page)]
    return judged(_marks(pages, look), len(pages), "sampled node", "sampled nodes", none=_NOTHING)


def _answers(evidence: Evidence, name: str) -> Iterator[tuple[PageSeen, Reply]]:
    assert evidence.site is not None
    for page in evidence.site.sampled:
        reply = page.answer(name)
        if reply is not None:
            yield page, reply


def _marks(pages: Iterable[tuple[PageSeen, Reply]], look: Callable[[PageSeen, Reply], str | None]) -> Iterator[Mark]:
    for page, reply in pages:
        words = look(page, reply)
        if words:
            yield _mark(page, words)


def _mark(page: PageSeen, words: str) -> Mark:
    return Mark(page.url, words)
