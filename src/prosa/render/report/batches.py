"""The page of a batch: how far it is, what it costs, failures by their kind, and its rows (X29, X37)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prosa.records.batch import BatchCounts, BatchRecord, BatchState, RowResult
from prosa.render.batch import counts_words
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.render.report.attempts import answer_text
from prosa.render.report.frame import MAX_PAGE, frame_weight, page
from prosa.render.report.parts import Part, Whole, brief, table, table_row, text_block, weight, within
from prosa.render.report.pictures import shares_picture
from prosa.render.report.runs import WHOLE
from prosa.render.tests import count_words, dollars

MAX_REASON = 1_000
"""Characters of an error."""

MAX_EXAMPLES = 5
"""Errors of a kind that are shown."""

_SHARE = 0.6
"""The part of a page that rows may take without their texts."""

_SIGNS: Mapping[BatchState, tuple[str, str]] = {
    "done": ("✓", "good"),
    "stopped": ("✗", "bad"),
    "cancelled": ("✗", "bad"),
    "open": ("…", "open"),
}


def batch_page(
    batch: BatchRecord,
    counts: BatchCounts,
    rows: Sequence[RowResult],
    *,
    unread: int = 0,
    limit: int = MAX_PAGE,
    whole: Whole | None = None,
) -> str:
    """Return a batch as one page of at most ``limit`` bytes. Rows that failed come first; outputs share the room, and
    rows that have none are counted. ``unread`` are rows that are over and not among ``rows``."""
    start = [*_head(batch, counts, _cost(counts)), *_failures(rows)]
    ordered = sorted(rows, key=lambda row: row.ok)
    room = int((limit - frame_weight(batch.name) - weight(start)) * _SHARE)
    body = [*start, "<h2>Rows</h2>\n" if rows else "", *within(map(_row, ordered), room, "further row")]
    if unread:
        body.append(f'<p class="cut">{count_words(unread, "row")} more are in the store.</p>\n')
    return page(f"Batch {safe(batch.name)}", body, limit, whole or {})


def _head(batch: BatchRecord, counts: BatchCounts, cost: str) -> Iterator[str]:
    sign, kind = _SIGNS[batch.state]
    yield f'<header>\n<p class="over">Prosa batch</p>\n<h1>{brief(batch.name)}</h1>\n'
    yield f'<p class="ending {kind}"><b>{sign} {batch.state}</b></p>\n'
    yield f'<p class="lead">{brief(counts_words(counts))}</p>\n'
    if batch.reason:
        yield f'<p class="why {kind}">{brief(batch.reason, MAX_REASON)}</p>\n'
    shares = (("good", counts.done), ("bad", counts.failures), ("left", counts.left))
    words = f"{counts.done:,} done, {counts.failures:,} failed, {counts.left:,} left."
    yield f"<figure>{shares_picture('rows', ('Rows by state', words), shares)}"
    yield f"<figcaption>{words}</figcaption></figure>\n"
    facts = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in _about(batch, counts, cost))
    yield f'<dl class="about">{facts}</dl>\n</header>\n'


def _about(batch: BatchRecord, counts: BatchCounts, cost: str) -> Iterator[tuple[str, str]]:
    yield "Created", f"{brief(batch.created[:16].replace('T', ' '))} UTC"
    yield "Program", brief(batch.program)
    yield "Model", brief(batch.model)
    yield "Rows", f"<code>{brief(batch.rows_from)}</code>"
    yield "Calls", f"{counts.calls:,}"
    yield "Tokens", f"{counts.input_tokens:,} → {counts.output_tokens:,}"
    yield "Cost", cost
    yield "Seconds", f"{counts.seconds:,.1f}"
    yield "Batch", f"<code>{brief(batch.id)}</code>"


def _cost(counts: BatchCounts) -> str:
    """Return what the rows cost, as far as prices are known."""
    if not counts.unpriced:
        return dollars(counts.cost)
    return f"at least {dollars(counts.cost)}" if counts.cost else "unknown"


def _failures(rows: Sequence[RowResult]) -> Iterator[Part]:
    """Yield the failures by their kind, the most frequent first, with the errors that are most frequent."""
    kinds: dict[str, dict[str, list[int]]] = {}
    for row in rows:
        if row.kind is not None:
            kinds.setdefault(row.kind, {}).setdefault(row.error or "", []).append(row.row)
    if not kinds:
        return
    lines: list[str] = []
    for kind, errors in sorted(kinds.items(), key=lambda entry: -sum(map(len, entry[1].values()))):
        often = sorted(errors.items(), key=lambda entry: -len(entry[1]))
        examples = "<br>".join(f"{len(at):,}× {brief(error)} {_places(at)}" for error, at in often[:MAX_EXAMPLES])
        more = f"<br>… and {len(often) - MAX_EXAMPLES:,} other errors" if len(often) > MAX_EXAMPLES else ""
        lines.append(table_row(f"<b>✗ {kind}</b>", (f"{sum(map(len, errors.values())):,}", examples + more)))
    yield "<h2>Failures</h2>\n"
    yield from table("Failures by kind", "failures", ("Kind", "Rows", "Errors"), lines)


def _places(rows: Sequence[int]) -> str:
    shown = ", ".join(map(str, rows[:MAX_EXAMPLES]))
    return f"<small>(row{'' if len(rows) == 1 else 's'} {shown}{', …' if len(rows) > MAX_EXAMPLES else ''})</small>"


def _row(row: RowResult) -> Iterator[Part]:
    kind, sign = ("good", "✓") if row.ok else ("bad", "✗")
    name = "" if row.id in (None, row.row) else f" {brief(row.id if isinstance(row.id, str) else dump(row.id), 80)}"
    cost = "cost unknown" if row.cost is None else dollars(row.cost)
    facts = [count_words(row.calls, "call"), cost, f"{row.seconds:.1f} s"]
    facts += [f"{row.attempts:,} processes"] if row.attempts > 1 else []
    state = "done" if row.kind is None else row.kind
    error = f" {brief(row.error, 120)}" if row.error else ""
    yield f'<details class="case {kind}"><summary><b class="{kind}">{sign} {state}</b> '
    yield f"row {row.row:,}{name} <small>{' · '.join(facts)}</small>{error}</summary>\n"
    if row.error:
        yield f'<p class="why {kind}">{brief(row.error, MAX_REASON)}</p>\n'
    if row.output is not None:
        yield text_block(answer_text(row.output), is_first=True, kind="answer", where=WHOLE)
    yield "</details>\n"
