"""Versions, mirrored fields and profiles of a record."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.data import Entry, Scalar
from prosa.diagnostics import Applicability, Fix, Severity
from prosa.dialects.fields import shown
from prosa.dialects.ymj.fields import KNOWN, LATEST, is_known
from prosa.dialects.ymj.format import mirror_edits, mirrors
from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.profiles import lacking, profile_of
from prosa.rules.rule import Finding
from prosa.rules.subject import Subject
from prosa.rules.ymj import RULES


@RULES.document("YM020", "unknown-spec-version", Severity.WARNING)
def unknown_spec_version(subject: Subject[YmjModel]) -> Iterator[Finding]:
    """Find a `ymj_spec` that names a version that does not exist; the record is read permissively (Y28). The finding
    points at the version."""
    model = subject.model
    entry, text = model.fields.get("ymj_spec"), model.text("ymj_spec")
    if entry is None or text is None or is_known(text):
        return
    message = f"`{shown(text)}` is no known version of YMJ; the record is read permissively as {LATEST}"
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
    for each in mirrors(model):
        name = each.entry.key.text
        applicability = Applicability.SAFE if each.equal else Applicability.UNSAFE
        fix = Fix(f"remove `index.{name}`", mirror_edits(model, [name]), applicability)
        other = "" if each.equal else ", and says something else"
        message = f"`index.{name}` repeats `{each.field}` of the header{other}; it is ignored"
        yield Finding(message, each.entry.key.span, fix=fix)


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
