"""The three sections of a record: header, body and footer, and how they are fenced."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Mapping, read_json
from prosa.diagnostics import Fix, Severity
from prosa.dialects.ymj.format import fence_edits, line_end_edits, mark_edits
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import is_blank
from prosa.regex import regex
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
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
    if fenced is not None:
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
