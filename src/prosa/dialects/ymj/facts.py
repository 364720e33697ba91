"""The public data of a record: the keys of `prosa show` in interface.md, references and definitions for the graph
(Y12, Y21, Y31).

`mode` and `accepted` depend on flags and findings that a reader does not know: `facts` uses the record alone, `judged`
adds the caller's knowledge (YA11). The subject of a record is its title; its stem comes from its path, and it has no
id of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.data import Mapping, Scalar
from prosa.dialects.ymj.fields import is_recording
from prosa.dialects.ymj.model import YmjModel, items_of, local_path, mappings_of, text_in
from prosa.dialects.ymj.trace import (
    Attached,
    ModelBlock,
    SetupBlock,
    ToolBlock,
    Trace,
    WrittenText,
    WrittenTokens,
    read_trace,
    scope_of,
)
from prosa.document import Def, Ref
from prosa.document.references import RefKind
from prosa.regex import regex

if TYPE_CHECKING:
    from typing import TypedDict

    from prosa.dialects.facts import RecordedCall, YmjFacts

    class CorpusFacts(TypedDict, total=False):
        """What rules over many documents read of a record (`corpus_facts`)."""

        route: str
        route_at: tuple[int, int]


_OF_THE_BODY = frozenset(
    ("unresolved-link", "unresolved-anchor", "undefined-footnote", "unresolved-wikilink", "ambiguous-wikilink")
)


def facts(model: YmjModel) -> YmjFacts:
    """Return the keys of a record. `accepted` is true here if header and footer could be read (YA12)."""
    payload = model.payload
    header, footer = model.header_value, model.footer_value
    record: YmjFacts = {
        "dialect": "ymj",
        "mode": "strict" if model.asks_strict else "permissive",
        "accepted": header is not None and footer is not None,
        "header": header,
        "footer": footer,
        "body": model.body_text,
        "body_sha256": model.body_sha256,
        "payload": None
        if payload is None
        else {"selector": payload.selector, "found": payload.found, "content": payload.content},
        "attachments": [attachment.facts() for attachment in model.attachments],
        "wikilinks": [
            {"target": link.target, "line": model.source.position(link.span.start).line}
            for link in model.document.wikilinks
        ],
        "catalog": {"doc_summary": model.catalog} if model.catalog is not None else None,
    }
    if is_recording(footer):  # X27
        trace = read_trace(model.source.text, model.body)
        record["calls"] = [*call_rows(trace, lambda at: model.source.position(at).line)]
    return record


def corpus_facts(model: YmjModel) -> CorpusFacts:
    """Return the data for rules over many documents: the route that a record requests, and its place (Y12)."""
    page = model.ops_map("page")
    route = page.get("route") if page is not None else None
    if not isinstance(route, Scalar) or not isinstance(route.value, str):
        return {}
    return {"route": route.value, "route_at": (route.span.start, route.span.end)}


def judged(model: YmjModel, strict: bool, errors: frozenset[str]) -> YmjFacts:
    """Return the facts with the mode in force and the verdict: a record is accepted if no rule finds an error.

    The body is free-form (Y5), so the targets of its links and footnotes do not count.
    """
    record = facts(model)
    accepted = record["accepted"] and not errors - _OF_THE_BODY
    return {**record, "mode": "strict" if strict else "permissive", "accepted": accepted}


_WIKILINK = regex(r"\[\[([^\[\]|#]+)(?:#([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_FILE = regex(r".*\.(?:md|markdown|mda|ymj)", re.IGNORECASE | re.DOTALL)
_URL = regex(r"[A-Za-z][A-Za-z0-9+.-]*://")


def references(model: YmjModel) -> tuple[Ref, ...]:
    """Wikilinks of the body, edges and names of the footer, attachments."""
    return (*_wikilinks(model), *_edges(model), *_named(model), *_attachments(model))


def definitions(model: YmjModel) -> tuple[Def, ...]:
    """Return the subject, and of a trace the run that it is about, by which other records name it."""
    return (*_title(model), *_run(model))


def _title(model: YmjModel) -> Iterator[Def]:
    subject = model.fields.get("subject")
    if subject is not None and isinstance(subject.value, Scalar):
        yield Def("title", subject.value.text, subject.value.span)


def _run(model: YmjModel) -> Iterator[Def]:
    provenance = model.fields.get("provenance")
    if model.text("kind") != "trace" or provenance is None or not isinstance(provenance.value, Mapping):
        return
    run = provenance.value.get("run_id")
    if isinstance(run, Scalar) and run.text.strip():
        yield Def("alias", run.text.strip(), run.span)


def _wikilinks(model: YmjModel) -> Iterator[Ref]:
    for link in model.document.wikilinks:
        if link.target:
            yield Ref("wikilink", link.target, "stem", link.span, fragment=link.fragment or "")


def _edges(model: YmjModel) -> Iterator[Ref]:
    graph = model.ops_map("graph")
    for edge in mappings_of(graph.entry("edges") if graph is not None else None):
        to, rel = edge.get("to"), text_in(edge, "type")
        if isinstance(to, Scalar) and isinstance(to.value, str) and to.value.strip():
            target, fragment, kind = _target(to.value.strip())
            yield Ref("ops.graph", target, kind, to.span, rel=rel, fragment=fragment)


def _named(model: YmjModel) -> Iterator[Ref]:
    """Yield the tickets that a ticket is related to, and the parent of a trace, each by stem, subject or run."""
    ticket, trace = model.ops_map("ticket"), model.ops_map("trace")
    for item in items_of(ticket.get("related_ids") if ticket is not None else None):
        if isinstance(item, Scalar) and isinstance(item.value, str) and item.value.strip():
            yield Ref("ops.ticket", item.value.strip(), "stem", item.span, rel="related")
    parent = trace.get("parent_id") if trace is not None else None
    if isinstance(parent, Scalar) and isinstance(parent.value, str) and parent.value.strip():
        yield Ref("ops.trace", parent.value.strip(), "stem", parent.span, rel="parent")


def _target(text: str) -> tuple[str, str, RefKind]:
    """Return what an edge names: a wikilink, an address, a file, or the stem of one."""
    match = _WIKILINK.fullmatch(text)
    if match:
        return match[1].strip(), match[2] or "", "stem"
    if _URL.match(text):
        return text, "", "url"
    path, _, fragment = text.partition("#")
    return (path, fragment, "path") if "/" in path or _FILE.fullmatch(path) else (text, "", "stem")


def _attachments(model: YmjModel) -> Iterator[Ref]:
    for attachment in model.attachments:
        if attachment.uri is None:
            continue
        path = local_path(attachment.uri, Path())
        kind: RefKind = "url" if path is None else "path"
        yield Ref(
            "front-matter", attachment.uri if path is None else path.as_posix(), kind, attachment.span, rel="attachment"
        )


# The calls of a recording, as people are shown them.


def call_rows(trace: Trace, line_of: Callable[[int], int]) -> Iterator[RecordedCall]:
    """Yield the calls of a recording in the order written."""
    setups = {scope_of(block.path): block.content for block in trace.blocks if isinstance(block.content, SetupBlock)}
    for block in trace.blocks:
        setup, content = setups.get(scope_of(block.path)), block.content
        line, program = line_of(block.span.start), setup.program if setup else ""
        if isinstance(content, ToolBlock):
            yield _call(block.path, program, content.kind, content.tool, WrittenTokens(), _given(content), line)
        elif isinstance(content, ModelBlock):
            usage = content.reply.usage if content.reply else WrittenTokens()
            answered = content.reply.model if content.reply else None
            name = answered or content.model or (setup.model if setup else "")
            yield _call(block.path, program, "model", name, usage, _answered(content), line)


def _call(path: str, program: str, kind: str, name: str, usage: WrittenTokens, answer: str, line: int) -> RecordedCall:
    return {
        "path": path,
        "program": program,
        "kind": kind,
        "name": name,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "said": answer,
        "line": line,
    }


def _answered(block: ModelBlock) -> str:
    if block.reply is None:
        return f"failed: {_brief(block.error.message)}" if block.error else "nothing"
    again = f" (attempt {len(block.attempts) + 1})" if block.attempts else ""
    if block.reply.tool_calls:
        return f"asks for {', '.join(call.name for call in block.reply.tool_calls)}{again}"
    return f"{_brief(block.reply.content) or block.reply.finish}{again}"


def _given(block: ToolBlock) -> str:
    if block.result is None:
        return f"failed: {_brief(block.error.message)}" if block.error else "nothing"
    return f"{'error: ' if block.result.is_error else ''}{_brief(block.result.content)}"


def _brief(text: WrittenText) -> str:
    """Return a text on one line."""
    if isinstance(text, Attached):
        return f"see {text.attached}"
    return " ".join((text if isinstance(text, str) else " ".join(text)).split())
