"""The list of what a store has, as a page and as the lines of it that changed (X37).

In: lines, and what the reader chose. Out: HTML in which every text of a program, a model or a person is escaped; it
needs no script to be read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from urllib.parse import urlencode

from msgspec import Struct

from prosa.data import Plain
from prosa.records.listing import CONDITIONS, RECORD_KINDS, Condition, ListedRecord, RecordKind, RecordList
from prosa.render.page.chrome import chrome
from prosa.render.page.model import Frame
from prosa.render.page.templates import asset_url, html, render
from prosa.render.plain import safe
from prosa.render.tests import dollars

FOLDERS: Mapping[RecordKind, str] = {"run": "runs", "test": "tests", "batch": "batches"}
"""The first part of the path of a page, by what it shows."""

FIELDS = ("kind", "state", "program", "since", "text", "before")
"""The parameters of the list in its address."""

MAX_TEXT = 300
"""Characters of a text in a line."""

_SIGNS: Mapping[Condition, str] = {"running": "▶", "done": "✓", "failed": "✗", "stopped": "■"}
_MARK = 16


class Lines(Struct, frozen=True):
    """The lines of a page by their keys, in their order, what they come to together, and a mark that is another one
    when anything of it is. ``is_unsure`` is true if something runs, which may end without a word."""

    rows: Mapping[str, str]
    total: str
    mark: str
    is_unsure: bool = False


def lines_of(listed: RecordList, prefix: str) -> Lines:
    """Return the lines of a page."""
    rows = {f"{record.kind}-{record.id}": record_line(record, prefix) for record in listed.records}
    total = _total(listed.records, more=listed.more)
    digest = sha256("\0".join((total, *rows.values())).encode("utf-8", "replace")).hexdigest()
    return Lines(rows, total, digest[:_MARK], any(record.condition == "running" for record in listed.records))


def records_page(
    frame: Frame, place: str, listed: RecordList, lines: Lines, query: Mapping[str, str], problem: str = ""
) -> str:
    """Return the list in the store at ``place``. ``query`` are the parameters of its address, ``problem`` is what is
    wrong with them."""
    chosen = {name: query.get(name, "") for name in FIELDS}
    kept = {name: value for name, value in chosen.items() if value and name != "before"}
    last = listed.records[-1] if listed.more else None
    older = {**kept, "before": f"{last.started}~{last.id}"} if last else {}
    live = {**kept, **({"before": chosen["before"]} if chosen["before"] else {})}
    values: dict[str, Plain] = {
        **chrome(frame, "Runs, tests and batches", back=_url(live), scripts=("records.js",)),
        "title": "Runs, tests and batches",
        "records_css": asset_url(frame, "records.css"),
        "chosen": chosen,
        "filtered": bool(kept),
        "kinds": [("", "all"), *((kind, FOLDERS[kind]) for kind in RECORD_KINDS)],
        "states": [("", "any"), *((condition, condition) for condition in CONDITIONS)],
        "problem": problem,
        "total": lines.total,
        "mark": lines.mark,
        "rows": [html(row) for row in lines.rows.values()],
        "empty": _none(place, listed, filtered=bool(kept)),
        "older": f"{frame.prefix}{_url(older)}" if older else "",
        "newest": f"{frame.prefix}{_url(kept)}" if chosen["before"] else "",
        "live_url": f"{frame.prefix}/live{_url(live)[1:]}",
    }
    return render("records.html", values)


def record_head(frame: Frame, key: str, lines: Lines, troubles: Sequence[str]) -> str:
    """Return what stands above the page of one record: the way back, its line in the list, and what is wrong."""
    values: dict[str, Plain] = {
        "prefix": frame.prefix,
        "live_url": f"{frame.prefix}/live?of={key}",
        "mark": lines.mark,
        "rows": [html(row) for row in lines.rows.values()],
        "troubles": list(troubles),
    }
    return render("record-head.html", values)


def _url(fields: Mapping[str, str]) -> str:
    return f"/?{urlencode(fields, errors='replace')}" if fields else "/"


def _none(place: str, listed: RecordList, *, filtered: bool) -> str:
    if not listed.there:
        return f"There is no store at {safe(place)} yet: it is made with the first run."
    return "Nothing in the store is as you chose." if filtered else "The store has no runs, tests or batches yet."


def _total(records: Sequence[ListedRecord], *, more: bool) -> str:
    known = [record.cost for record in records if record.cost is not None]
    running = sum(record.condition == "running" for record in records)
    parts = [f"{len(records):,} shown{', and there are more' if more else ''}"]
    parts += [f"{running:,} running"] if running else []
    parts += [dollars(sum(known))] if known else []
    return " · ".join(parts)


def record_line(record: ListedRecord, prefix: str) -> str:
    """Return one line."""
    return render(
        "record.html",
        {
            "key": f"{record.kind}-{record.id}",
            "url": f"{prefix}/{FOLDERS[record.kind]}/{record.id}{'/' if record.kind == 'test' else ''}",
            "kind": record.kind,
            "id": record.id,
            "name": _short(record.name or record.id),
            "condition": record.condition,
            "sign": _SIGNS[record.condition],
            "words": record.condition,
            "total": record.total,
            "done": min(record.done, record.total),
            "progress": _progress(record),
            "money": "" if record.cost is None else dollars(record.cost),
            "figures": " · ".join(_figures(record)),
            "started": record.started,
            "when": f"{record.started[:19].replace('T', ' ')} UTC",
            "model": _short(record.model),
            "file": _short(record.file),
            "error": _short(record.error) if record.condition != "running" else "",
        },
    ).rstrip()


def _progress(record: ListedRecord) -> str:
    failed = f", {record.failed:,} failed" if record.failed else ""
    unmeasured = f", {record.unmeasured:,} not measured" if record.unmeasured else ""
    return f"{record.done:,} of {record.total:,}{failed}{unmeasured}"


def _figures(record: ListedRecord) -> list[str]:
    figures = [f"{record.calls:,} call{'' if record.calls == 1 else 's'}"] if record.calls else []
    figures += [f"{record.tokens:,} tokens"] if record.tokens else []
    return figures + ([f"{record.seconds:,.1f} s"] if record.seconds is not None else [])


def _short(text: str) -> str:
    line = " ".join(safe(text[: 4 * MAX_TEXT]).split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"
