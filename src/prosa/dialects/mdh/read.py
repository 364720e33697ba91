"""Read a node and its actions: front matter and body become a `NodeModel` and problems. Never fails, opens nothing (H5,
H9–H15).

Only problems of the document itself are reported here: shapes and forms of fields, schemas, JSONPaths, tolerated forms.
The problems of the front matter as YAML are not repeated. Rules compare parts with each other and check the whole site.

An id is opaque but a single word, so that links, URLs and tools can contain it (H9, HA20). A body schema must compile
(HA16); where it is a URL, nothing is fetched. Parameters of a query may have a description (an extension, HA11).
Pagination describes how to request the next page, and where a response names it (HA17, HA18).

`changing_word` judges a name: a rule warns about an action with the method GET whose name suggests a change, and
clients confirm before they send it (H17, HA19).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Sequence as Many
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, to_value
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import Field, Owner, read_fields, shown, type_name
from prosa.dialects.front import FrontReading
from prosa.dialects.mdh.fields import (
    ACTION,
    AUTH,
    LINK,
    LINK_WITH_HREF,
    METHODS,
    NODE,
    PAGINATION,
    QUERY,
    REQUEST,
    RESPONSE,
    template_names,
    url_form,
)
from prosa.dialects.mdh.jsonpath import JsonPathError, parse_jsonpath
from prosa.dialects.mdh.model import (
    ActionModel,
    AuthModel,
    InlineLink,
    LinkModel,
    NodeModel,
    PaginationModel,
    QueryModel,
    SchemaRef,
    Text,
    WikilinkModel,
)
from prosa.dialects.mdh.normal import tolerated
from prosa.regex import regex
from prosa.schema import check_schema_shape
from prosa.source import SourceText, Span

if TYPE_CHECKING:
    from prosa.document import Document


def read(front: FrontReading, document: Document) -> tuple[NodeModel, tuple[Problem, ...]]:
    """Return the node in a document and everything that is wrong with the text of it."""
    entries, problems = _top_fields(front)
    links, link_problems = _links(_raw(front, "links"))
    holders = [node for name in ("actions", "action") if (node := _raw(front, name)) is not None]
    actions, action_problems = read_actions(holders, front.source)
    node_id = _text(entries.get("id"))
    model = NodeModel(
        source=front.source,
        fields=front.fields,
        anchor=front.anchor,
        body=front.body,
        id=node_id,
        type=_text(entries.get("type")),
        title=_text(entries.get("title")),
        summary=_text(entries.get("summary")),
        updated=_text(entries.get("updated")),
        canonical_url=_text(entries.get("canonical_url")),
        aliases=_texts(entries.get("aliases")),
        tags=_texts(entries.get("tags")),
        links=links,
        actions=actions,
        inline_links=_inline_links(document),
        wikilinks=_wikilinks(document),
    )
    own = (*identifier_problems(node_id, "a node"), *tolerated(model))
    return model, (*problems, *link_problems, *action_problems, *own)


def _top_fields(front: FrontReading) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if front.fields is None:
        return {}, (() if front.present else (_no_front_matter(front),))
    owner = Owner("an MDH node", front.anchor, unknown=Severity.INFO, complete=front.complete)
    return read_fields(front.fields, NODE, owner)


def _no_front_matter(front: FrontReading) -> Problem:
    message = "an MDH node begins with front matter between `---` lines, and this document has none"
    notes = ("MDH conformance, MUST 2: every node has `id`, `type` and `title`",)
    return Problem("node-without-front-matter", message, front.anchor, notes)


def _raw(front: FrontReading, name: str) -> Node | None:
    """Return a field as written: one bad item of a list must not hide the others."""
    return front.fields.get(name) if front.fields is not None else None


def _links(node: Node | None) -> tuple[tuple[LinkModel, ...], tuple[Problem, ...]]:
    links: list[LinkModel] = []
    problems: list[Problem] = []
    for item in node.items if isinstance(node, Sequence) else ():
        if isinstance(item, Mapping):
            link, wrong = _link(item)
            links.append(link)
            problems += wrong
    return tuple(links), tuple(problems)


def _link(item: Mapping) -> tuple[LinkModel, tuple[Problem, ...]]:
    anchor = item.entries[0].key.span if item.entries else item.span
    table = LINK_WITH_HREF if item.get("href") is not None else LINK
    entries, problems = read_fields(item, table, Owner("a link", anchor, "links.", unknown=Severity.INFO))
    rel, target, href = (_text(entries.get(name)) for name in ("rel", "target", "href"))
    return LinkModel(rel, target, href, item.span), problems


def _inline_links(document: Document) -> tuple[InlineLink, ...]:
    """Return links of every Markdown form, without images and code (HA5)."""
    return tuple(
        InlineLink(link.destination, link.destination_span or link.span, link.span.start) for link in document.links
    )


def _wikilinks(document: Document) -> tuple[WikilinkModel, ...]:
    return tuple(
        WikilinkModel(wikilink.target, wikilink.label, wikilink.fragment, wikilink.embed, wikilink.span)
        for wikilink in document.wikilinks
    )


def _text(entry: Entry | None) -> Text | None:
    return Text.of(entry.value) if entry is not None and isinstance(entry.value, Scalar) else None


def _texts(entry: Entry | None) -> tuple[Text, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(Text.of(item) for item in entry.value.items if isinstance(item, Scalar))


# The actions of a node (H5, H11–H15): mappings in, `ActionModel`s and the problems of their shape out.


def read_actions(holders: Many[Node], source: SourceText) -> tuple[tuple[ActionModel, ...], tuple[Problem, ...]]:
    """Return the actions under `actions`, then those under `action` (HA9), in the order written."""
    actions: list[ActionModel] = []
    problems: list[Problem] = []
    for holder in holders:
        items = holder.items if isinstance(holder, Sequence) else (holder,)
        for item in items:
            if isinstance(item, Mapping) and item.entries:
                action, wrong = _action(item, source)
                actions.append(action)
                problems += wrong
    return tuple(actions), tuple(problems)


def _action(item: Mapping, source: SourceText) -> tuple[ActionModel, tuple[Problem, ...]]:
    anchor = item.entries[0].key.span
    entries, problems = inner_fields(item, ACTION, "an action", "actions.")
    texts = {name: text_at(entries, name) for name in ("id", "title", "method", "url", "accept", "content_type")}
    auth, auth_problems = _auth(entries.get("auth"))
    query, query_problems = read_query(entries.get("query"))
    schema, schema_problems = read_body_schema(entries.get("body_schema"))
    pagination, page_problems = read_pagination(entries.get("pagination"), source)
    action = ActionModel(
        node=item,
        anchor=anchor,
        **texts,
        path_names=template_names(texts["url"].text) if texts["url"] else (),
        auth=auth,
        query=query,
        body_schema=schema,
        response_schema=text_at(entries, "response_schema"),
        pagination=pagination,
        examples=_items(entries.get("examples")),
    )
    own = (*identifier_problems(action.id, "an action"), *_unknown_method(action.method))
    return action, (*problems, *own, *auth_problems, *query_problems, *schema_problems, *page_problems)


def inner_fields(
    item: Mapping, table: tuple[Field, ...], title: str, prefix: str
) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    """Return the fields of a mapping inside a node; unknown ones are reported as information (HA11)."""
    anchor = item.entries[0].key.span if item.entries else item.span
    return read_fields(item, table, Owner(title, anchor, prefix, unknown=Severity.INFO))


def text_at(entries: dict[str, Entry], name: str) -> Text | None:
    """Return a string field that was read, or None."""
    entry = entries.get(name)
    return Text.of(entry.value) if entry is not None and isinstance(entry.value, Scalar) else None


def _items(entry: Entry | None) -> tuple[Node, ...]:
    return entry.value.items if entry is not None and isinstance(entry.value, Sequence) else ()


def _auth(entry: Entry | None) -> tuple[AuthModel | None, tuple[Problem, ...]]:
    if entry is None or not isinstance(entry.value, Mapping):
        return None, ()
    entries, problems = inner_fields(entry.value, AUTH, "`auth`", "auth.")
    model = AuthModel(
        type=text_at(entries, "type"),
        token_help=text_at(entries, "token_help"),
        place=text_at(entries, "in"),
        name=text_at(entries, "name"),
        token_url=text_at(entries, "token_url"),
        node=entry.value,
    )
    return model, problems


def _unknown_method(method: Text | None) -> Iterator[Problem]:
    """Yield a verb that HTTP has not, or that no action uses. One in other letters is a tolerated form (`normal`)."""
    if method is None or method.text.upper() in METHODS:
        return
    guess = nearest(method.text, METHODS)
    notes = (f"did you mean `{guess}`?",) if guess else ()
    allowed = ", ".join(f"`{name}`" for name in METHODS)
    message = f"`{shown(method.text)}` is not a value of `actions.method`; it is one of {allowed}"
    meant = Misspelling(method.text, guess) if guess else None
    yield Problem("unknown-value", message, method.span, notes, misspelling=meant)


def read_body_schema(entry: Entry | None) -> tuple[SchemaRef | None, tuple[Problem, ...]]:
    """Return the schema of a request body. One without `type` describes an object, so its absence is no problem
    (HA16)."""
    if entry is None:
        return None, ()
    node = entry.value
    if isinstance(node, Mapping):
        problems = tuple(problem for problem in check_schema_shape(node) if problem.rule != "schema-without-type")
        valid = not any(problem.rule == "bad-schema" for problem in problems)
        return SchemaRef(None, node, to_value(node), valid), problems
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        wanted = "a JSON Schema as a mapping, or the URL of one"
        message = f"`actions.body_schema` must be {wanted}, not {type_name(node)}"
        return None, (Problem("wrong-type", message, node.span),)
    complaint = url_form(node.text)
    if complaint:
        return None, (Problem("wrong-form", f"`actions.body_schema` {complaint}", node.span),)
    return SchemaRef(Text.of(node), node, node.text, valid=True), ()


def read_query(entry: Entry | None) -> tuple[QueryModel | None, tuple[Problem, ...]]:
    """Return the parameters of an action."""
    if entry is None or not isinstance(entry.value, Mapping):
        return None, ()
    owner = Owner("`query`", entry.key.span, "query.", unknown=Severity.INFO)
    entries, problems = read_fields(entry.value, QUERY, owner)
    properties = entries.get("properties")
    described = properties.value if properties and isinstance(properties.value, Mapping) else None
    names = tuple(Text.of(field.key) for field in described) if described else ()
    model = QueryModel(_names(entries.get("required")), _names(entries.get("optional")), names)
    return model, (*problems, *_property_problems(described))


def _names(entry: Entry | None) -> tuple[Text, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(Text.of(item) for item in entry.value.items if isinstance(item, Scalar))


def _property_problems(described: Mapping | None) -> tuple[Problem, ...]:
    """Check a description as a schema as far as the specification goes; mistakes are warnings, since sites may extend
    it."""
    problems: list[Problem] = []
    for entry in described or ():
        if not _is_description(entry.value):
            message = f"`query.properties.{shown(entry.key.text)}` must be a mapping, not {type_name(entry.value)}"
            problems.append(Problem("wrong-type", message, entry.value.span))
            continue
        shape_problems = check_schema_shape(entry.value)
        problems += [
            replace(problem, severity=Severity.WARNING)
            for problem in shape_problems
            if problem.rule != "schema-without-type"
        ]
    return tuple(problems)


def _is_description(node: Node) -> bool:
    return isinstance(node, Mapping) or (isinstance(node, Scalar) and node.value is None)


_RFC = "JSONPath is RFC 9535 here, and a path leads to one value: `$.page.next_cursor`, `$['a b'][0]`"


def read_pagination(entry: Entry | None, source: SourceText) -> tuple[PaginationModel | None, tuple[Problem, ...]]:
    """Return the pagination of an action."""
    if entry is None or not isinstance(entry.value, Mapping):
        return None, ()
    top, problems = _fields(entry, PAGINATION, "pagination")
    request, request_problems = _fields(top.get("request"), REQUEST, "pagination.request")
    response, response_problems = _fields(top.get("response"), RESPONSE, "pagination.response")
    texts = {name: Text.of(field.value) for name, field in response.items()}  # type: ignore[arg-type]
    path_problems = [problem for name, text in texts.items() if (problem := _path_problem(name, text, source))]
    model = PaginationModel(
        type=_any_text(top.get("type")),
        cursor_param=_any_text(request.get("cursor_param")),
        limit_param=_any_text(request.get("limit_param")),
        next_cursor=texts.get("next_cursor_jsonpath"),
        prev_cursor=texts.get("prev_cursor_jsonpath"),
        next_link=texts.get("next_link_jsonpath"),
        self_link=texts.get("self_link_jsonpath"),
        span=entry.key.span,
    )
    return model, (*problems, *request_problems, *response_problems, *path_problems)


def _fields(entry: Entry | None, table: tuple[Field, ...], name: str) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if entry is None or not isinstance(entry.value, Mapping):
        return {}, ()
    owner = Owner(f"`{name}`", entry.key.span, f"{name.split('.')[-1]}.", unknown=Severity.INFO)
    return read_fields(entry.value, table, owner)


def _any_text(entry: Entry | None) -> Text | None:
    return Text.of(entry.value) if entry is not None else None  # type: ignore[arg-type]


def _path_problem(name: str, path: Text, source: SourceText) -> Problem | None:
    try:
        parse_jsonpath(path.text)
    except JsonPathError as error:
        span = _inside(path, error.offset, source)
        return Problem("bad-jsonpath", f"the path `{shown(path.text)}` in `{name}` {error.message}", span, (_RFC,))
    return None


def _inside(path: Text, offset: int, source: SourceText) -> Span:
    """Return the character at which a path goes wrong, or all of it where quotes and escapes hide the place."""
    written = source.slice(path.span)
    at = written.find(path.text)
    if at < 0 or at > 1:
        return path.span
    start = path.span.start + at + min(offset, len(path.text))
    return Span(start, min(start + 1, path.span.end))


def identifier_problems(identifier: Text | None, owner: str) -> Iterator[Problem]:
    """Yield `identifier-form` for an id with white space, or with a start that only a URL in `target` may have
    (HA4)."""
    if identifier is None:
        return
    text = identifier.text
    if any(character.isspace() for character in text):
        message = f"the id `{shown(text)}` of {owner} has white space"
        yield Problem("identifier-form", message, identifier.span, ("write one word, with hyphens or dots",))
    elif text.startswith("url:"):
        message = f"the id `{shown(text)}` of {owner} begins with `url:`, as only URLs in `target` do"
        yield Problem(
            "identifier-form", message, identifier.span, ("a prefix of your own is fine, `svc:` for example",)
        )


CHANGING = frozenset(
    (
        *("add", "approve", "borrow", "buy", "cancel", "checkout", "confirm", "create", "delete", "destroy", "enroll"),
        *("insert", "modify", "pay", "publish", "purchase", "reject", "remove", "rename", "renew", "send", "submit"),
        *("subscribe", "unsubscribe", "upload"),
    )
)
"""Verbs that change something wherever they stand first or last."""

AMBIGUOUS = frozenset(("book", "edit", "order", "post", "register", "reserve", "return", "save", "set", "update"))
"""Words that are verbs only by their place: `rooms.book`, "Book a room"; not in `book.show` or `orders`."""

READING = frozenset(
    (
        *("browse", "check", "count", "details", "fetch", "find", "form", "get", "help", "history", "info", "list"),
        *("lookup", "options", "policies", "policy", "preview", "query", "quote", "read", "search", "show", "status"),
        *("summary", "terms", "view"),
    )
)
"""Words that mark a name as reading, whatever else it contains."""

ARTICLES = frozenset(("a", "an", "the", "this", "these", "your", "my", "one"))

_WORD = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_CUT = 200
"""Maximum length of a name that is examined."""


def changing_word(id: str, title: str) -> str:  # noqa: A002 - the name of the field
    """Return the verb in an id or a title that suggests a change; empty if there is none."""
    return _of_id(id) or _of_title(title)


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:_CUT])]


def _of_id(text: str) -> str:
    words = _words(text)
    if not words or READING.intersection(words):
        return ""
    places = {words[-1], *_words(re.split(r"[.:/]", text[:_CUT])[-1])[:1]}
    sure = sorted(places & CHANGING)
    if sure:
        return sure[0]
    return words[-1] if len(words) > 1 and words[-1] in AMBIGUOUS else ""


def _of_title(text: str) -> str:
    words = _words(text)
    if not words or READING.intersection(words):
        return ""
    first = words[0]
    if first in CHANGING and len(words) > 1:
        return first
    return first if first in AMBIGUOUS and words[1:2] and words[1] in ARTICLES else ""
