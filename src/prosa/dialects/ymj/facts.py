"""What `prosa show` says about a record, with the keys that interface.md fixes.

`mode` and `accepted` depend on flags and findings that a reader does not know: `facts` answers for the record alone,
`judged` puts in what the caller knows (YA11).
"""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.ymj.model import YmjModel

_OF_THE_BODY = frozenset(
    ("unresolved-link", "unresolved-anchor", "undefined-footnote", "unresolved-wikilink", "ambiguous-wikilink")
)


def facts(model: YmjModel) -> dict[str, Value]:
    """The keys of a record. `accepted` says here only that header and footer could be read (YA12)."""
    payload = model.payload
    header, footer = model.header_value, model.footer_value
    return {
        "mode": "strict" if model.asks_strict else "permissive",
        "accepted": header is not None and footer is not None,
        "header": header,
        "footer": footer,
        "body": model.body_text,
        "body_sha256": model.body_sha256,
        "payload": None
        if payload is None
        else {"selector": payload.selector, "found": payload.found, "content": payload.content},
        "attachments": [each.facts() for each in model.attachments],
        "wikilinks": [
            {"target": link.target, "line": model.source.position(link.span.start).line}
            for link in model.document.wikilinks
        ],
        "catalog": {"doc_summary": model.catalog} if model.catalog is not None else None,
    }


def judged(found: dict[str, Value], strict: bool, errors: frozenset[str]) -> dict[str, Value]:
    """The same facts with the mode in force and the verdict: accepted is a record in which no rule finds an error.

    The body is free-form (Y5), so where its links and footnotes lead does not count.
    """
    accepted = bool(found["accepted"]) and not errors - _OF_THE_BODY
    return {**found, "mode": "strict" if strict else "permissive", "accepted": accepted}
