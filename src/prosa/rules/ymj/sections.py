"""The sections of a record: header, body and footer with their fences, the summary, versions, mirrored fields and
profiles."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Mapping, Scalar, read_json
from prosa.diagnostics import Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.edits import SUMMARY, raw_second_line, summary_edits
from prosa.dialects.ymj.fields import KNOWN, LATEST, is_known
from prosa.dialects.ymj.format import fence_edits, line_end_edits, mark_edits, mirror_edits, mirrors
from prosa.dialects.ymj.model import YmjModel, text_in
from prosa.dialects.ymj.profiles import lacking, profile_of
from prosa.dialects.ymj.sections import (
    HANDLER,
    HEAD_CHARACTERS,
    LEAST_SHARE,
    MAX_SUMMARY,
    is_blank,
    share_of_words,
    summary_of_line,
)
from prosa.regex import regex
from prosa.rules.rule import Finding, Subject
from prosa.rules.ymj import RULES
from prosa.source import Span

REPORTED = (
    RULES.reported("YM001", "missing-header", Severity.ERROR),
    RULES.reported("YM002", "missing-footer", Severity.ERROR),
    RULES.reported("YM003", "footer-syntax", Severity.ERROR),
    RULES.reported("YM004", "text-after-footer", Severity.ERROR),
)
"""What readers report by name."""


@RULES.document("YM005", "unusual-footer-fence", Severity.WARNING, strict=Severity.ERROR)
def unusual_footer_fence(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a footer whose fence lines are not exactly those of Strict form (Y9, YA10). The finding points at the line
    that opens the footer, or at the one that closes it."""
    model = subject.model
    edits = fence_edits(model)
    if edits:
        message = "the fence lines of the footer are not exactly ```json and ```"
        fix = Fix("write the fence lines of Strict form", edits)
        yield Finding(message, edits[0].span, fix=fix)


_KEYS = r"(?:doc_summary|kind|version|subject|maintained_by)[ \t]*:"
_FENCED = regex(rf"[ \t\r\n]*(---)[ \t]*(?:\r\n|\n|\r){_KEYS}")
_BARE = regex(rf"[ \t\r\n]*({_KEYS})")


