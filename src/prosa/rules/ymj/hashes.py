"""Hashes, signatures and secrets of a record."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.data import Entry, Mapping, Node, Scalar, Sequence
from prosa.diagnostics import Annotation, Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.edits import replaced
from prosa.dialects.ymj.fields import is_sha256
from prosa.dialects.ymj.format import hash_edits, header_hash, header_hash_edits, payload_hash
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.sections import EMPTY_SHA256
from prosa.regex import regex
from prosa.rules.rule import Finding, Subject
from prosa.rules.ymj import RULES


@RULES.document("YM030", "missing-payload-hash", Severity.WARNING, strict=Severity.ERROR)
def missing_payload_hash(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a footer without the hash of the body (Y10, YA2). The finding points at the footer, or at the empty
    field."""
    model = subject.model
    stored = payload_hash(model)
    if model.footer is None or not model.footer.sound or stored.state != "absent":
        return
    edits = hash_edits(model)
    fix = Fix("write the hash of the body", edits) if edits else None
    span = stored.entry.key.span if stored.entry else model.footer.place.open
    message = "the footer has no `payload_hash`, so changes of the body cannot be detected"
    yield Finding(message, span, fix=fix)


@RULES.document("YM031", "payload-hash-mismatch", Severity.ERROR)
def payload_hash_mismatch(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a stored hash that is not that of the body (Y10, Y18, YA3). The finding points at the hash of the footer,
    or at that of the header where the footer has none. There is no fix: the body was changed, and only the author
    knows whether intentionally."""
    model = subject.model
    stored = payload_hash(model)
    if stored.state not in ("differs", "matches", "legacy"):
        stored = header_hash(model)
    if stored.state != "differs" or stored.entry is None:
        return
    notes = [f"the body has {model.body_sha256}", "if the body is right: prosa fmt --rehash"]
    if stored.text == EMPTY_SHA256:
        notes.insert(0, "this is the hash of an empty text")
    message = f"`{stored.name}` is not the hash of this body"
    yield Finding(message, stored.entry.value.span, tuple(notes))


@RULES.document("YM032", "legacy-hash", Severity.HINT, strict=Severity.ERROR)
def legacy_hash(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a hash that another tool computed from the trimmed body (YA3, YW1). The finding points at the hash. The fix
    writes the hash of the specification, which that other tool would reject, so the fix is unsafe."""
    model = subject.model
    for stored in (payload_hash(model), header_hash(model)):
        if stored.state != "legacy" or stored.entry is None:
            continue
        message = f"`{stored.name}` was computed from the trimmed body; the body is hashed as it is"
        fix = None
        if stored.name == "payload_hash":
            edits = (replaced(stored.entry, model.body_sha256),)
            fix = Fix("write the hash of the whole body", edits, Applicability.UNSAFE)
        yield Finding(message, stored.entry.value.span, fix=fix)


@RULES.document("YM033", "conflicting-hashes", Severity.ERROR)
def conflicting_hashes(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find different hashes of one body in header and footer (YA4). The finding points at the hash of the header, which
    is the deprecated one."""
    model = subject.model
    old, new = header_hash(model), payload_hash(model)
    if old.entry is None or new.entry is None or old.text == new.text:
        return
    if is_sha256(old.text) and is_sha256(new.text):
        message = "`payload_sha256` of the header and `payload_hash` of the footer differ"
        there = (Annotation(new.entry.value.span, "the footer's hash"),)
        yield Finding(message, old.entry.value.span, annotations=there)


@RULES.document("YM034", "placeholder-hash", Severity.WARNING, strict=Severity.ERROR)
def placeholder_hash(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find values in place of a SHA-256 that are none (YA18). The findings point at each of them: hashes of the body,
    of attachments, of the previous chunk."""
    model = subject.model
    for entry in _hashes(model):
        value = entry.value
        if isinstance(value, Scalar) and value.text.strip() and not is_sha256(value.text.strip()):
            message = f"`{shown(value.text)}` is not a SHA-256: 64 hexadecimal digits"
            yield Finding(message, value.span)


def _hashes(model: YmjModel) -> Iterator[Entry]:
    for hash_entry in (model.fields.get("payload_sha256"), model.entries.get("payload_hash")):
        if hash_entry is not None:
            yield hash_entry
    chunking = model.ops_map("chunking")
    holders: tuple[tuple[Mapping, str], ...] = (
        *((item, "sha256") for item in (*model.catalog_items, *model.ops_items("attachments"))),
        *(((chunking, "prev_sha256"),) if chunking is not None else ()),
    )
    for mapping, name in holders:
        entry = mapping.entry(name)
        if entry is not None:
            yield entry


@RULES.document("YM035", "payload-hash-in-header", Severity.WARNING)
def payload_hash_in_header(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find the deprecated `payload_sha256`, which has moved to the footer (Y8, YW6). The finding points at the key; the
    fix moves a hash that is right, never one that is not."""
    model = subject.model
    entry = header_hash(model).entry
    if entry is None:
        return
    moved = header_hash_edits(model)
    fix = Fix("move it to the footer", (*moved, *hash_edits(model))) if moved else None
    message = "`payload_sha256` is deprecated; the hash of the body is `payload_hash` of the footer"
    yield Finding(message, entry.key.span, fix=fix)


@RULES.document("YM036", "unverified-signature", Severity.INFO)
def unverified_signature(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a signature that was not verified, for lack of a key (YA23). The finding points at the signature."""
    model = subject.model
    entry = model.ops.get("data_signature")
    if entry is not None:
        message = "the signature of the record was not verified: no key was given"
        note = "it signs the text of `payload_hash`; do not rely on it before it is verified"
        yield Finding(message, entry.key.span, (note,))


_PLACES = ("encryption", "signature", "data_signature")
_SECRETS = regex(
    r"(?:.*_)?(?:secret|password|passphrase|private_key|secret_key|api_key|token)", re.IGNORECASE | re.DOTALL
)
_REFERENCE = regex(r"[A-Za-z][\w+.-]*:.*|[\w.@-]*[/#][\w./#@-]*|\$\{?\w+\}?", re.DOTALL)
_LONG = regex(r"[A-Za-z0-9+/=_-]{32,}")
_PEM = "-----BEGIN"


@RULES.document("YM037", "secret-in-footer", Severity.ERROR)
def secret_in_footer(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a secret below `ops.encryption`, `ops.signature` or `ops.data_signature` (Y20). The findings point at each
    value that is a secret by its name or its form. A reference such as `kms://keys/7` is not."""
    model = subject.model
    for name in _PLACES:
        entry = model.ops.get(name)
        for key, value in _texts(entry.value) if entry is not None else ():
            if _is_secret(key, value.text):
                message = f"`{key}` looks like a secret; a record holds references to keys only"
                note = "anyone who could read this file knows it: replace it at its source"
                yield Finding(message, value.span, (note,))


def _is_secret(key: str, text: str) -> bool:
    """By its name and not a reference, a long `key`, or the text of a key in PEM."""
    if _PEM in text:
        return True
    named = _SECRETS.fullmatch(key) is not None and _REFERENCE.fullmatch(text) is None
    return named or (key.lower() == "key" and _LONG.fullmatch(text) is not None)


def _texts(node: Node, name: str = "") -> Iterator[tuple[str, Scalar]]:
    """Every string below a node with the key it stands under; readers bound the depth."""
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            yield name, node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _texts(item, name)
    elif isinstance(node, Mapping):
        for entry in node:
            yield from _texts(entry.value, entry.key.text)
