"""A new record as text, in Strict form (Y25): canonical fences, `doc_summary` second and on one line, LF, no mirrors,
the hash of the body; also from a profile, for `prosa new` (Y30): such a record passes a strict check and explains what
to fill in. Existing records only change by span edits (`format`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date

from prosa.data import Plain
from prosa.dialects.ymj.edits import quoted, yaml_string
from prosa.dialects.ymj.fields import LATEST
from prosa.dialects.ymj.format import MIRRORS
from prosa.dialects.ymj.profiles import Profile
from prosa.dialects.ymj.sections import CANONICAL_CLOSE, CANONICAL_OPEN, MAX_SUMMARY, normalised, sha256_of

_REQUIRED = ("doc_summary", "kind", "version", "subject", "maintained_by")


class Unwritable(ValueError):
    """Data that no record in Strict form can hold; the message says why."""


def write(header: Mapping[str, Plain], body: str, footer: Mapping[str, Plain]) -> str:
    """Return the record. ``header`` and ``footer`` are plain data; `payload_hash` is computed, mirrors are left out.

    Raises `Unwritable` when a required field is missing, or the summary does not fit on one line.
    """
    missing = [name for name in _REQUIRED if not str(header.get(name) or "").strip()]
    if missing:
        raise Unwritable(f"the header lacks {', '.join(missing)}")
    summary = str(header["doc_summary"])
    if len(summary) > MAX_SUMMARY or not summary.isprintable():
        raise Unwritable(f"doc_summary must be one line of at most {MAX_SUMMARY} characters")
    text = normalised(body)
    text = text if text.endswith("\n") or not text else text + "\n"
    ordered = {"doc_summary": summary, **{key: value for key, value in header.items() if key != "doc_summary"}}
    lines = ["---", *_mapping(ordered, ""), "---"]
    rest = f"{text}{CANONICAL_OPEN}\n{_json(_footer(footer, text))}\n{CANONICAL_CLOSE}\n"
    return "\n".join(lines) + "\n" + rest


def _footer(footer: Mapping[str, Plain], body: str) -> dict[str, Plain]:
    index = footer.get("index", {})
    if not isinstance(index, Mapping):
        raise Unwritable("`index` of the footer must be a mapping")
    index = {key: value for key, value in index.items() if key not in MIRRORS}
    kept = {key: value for key, value in footer.items() if key not in ("schema", "payload_hash", "index")}
    return {"schema": footer.get("schema", "1"), "payload_hash": sha256_of(body), "index": index, **kept}


def _json(footer: Mapping[str, Plain]) -> str:
    return json.dumps(footer, ensure_ascii=False, indent=2, allow_nan=False)


def _mapping(value: Mapping[str, Plain], indent: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _entry(f"{indent}{yaml_string(key)}:", item, indent)


def _entry(key: str, item: Plain, indent: str) -> Iterator[str]:
    """Yield one entry of a mapping: on its line, or with its items on lines of their own."""
    if isinstance(item, Mapping) and item:
        yield key
        yield from _mapping(item, indent + "  ")
    elif isinstance(item, list) and item:
        yield key
        for subitem in item:
            yield from _item(subitem, indent + "  ")
    else:
        yield f"{key} {_scalar(item)}"


def _item(item: Plain, indent: str) -> Iterator[str]:
    """Yield one item of a list; a mapping begins on the line of its hyphen."""
    if isinstance(item, Mapping) and item:
        first, *rest = _mapping(item, indent + "  ")
        yield f"{indent}- {first.lstrip()}"
        yield from rest
    elif isinstance(item, list) and item:
        yield f"{indent}- {_json_line(item)}"
    else:
        yield f"{indent}- {_scalar(item)}"


def _scalar(item: Plain) -> str:
    if isinstance(item, str):
        return yaml_string(item) if "\n" not in item else quoted(item)
    return _json_line(item)


def _json_line(item: Plain) -> str:
    """Numbers, true, false, null and empty collections are the same in JSON and YAML."""
    return json.dumps(item, ensure_ascii=False)


SUBJECT = "Subject of the record"
OWNER = "Person or team"


def new_record(
    profile: Profile, today: date, *, subject: str | None = None, owner: str | None = None, summary: str | None = None
) -> str:
    """Return the text. Raises `Unwritable` for a summary that no catalog line can hold."""
    subject = subject or SUBJECT
    header: dict[str, Plain] = {
        "doc_summary": summary or profile.summary,
        "kind": profile.kind,
        "version": "1.0.0" if profile.name == "api" else "0.1.0",
        "subject": subject,
        "maintained_by": owner or OWNER,
        "ymj_spec": LATEST,
        "created": today.isoformat(),
        "updated": today.isoformat(),
        **profile.fields,
    }
    footer: dict[str, Plain] = {"schema": "1", "index": {"tags": list(profile.tags)}}
    if profile.directives:
        footer["ops"] = profile.directives
    body = profile.body.replace("{subject}", " ".join(subject.split()))
    return write(header, f"{body}\n", footer)