@RULES.document("YM006", "second-header", Severity.WARNING, strict=Severity.ERROR)
def second_header(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find YAML fields at the start of the body, from a second header or a stray fence (Y2). The finding points at the
    apparent second header."""
    model = subject.model
    text, body = subject.source.text, model.body
    fenced = _FENCED.match(text, body.start, body.end)
    if fenced is not None and model.header is not None:
        message = "a second header follows the first; a record has exactly one"
        yield Finding(message, Span(*fenced.span(1)), ("join the two, or remove one",))
        return
    bare = _BARE.match(text, body.start, body.end)
    if bare is not None and model.header is not None and not model.header.entries:
        note = "the file begins with one `---` line too many"
        yield Finding("the header is empty and its fields are in the body", Span(*bare.span(1)), (note,))


@RULES.document("YM007", "second-footer", Severity.WARNING, strict=Severity.ERROR)
def second_footer(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find another footer right in front of the last one (Y2). The finding points at the last block of the body, where
    it has `schema` and `index` as a footer has."""
    model = subject.model
    fence = model.document.fences[-1] if model.document.fences else None
    if model.footer is None or fence is None or fence.nested or fence.language.lower() != "json":
        return
    if not is_blank(subject.source.text[fence.span.end : model.body.end]):
        return
    node = read_json(model.document.fence_text(fence)).node
    if isinstance(node, Mapping) and node.entry("schema") is not None and node.entry("index") is not None:
        message = "two footers follow each other; only the last one is read"
        span = Span(fence.span.start, min(fence.span.end, fence.span.start + 7))
        yield Finding(message, span, ("join the two, or remove one",))


@RULES.document("YM008", "byte-order-mark-in-record", Severity.WARNING)
def byte_order_mark_in_record(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a record that begins with a byte-order mark (Y1, YA25). The finding points at the mark."""
    model = subject.model
    edits = mark_edits(model)
    if edits:
        message = "the record begins with a byte-order mark, which UTF-8 does not need"
        yield Finding(message, edits[0].span, fix=Fix("remove the mark", edits))


@RULES.document("YM009", "crlf-in-record", Severity.WARNING)
def crlf_in_record(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find line ends other than LF (Y1, YA25), which do not count for the hash. The finding points at the first of
    them."""
    model = subject.model
    if "\r" not in subject.source.text:
        return
    edits = line_end_edits(model)
    count = f"{len(edits):,} line ends are" if len(edits) > 1 else "a line end is"
    message = f"{count} not LF; records prefer LF"
    yield Finding(message, edits[0].span, fix=Fix("write LF everywhere", edits))


# The summary of a record, which catalogs read from its second line.


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
    asked = any(text_in(item, "name") == HANDLER for item in model.ops_items("handlers"))
    least = LEAST_SHARE if asked else 0.001
    share = share_of_words(entry.value.text, model.body_text, least)
    if share is None or share >= least:
        return
    severity = Severity.WARNING if asked else Severity.HINT
    message = "the summary speaks of something else than the body"
    note = f"the body has {share:.0%} of its words"
    yield Finding(message, entry.value.span, (note,), severity=severity)


# Versions, mirrored fields and profiles of a record.


@RULES.document("YM020", "unknown-spec-version", Severity.WARNING)
def unknown_spec_version(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a `ymj_spec` that names a version that does not exist; the record is read permissively (Y28). The finding
    points at the version."""
    model = subject.model
    entry, text = model.fields.get("ymj_spec"), model.text("ymj_spec")
    if entry is None or text is None or is_known(text):
        return
    message = f"`{shown(text)}` is not a known version of YMJ; the record is read permissively as {LATEST}"
    notes = [f"known are {KNOWN[0]} to {LATEST}"]
    if text == model.text("version"):
        notes.append("`version` is the version of this document, `ymj_spec` that of the format it follows")
    yield Finding(message, entry.value.span, tuple(notes))


_ROLES = {"version": "the document's own version", "schema": "the version of the footer's layout"}


@RULES.document("YM021", "confused-versions", Severity.HINT)
def confused_versions(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find the version of the format where that of the document or of the footer belongs (Y23). The finding points at a
    `version` or `schema` that repeats `ymj_spec`."""
    model = subject.model
    spec = model.text("ymj_spec")
    if spec is None or not is_known(spec):
        return
    for name, entry in (("version", model.fields.get("version")), ("schema", model.entries.get("schema"))):
        if _text_of(entry) == spec and entry is not None:
            message = f"`{name}` repeats `ymj_spec`; it is {_ROLES[name]}"
            yield Finding(message, entry.value.span)


def _text_of(entry: Entry | None) -> str | None:
    return entry.value.text if entry is not None and isinstance(entry.value, Scalar) else None


@RULES.document("YM040", "identity-mirror", Severity.WARNING, strict=Severity.ERROR)
def identity_mirror(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a key of `index` that repeats a field of the header (Y13, YA1). The finding points at the key. Removing a
    mirror that differs is left to the author (X22)."""
    model = subject.model
    for mirror in mirrors(model):
        name = mirror.entry.key.text
        applicability = Applicability.SAFE if mirror.equal else Applicability.UNSAFE
        fix = Fix(f"remove `index.{name}`", mirror_edits(model, [name]), applicability)
        other = "" if mirror.equal else ", with another value"
        message = f"`index.{name}` repeats `{mirror.field}` of the header{other}; it is ignored"
        yield Finding(message, mirror.entry.key.span, fix=fix)


@RULES.document("YM080", "profile-gap", Severity.HINT)
def profile_gap(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find what records of this kind usually have and this one lacks (Y30), never as more than a hint. The finding
    points at `kind`; there is one for the whole record."""
    model = subject.model
    entry, wanted = model.fields.get("kind"), profile_of(model)
    if entry is None or wanted is None or model.footer is None:
        return
    missing = tuple(lacking(model, wanted))
    if missing:
        message = f"records like this one ({wanted.title}) usually also have {', '.join(missing)}"
        yield Finding(message, entry.value.span, (f"see: prosa new ymj --profile {wanted.name}",))
