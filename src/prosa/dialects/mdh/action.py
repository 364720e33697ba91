"""The actions of a node (H5, H11–H15): mappings in, `ActionModel`s and the problems of their shape out."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence as Many

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Misspelling, Problem, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import Field, Owner, read_fields, shown
from prosa.dialects.mdh.body_schema import read_body_schema
from prosa.dialects.mdh.fields import ACTION, AUTH
from prosa.dialects.mdh.forms import template_names
from prosa.dialects.mdh.identifier import identifier_problems
from prosa.dialects.mdh.model import METHODS, ActionModel, AuthModel, Text
from prosa.dialects.mdh.pagination import read_pagination
from prosa.dialects.mdh.query import read_query
from prosa.source import SourceText


def read_actions(holders: Many[Node], source: SourceText) -> tuple[tuple[ActionModel, ...], tuple[Problem, ...]]:
    """The actions under `actions`, then those under `action` (HA9), in the order written."""
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
    """The fields of a mapping inside a node; unknown ones are information (HA11)."""
    anchor = item.entries[0].key.span if item.entries else item.span
    return read_fields(item, table, Owner(title, anchor, prefix, unknown=Severity.INFO))


def text_at(entries: dict[str, Entry], name: str) -> Text | None:
    """A string field that was read, or None."""
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
    """A verb that HTTP has not, or that no action uses. One in other letters is a tolerated form (`normal`)."""
    if method is None or method.text.upper() in METHODS:
        return
    guess = nearest(method.text, METHODS)
    notes = (f"did you mean `{guess}`?",) if guess else ()
    choices = ", ".join(f"`{name}`" for name in METHODS)
    message = f"`{shown(method.text)}` is not a value of `actions.method`; it is one of {choices}"
    meant = Misspelling(method.text, guess) if guess else None
    yield Problem("unknown-value", message, method.span, notes, misspelling=meant)
