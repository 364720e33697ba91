"""The profiles of §12 (Y30) as a table: what each kind of record usually has. They serve `prosa new` as templates and
`prosa check` as hints, and are never a requirement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from prosa.data import Plain
from prosa.dialects.ymj.model import YmjModel

_UPDATED = ("updated",)


class Profile(Struct, frozen=True):
    """One profile. ``header`` and ``ops`` are the fields it recommends; of a tuple inside ``ops`` any one will do.

    ``tags`` are its usual tags; two profiles of one ``kind`` are distinguished by ``sign``, one of the tags or the
    value of `ops.body_format`. ``summary``, ``body``, ``fields`` and ``directives`` fill a new record; ``link`` is
    true if its body should hold a wikilink.
    """

    name: str
    title: str
    kind: str
    header: tuple[str, ...] = ()
    ops: tuple[str | tuple[str, ...], ...] = ()
    tags: tuple[str, ...] = ()
    sign: str = ""
    link: bool = False
    summary: str = ""
    body: str = ""
    fields: Mapping[str, Plain] = field(default_factory=dict)
    directives: Mapping[str, Plain] = field(default_factory=dict)


_RUN = {"provenance": {"source": "where it comes from", "tool": "what wrote it", "run_id": "run-0001"}}
_ATTACHED = {
    "attachments": [{"uri": "https://example.org/data/table.csv", "note": "the whole table; add its `sha256`"}]
}

PROFILES: tuple[Profile, ...] = (
    Profile(
        "context",
        "Context of an agent, a user or a system",
        "identity_profile",
        header=_UPDATED,
        tags=("context",),
        summary="Who this is and what matters to them",
        body="# {subject}\n\nWho this is, what they work on, what they prefer.\n",
    ),
    Profile(
        "agent",
        "Context of a sub-agent",
        "identity_profile",
        header=("provenance",),
        tags=("agent", "context"),
        sign="agent",
        link=True,
        summary="What this agent does and who controls it",
        body="# {subject}\n\nWhat the agent may do, and what it knows.\n\nControlled by [[Parent agent]].\n",
        fields=_RUN,
    ),
    Profile(
        "csv",
        "Table, with the full data attached",
        "dataset",
        header=("attachments",),
        ops=("body_format", "body_selector"),
        tags=("dataset", "csv"),
        sign="csv",
        summary="The first rows of a table; the full data is attached",
        body="# {subject}\n\nWhat the columns mean.\n\n```csv\nname,value\nfirst,1\nsecond,2\n```\n",
        fields=_ATTACHED,
        directives={"body_format": "csv", "body_selector": "first_fenced:csv"},
    ),
    Profile(
        "viz",
        "Diagram or graph",
        "viz",
        ops=("body_format", "handlers"),
        tags=("viz",),
        summary="A diagram of how the parts hang together",
        body="# {subject}\n\n```mermaid\ngraph LR\n  start --> finish\n```\n",
        directives={"body_format": "mermaid", "handlers": [{"name": "render_graph", "args": {}}]},
    ),
    Profile(
        "ticket",
        "Ticket or error log",
        "ticket",
        header=("classification", "provenance"),
        ops=("ticket", "trace"),
        tags=("incident", "ops"),
        summary="What failed, where, and since when",
        body="# {subject}\n\n## What happened\n\n## How to reproduce it\n\n## Logs\n\n```text\n```\n",
        fields={"classification": "internal", **_RUN},
        directives={
            "ticket": {"severity": 3, "code": "UNKNOWN", "related_ids": []},
            "trace": {"lineage_id": "incident-0001"},
        },
    ),
    Profile(
        "page",
        "Page of a site",
        "page",
        ops=(("page", "routes"),),
        summary="What a visitor finds on this page",
        body="# {subject}\n\nText of the page.\n",
        directives={"page": {"route": "/new-page", "layout": "default", "seo": {"description": "What it is about"}}},
    ),
    Profile(
        "runbook",
        "Runbook or checklist",
        "runbook",
        tags=("ops", "runbook"),
        summary="Steps to follow when something has to be done by hand",
        body="# {subject}\n\n## When to use it\n\n## Steps\n\n1. First step\n2. Second step\n\n## How to go back\n",
    ),
    Profile(
        "api",
        "Description or mock of an API",
        "spec",
        ops=(("handlers", "body_format"),),
        tags=("api",),
        sign="api",
        summary="What the interface offers, with an example answer",
        body='# {subject}\n\nWhat it is for.\n\n```json\n{"status": "ok"}\n```\n',
        directives={"body_format": "json", "handlers": [{"name": "render_api_doc", "args": {}}]},
    ),
    Profile(
        "experiment",
        "Experiment or notebook",
        "experiment",
        header=("provenance", "updated"),
        ops=("handlers",),
        tags=("exp", "metrics"),
        summary="What was tried and what came out",
        body="# {subject}\n\n## Question\n\n## Method\n\n## Result\n",
        fields=_RUN,
        directives={"handlers": [{"name": "evaluate", "args": {}}]},
    ),
    Profile(
        "trace",
        "Trace of an execution",
        "trace",
        header=("provenance",),
        ops=("trace",),
        summary="What ran, in which order, with which result",
        body="# {subject}\n\n1. First step\n2. Second step\n",
        fields=_RUN,
        directives={"trace": {"lineage_id": "run-0001"}},
    ),
    Profile(
        "policy",
        "Policy or consent",
        "policy",
        header=("classification", "updated"),
        summary="What is allowed, for whom, until when",
        body="# {subject}\n\n## Scope\n\n## Rules\n",
        fields={"classification": "internal"},
        directives={"visibility": "private", "retention": {"days": 365}},
    ),
    Profile(
        "card",
        "Knowledge card",
        "card",
        link=True,
        summary="One thing worth knowing, in a few lines",
        body="# {subject}\n\nThe thing itself.\n\nSee also [[Related card]] and [[Another card]].\n",
        fields={"language": "en"},
    ),
    Profile(
        "manifest",
        "Manifest of a data set",
        "dataset",
        header=("attachments",),
        ops=("handlers",),
        summary="The files of a data set and where they come from",
        body="# {subject}\n\nWhat the files hold and who may use them.\n",
        fields=_ATTACHED,
        directives={"handlers": [{"name": "ingest_dataset", "args": {}}], "retention": {"days": 365}},
    ),
    Profile(
        "recipe",
        "Recipe that turns data into other data",
        "recipe",
        header=("provenance",),
        ops=("handlers", "attachments"),
        summary="How raw data becomes the table that others use",
        body="# {subject}\n\n## Sources\n\n## Steps\n\n1. Parse\n2. Transform\n3. Export\n",
        fields={**_RUN, **_ATTACHED},
        directives={
            "handlers": [{"name": name, "args": {}} for name in ("parse", "transform", "export")],
            "attachments": [{"uri": "https://example.org/data/table.csv", "select": "all"}],
        },
    ),
)


def profile(name: str) -> Profile | None:
    """Return the profile of that name."""
    return next((candidate for candidate in PROFILES if candidate.name == name), None)


def profile_of(model: YmjModel) -> Profile | None:
    """Return the profile that a record seems to follow, by its kind and by the sign that distinguishes two of
    one kind."""
    kind = model.text("kind")
    of_kind = [candidate for candidate in PROFILES if candidate.kind == kind]
    signs = {*model.tags, model.option("body_format") or ""}
    signed = next((candidate for candidate in of_kind if candidate.sign and candidate.sign in signs), None)
    return signed or next((candidate for candidate in of_kind if not candidate.sign), None)


def lacking(model: YmjModel, wanted: Profile) -> Iterator[str]:
    """Yield what the profile recommends and the record does not have, as people write it."""
    present = {entry.key.text for entry in model.header or ()}
    yield from (f"`{name}`" for name in wanted.header if name not in present)
    for option in wanted.ops:
        names = (option,) if isinstance(option, str) else option
        if not any(name in model.ops for name in names):
            yield " or ".join(f"`ops.{name}`" for name in names)
    missing = [tag for tag in wanted.tags if tag not in model.tags]
    if missing:
        yield "the tags " + ", ".join(f"`{tag}`" for tag in missing)
    if wanted.link and not model.document.wikilinks:
        yield "a wikilink to what it belongs to"
