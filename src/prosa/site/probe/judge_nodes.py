"""The checks of single documents and of documents together: front matter, ids, actions, declared links (H9–H21).

The same for a site and for a folder; the messages of `prosa check` are reused where they suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prosa.data import Mapping, Node, Scalar, Sequence
from prosa.dialects.fields import shown
from prosa.dialects.mdh.facts import action_value
from prosa.dialects.mdh.fields import METHODS, action_url_form
from prosa.dialects.mdh.model import ActionModel, Text
from prosa.dialects.mdh.url import is_readme
from prosa.site.contract import read_contract
from prosa.site.probe.evidence import Evidence, Mark, NodeSeen, Outcome, judged
from prosa.site.problems import RequestError
from prosa.source.url import http_origin

_FORMS = (
    *("wrong-type", "wrong-form", "unknown-value", "missing-field", "identifier-form", "bare-url-target"),
    *("duplicate-key", "yaml-syntax"),
)
_IN_CONTRACT = frozenset(("", "id", "method", "url"))
"""Parts of an action that `complete_actions` judges."""


def front_matter(evidence: Evidence) -> Outcome:
    """MUST 2: `id`, `type` and `title` in every node."""
    return judged((mark for node in evidence.nodes for mark in _head(node)), len(evidence.nodes), "node", "nodes")


def _head(node: NodeSeen) -> Iterator[Mark]:
    model = node.model
    if model.fields is None and not node.derived:
        yield node.mark(model.anchor.start, "there is no front matter that can be read")
        return
    for name in ("id", "type", "title"):
        if name in node.derived:
            continue
        text: Text | None = getattr(model, name)
        if text is None or not text.text.strip():
            entry = model.fields.entry(name) if model.fields else None
            where = entry.key.span.start if entry else model.anchor.start
            yield node.mark(where, f"`{name}` {_lack(entry.value if entry else None)}")


def _lack(value: Node | None) -> str:
    if value is None:
        return "is missing"
    return "has no value" if isinstance(value, Scalar) and not value.text.strip() else "is not text"


def unique_ids(evidence: Evidence) -> Outcome:
    """Return two documents never share an id (HA20)."""
    first: dict[str, NodeSeen] = {}
    wrong = []
    for node in evidence.nodes:
        earlier = first.setdefault(node.id, node) if node.id else node
        if earlier is not node and node.model.id and not _is_copy(node, earlier):
            message = f"the id `{shown(node.id)}` is also that of {earlier.at}"
            wrong.append(node.mark(node.model.id.span.start, message))
    return judged(wrong, len(first), "id", "ids")


def _is_copy(node: NodeSeen, other: NodeSeen) -> bool:
    """Return whether two files are one node: a README and the index that it stands for, as a build writes both."""
    (folder, _, name), (beside, _, index) = node.at.rpartition("/"), other.at.rpartition("/")
    same = node.model.source.text == other.model.source.text
    return same and folder == beside and (is_readme(name) or is_readme(index))


def complete_actions(evidence: Evidence) -> Outcome:
    """MUST 4: `id`, `method` and `url` in every action."""
    wrong = [mark for node in evidence.nodes for mark in (*_no_actions(node), *_incomplete(node))]
    return _actions(evidence, wrong, extra=len(wrong))


def _no_actions(node: NodeSeen) -> Iterator[Mark]:
    """Yield entries of `actions` other than mappings: they declare nothing."""
    value = node.model.fields.get("actions") if node.model.fields else None
    items = value.items if isinstance(value, Sequence) else (value,)
    for item in items:
        empty = isinstance(item, Scalar) and item.value is None and not isinstance(value, Sequence)
        if item is None or empty or (isinstance(item, Mapping) and item.entries):
            continue
        yield node.mark(item.span.start, "an action is not a mapping with `id`, `method` and `url`")


def _incomplete(node: NodeSeen) -> Iterator[Mark]:
    for action in node.model.actions:
        for name in ("id", "method", "url"):
            text: Text | None = getattr(action, name)
            if text is None or not text.text.strip():
                raw = action.node.get(name)
                written = raw is not None and not (isinstance(raw, Scalar) and not raw.text.strip())
                complaint = _of_form(name, raw) if written else "is missing"
                yield node.mark(action.anchor.start, f"`{name}` of {action.title_for_people} {complaint}")
        if action.method and action.method.text.strip() and action.verb not in METHODS:
            message = f"`method` of {action.title_for_people} is `{shown(action.method.text)}`"
            yield node.mark(action.method.span.start, message)


def _of_form(name: str, raw: Node | None) -> str:
    complaint = action_url_form(raw.text) if name == "url" and isinstance(raw, Scalar) else None
    return complaint or "is not text"


def actions_stay(evidence: Evidence) -> Outcome:
    """Require URLs of actions on the site itself (HA12)."""
    own = http_origin(evidence.site.root) if evidence.site else ""
    wrong = []
    for node, action in _every(evidence):
        url = action.url.text if action.url else ""
        canonical = http_origin(node.model.canonical_url.text) if node.model.canonical_url else ""
        if "://" in url.partition("?")[0] or url.startswith("//"):
            there = http_origin(url)
            if not there or there not in (own, canonical):
                wrong.append(node.mark(action.anchor.start, f"{action.title_for_people} calls `{shown(url)}`"))
    return _actions(evidence, wrong)


def readable_contracts(evidence: Evidence) -> Outcome:
    """Return everything else that a client needs of an action can be read (H12–H16, HA16, HA18)."""
    wrong = []
    for node, action in _every(evidence):
        try:
            read_contract(action_value(action))
        except RequestError as error:
            of = action.title_for_people
            wrong += [
                node.mark(action.anchor.start, f"{of}: `{problem.name}` {shown(problem.message, 200)}")
                for problem in error.problems
                if problem.name not in _IN_CONTRACT
            ]
    return _actions(evidence, wrong)


def one_meaning(evidence: Evidence) -> Outcome:
    """Require one method and one URL for each id (HA13)."""
    return _actions(evidence, evidence.remarked("conflicting-action"))


def copies_agree(evidence: Evidence) -> Outcome:
    """Return an action that is declared twice has one contract (HW8)."""
    return _actions(evidence, evidence.remarked("drifting-action"))


def auth_declared(evidence: Evidence) -> Outcome:
    """Judge SHOULD 6."""
    return _actions(evidence, evidence.remarked("action-without-auth"))


def csrf_documented(evidence: Evidence) -> Outcome:
    """Require that a change with a cookie declares its protection (H20)."""
    concerned = sum(
        action.changes_state and bool(action.auth and action.auth.type and action.auth.type.text == "cookie")
        for _, action in _every(evidence)
    )
    wrong = evidence.remarked("undocumented-csrf")
    return judged(wrong, concerned, "change with a cookie", "changes with a cookie")


def reads_by_get(evidence: Evidence) -> Outcome:
    """No GET is called after a change (H17, HA19)."""
    return _actions(evidence, evidence.remarked("state-changing-get"))


def pagination_followed(evidence: Evidence) -> Outcome:
    """Require that the declared pagination leads to the next page (H15, HA17)."""
    rules = ("unknown-pagination", "pagination-without-next", "undeclared-pagination-parameter")
    count = sum(action.pagination is not None for _, action in _every(evidence))
    return judged(evidence.remarked(*rules), count, "listing", "listings")


def declared_links(evidence: Evidence) -> Outcome:
    """Require that the targets of front matter are nodes of the site (HA4)."""
    if evidence.site is not None and evidence.site.cut:
        return Outcome("not-applicable", words="not all pages were requested")
    count = sum(len(node.model.links) for node in evidence.nodes)
    return judged(evidence.remarked("unresolved-link-target"), count, "declared link", "declared links")


def forms(evidence: Evidence) -> Outcome:
    """Require the specified form for every other field (H9, H10)."""
    wrong = [remark.mark for remark in evidence.remarks if remark.rule in _FORMS and remark.part == "rest"]
    return judged(wrong, len(evidence.nodes), "node", "nodes")


def _every(evidence: Evidence) -> Iterator[tuple[NodeSeen, ActionModel]]:
    return ((node, action) for node in evidence.nodes for action in node.model.actions)


def _actions(evidence: Evidence, wrong: Iterable[Mark], *, extra: int = 0) -> Outcome:
    count = sum(len(node.model.actions) for node in evidence.nodes)
    return judged(wrong, count or extra, "action", "actions")
