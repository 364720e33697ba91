"""The attachments of a record: the catalog of the header, their handling, and the files they name.

Files outside the root are never opened and nothing is fetched; unverified ones are reported as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from prosa.data import Mapping
from prosa.diagnostics import Annotation, Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.model import Attachment, YmjModel, local_path, text_in
from prosa.rules.rule import Finding, Subject
from prosa.rules.ymj import RULES
from prosa.source import FileProblem, Span
from prosa.source.files import is_there


@RULES.document("YM060", "attachment-without-uri", Severity.WARNING)
def attachment_without_uri(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find handling for an attachment that is not named (YA18). The finding points at the item."""
    model = subject.model
    for attachment in model.attachments:
        if attachment.uri is None:
            message = "an item of `ops.attachments` has no `uri`, so it applies to nothing"
            yield Finding(message, attachment.span)


@RULES.document("YM061", "attachment-hash-in-footer", Severity.WARNING)
def attachment_hash_in_footer(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find the hash of an attachment among its handling (Y14, YA18). The finding points at the key."""
    model = subject.model
    in_header = {text_in(item, "uri"): text_in(item, "sha256") for item in model.catalog_items}
    for item in model.ops_items("attachments"):
        entry, digest = item.entry("sha256"), text_in(item, "sha256")
        if entry is None or digest is None:
            continue
        known = in_header.get(text_in(item, "uri"))
        counts = "; the header's is used" if known and known.lower() != digest.lower() else ""
        message = f"the hash of an attachment belongs into the header's `attachments`{counts}"
        yield Finding(message, entry.key.span)


@RULES.document("YM062", "attachment-only-in-footer", Severity.HINT, strict=Severity.WARNING)
def attachment_only_in_footer(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find an attachment that the header's catalog does not list (Y14). The finding points at its `uri`."""
    model = subject.model
    for attachment in model.attachments:
        if attachment.source == "json" and attachment.uri is not None:
            message = f"`{shown(attachment.uri)}` is not among the header's `attachments`"
            yield Finding(message, attachment.span)


@RULES.document("YM063", "duplicate-attachment", Severity.WARNING)
def duplicate_attachment(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find one `uri` twice in one list; the first counts (Y14). The finding points at the second and every further
    one."""
    model = subject.model
    yield from _repeated(model.catalog_items)
    yield from _repeated(model.ops_items("attachments"))


def _repeated(items: tuple[Mapping, ...]) -> Iterator[Finding]:
    seen: dict[str, Span] = {}
    for item in items:
        uri, entry = text_in(item, "uri"), item.entry("uri")
        if uri is None or entry is None:
            continue
        first = seen.setdefault(uri, entry.value.span)
        if first is not entry.value.span:
            there = (Annotation(first, "listed first here"),)
            message = f"`{shown(uri)}` is listed twice; the first counts"
            yield Finding(message, entry.value.span, annotations=there)


MAX_ATTACHMENTS = 1_000
"""Maximum number of attachments that are looked up on the disk."""


def local_attachments(subject: Subject[YmjModel]) -> Iterator[tuple[Attachment, Path]]:
    """Each with the path it means; none where the record itself has no file."""
    model = subject.model
    if not model.attachments or subject.files is None or subject.path is None:
        return
    folder = subject.path.parent
    for attachment in islice(model.attachments, MAX_ATTACHMENTS):
        path = local_path(attachment.uri, folder) if attachment.uri is not None else None
        if path is not None:
            yield attachment, path


@RULES.document("YM065", "missing-attachment", Severity.WARNING)
def missing_attachment(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find an attached file that does not exist (Y14). The finding points at its `uri`; files outside the root
    are not checked."""
    files = subject.files
    for attachment, path in local_attachments(subject):
        if files is not None and files.inside_root(path) and not is_there(files, path, attachment.uri or ""):
            message = f"the attached file `{shown(attachment.uri or '')}` does not exist"
            yield Finding(message, attachment.span, ("a relative path starts at the folder of the record",))


MAX_ATTACHMENT_BYTES = 256 * 1024 * 1024
"""Larger files are not hashed in a check: a second of work each."""


@RULES.document("YM064", "attachment-hash-mismatch", Severity.ERROR)
def attachment_hash_mismatch(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find an attached file whose hash differs from that in the record (Y19). The finding points at the hash."""
    for attachment, outcome in _hashed(subject):
        if (
            isinstance(outcome, str)
            and attachment.sha256
            and attachment.sha256_span
            and outcome != attachment.sha256.lower()
        ):
            message = f"the attached file `{shown(attachment.uri or '')}` has another hash"
            yield Finding(message, attachment.sha256_span, (f"its bytes have {outcome}",))


def _hashed(subject: Subject[YmjModel]) -> Iterator[tuple[Attachment, str | FileProblem]]:
    """Yield the attached files with a hash in the record, each with the hash of its bytes or the reason why there is
    none."""
    files = subject.files
    for attachment, path in local_attachments(subject):
        if (
            files is None
            or attachment.sha256 is None
            or not is_sha256(attachment.sha256)
            or attachment.sha256_span is None
        ):
            continue
        try:
            yield attachment, files.digest(path, MAX_ATTACHMENT_BYTES)
        except FileProblem as problem:
            yield attachment, problem


@RULES.document("YM066", "unverified-attachment", Severity.INFO)
def unverified_attachment(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find an attached file whose hash could not be compared (Y19). The finding points at its `uri`. Another rule
    reports missing files."""
    for attachment, outcome in _hashed(subject):
        if isinstance(outcome, FileProblem) and outcome.kind != "missing":
            message = f"the attachment `{shown(attachment.uri or '')}` was not verified: it {outcome.reason}"
            yield Finding(message, attachment.span)
