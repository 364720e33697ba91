"""The front matter of MAGI documents: ids, dates, and fields that miss it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Mapping, read_yaml
from prosa.data.limits import MAX_FRONT_MATTER_BYTES
from prosa.diagnostics import Annotation, Applicability, Fix, Severity
from prosa.dialects.magi.fields import DATE_FIELDS, FRONT, normal_form, read_date, squashed
from prosa.dialects.magi.model import MagiModel
from prosa.regex import regex
from prosa.rules.magi import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span

REPORTED = (
    RULES.reported("MG001", "scalar-for-list", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MG002", "field-name-case", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MG004", "unusual-date-form", Severity.WARNING, strict=Severity.ERROR),
)
"""What readers report by name."""


_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@RULES.document("MG006", "doc-id-not-uuid", Severity.HINT)
def doc_id_not_uuid(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a document id that may not be unique in the world (M5, MA5). The finding points at the id."""
    model = subject.model
    span = model.fields.span("doc-id")
    if model.doc_id is not None and span is not None and not _UUID.fullmatch(model.doc_id):
        note = "other documents point at it by this id, so it should be unique: a UUID is recommended"
        yield Finding("`doc-id` is not a UUID", span, (note,))


@RULES.document("MG007", "missing-doc-id", Severity.WARNING, strict=Severity.ERROR)
def missing_doc_id(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a document with relationships but no id to point back at (M5, MA5). The finding points at the front matter,
    and mentions the first relationship. Fields in a second block are mentioned as such."""
    model = subject.model
    if not model.relationships or model.doc_id is not None or not model.front.complete:
        return
    if has_fields_below(model):
        return
    message = "a document with relationships needs a `doc-id`: without it the connections have only one end"
    annotation = Annotation(model.relationships[0].span, "the first relationship")
    yield Finding(message, model.front.anchor, ("a UUID is recommended",), (annotation,))


_BLANK = regex(r"\s*")
_CLOSE = regex(r"(?:\r\n|\n|\r)---(?=[\r\n]|\Z)")
_KNOWN = frozenset(squashed(field.name) for field in FRONT)


@RULES.document("MG009", "fields-below-front-matter", Severity.WARNING, strict=Severity.ERROR)
def fields_below_front_matter(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find empty front matter with its fields in a second block below it. The finding points at the fence that ends
    the front matter too early."""
    model = subject.model
    front = model.front
    if not has_fields_below(model):
        return
    fence = front.source.text.rfind("---", 0, front.body.start)
    edit = Edit(Span(fence, front.body.start), "")
    fix = Fix("remove the fence between the two blocks", (edit,), Applicability.UNSAFE)
    message = "the front matter ends here without a field; what follows looks like its fields but is body text"
    notes = ("front matter is one block, closed by the first line that is exactly `---`",)
    yield Finding(message, Span(fence, fence + 3), notes, fix=fix)


def has_fields_below(model: MagiModel) -> bool:
    """Return whether the front matter is empty and the block below it holds fields of MAGI."""
    front, text = model.front, model.source.text
    if front.fields is None or front.fields.entries or not front.present:
        return False
    blank = _BLANK.match(text, model.front.body.start)
    start = blank.end() if blank else model.front.body.start
    close = _CLOSE.search(text, start, start + MAX_FRONT_MATTER_BYTES)
    if close is None:
        return False
    reading = read_yaml(text[start : close.start()])
    fields = reading.node if isinstance(reading.node, Mapping) and not reading.problems else ()
    return any(squashed(entry.key.text) in _KNOWN for entry in fields)


@RULES.document("MG005", "date-without-zone", Severity.HINT)
def date_without_zone(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a time of day without its time zone, or a creation date without a time (M12–M15). The finding points at the
    date. A date alone is enough everywhere but in `created-date`."""
    model = subject.model
    for name in DATE_FIELDS:
        text, span = model.fields.text(name), model.fields.span(name)
        moment = read_date(normal_form(text) or "") if text else None
        if moment is None or span is None or moment.zoned or not (moment.timed or name == "created-date"):
            continue
        missing = "time zone" if moment.timed else "time and no time zone"
        yield Finding(f"`{name}` has no {missing}", span, ("for example `2024-01-15T09:00:00Z`",))
