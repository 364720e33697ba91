"""The summary of a record, which catalogs read from its second line."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Scalar
from prosa.diagnostics import Fix, Severity
from prosa.dialects.ymj.attachments import text_in
from prosa.dialects.ymj.edits import SUMMARY, raw_second_line, summary_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import (
    HANDLER,
    HEAD_CHARACTERS,
    LEAST_SHARE,
    MAX_SUMMARY,
    share_of_words,
    summary_of_line,
)
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.rules.ymj import RULES
from prosa.source import Span


@RULES.document("YM010", "summary-not-second", Severity.WARNING, strict=Severity.ERROR)
def summary_not_second(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a `doc_summary` that is not on the second line, where catalogs read it (Y4, YA5). The finding points
    at the key."""
    model = subject.model
    entry = model.header.entry("doc_summary") if model.header is not None else None
    if entry is None or subject.source.slice(raw_second_line(model)).startswith(SUMMARY):
        return
    edits = summary_edits(model) if not model.front.problems else ()
    fix = Fix("move it to the second line", edits) if edits else None
    message = "the second line of a record begins with `doc_summary:`, and this one does not"
    yield Finding(message, entry.key.span, fix=fix)


@RULES.document("YM011", "summary-too-long", Severity.WARNING, strict=Severity.ERROR)
def summary_too_long(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a summary of more than 120 characters (Y4, Y7). The finding points at the summary. Code points of the value
    count, not those of its quotes or its line breaks."""
    model = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    length = len(entry.value.text.strip())
    if length > MAX_SUMMARY:
        message = f"`doc_summary` has {length} characters; catalogs take {MAX_SUMMARY}"
        yield Finding(message, entry.value.span, ("say the rest in the body",))


@RULES.document("YM012", "summary-on-several-lines", Severity.WARNING, strict=Severity.ERROR)
def summary_on_several_lines(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a summary that is written, or means, more than one line (Y4, YA5). The finding points at the value."""
    model = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    raw = subject.source.slice(Span(entry.key.span.end, entry.value.span.end))
    text = entry.value.text
    if "\n" not in text and not set("\r\n") & set(raw):
        return
    edits = summary_edits(model) if not model.front.problems else ()
    fix = Fix("write it on one line", edits) if edits else None
    message = "`doc_summary` takes more than one line, so the second line alone does not hold it"
    yield Finding(message, entry.value.span, fix=fix)


@RULES.document("YM013", "not-catalog-readable", Severity.WARNING, strict=Severity.ERROR)
def not_catalog_readable(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a second line that does not contain the summary if read alone (YA6). The finding points at the second line.
    Another rule reports one that holds only half of the summary."""
    model = subject.model
    if "doc_summary" not in model.fields or model.catalog is not None or not model.front.complete:
        return
    line = raw_second_line(model)
    text = subject.source.slice(line)
    if text.startswith(SUMMARY) and (len(text) >= HEAD_CHARACTERS or summary_of_line(text) is None):
        message = "the second line cannot be read alone, so a catalog does not get the summary"
        yield Finding(message, line, ("write the text itself, in quotes where it needs them",))


@RULES.document("YM014", "diverging-summary", Severity.WARNING)
def diverging_summary(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a summary that shares no words with the body (Y26): words are compared, without a model. The finding points
    at the summary. It is a warning if the record requests it with the handler `validate_summary`, else a hint, and
    only if not a single word is shared."""
    model = subject.model
    entry = model.fields.get("doc_summary")
    if entry is None or not isinstance(entry.value, Scalar):
        return
    share = share_of_words(entry.value.text, model.body_text)
    asked = any(text_in(item, "name") == HANDLER for item in model.ops_items("handlers"))
    if share is None or share >= (LEAST_SHARE if asked else 0.001):
        return
    severity = Severity.WARNING if asked else Severity.HINT
    message = "the summary speaks of something else than the body"
    note = f"the body has {share:.0%} of its words"
    yield Finding(message, entry.value.span, (note,), severity=severity)
