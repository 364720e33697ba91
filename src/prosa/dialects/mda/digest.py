"""The digest of an MDA document (§08): over its canonical bytes, which leave out digest and signatures themselves."""

from __future__ import annotations

import hashlib

from prosa.data import Value
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.model import MdaModel
from prosa.regex import regex
from prosa.source import Edit

BOUNDARY = b"\n--MDA-FILE-BOUNDARY--\n"
"""Between the files of a document of several (§08-3.4)."""

_LINE_END = regex(r"\r\n?")


def canonical_bytes(fields: dict[str, Value], body: str) -> bytes:
    """Return what is hashed of one file. Raises ValueError for data without a canonical form."""
    kept = {name: value for name, value in fields.items() if name not in ("integrity", "signatures")}
    return b"---\n" + canonical(kept) + b"\n---\n" + normal_body(body).encode()


def normal_body(body: str) -> str:
    """Return a body with LF, without blanks at the ends of lines, and with one line end at its own (§08-3.3)."""
    lines = (line.rstrip(" \t") for line in _LINE_END.sub("\n", body).split("\n"))
    text = "\n".join(lines).rstrip("\n")
    return f"{text}\n" if text else ""


def digest_of(data: bytes, algorithm: str) -> str:
    """Return the digest as it stands in front matter."""
    return f"{algorithm}:{hashlib.new(algorithm, data).hexdigest()}"


def computed(model: MdaModel, sidecar: bytes | None = None) -> str | None:
    """Return the digest that a document should have, by the algorithm that it names; None where it names none, or has
    no canonical form. ``sidecar`` are the canonical bytes of a second file."""
    algorithm = model.integrity("algorithm")
    if algorithm is None or not model.front.complete:
        return None
    source = model.source
    try:
        data = canonical_bytes(model.front.value or {}, source.slice(model.front.body))
        return digest_of(data if sidecar is None else data + BOUNDARY + sidecar, algorithm.text)
    except (ValueError, UnicodeError):
        return None


def is_true(model: MdaModel) -> bool | None:
    """Return whether the digest is that of the document; None without one."""
    stored, actual = model.integrity("digest"), computed(model)
    return stored.text == actual if stored is not None and actual is not None else None


def digest_edits(model: MdaModel) -> tuple[Edit, ...]:
    """Return the edit that writes the digest of the document; none for a document with signatures, which are of the
    digest that it has, or of several files."""
    stored, wanted = model.integrity("digest"), computed(model)
    if stored is None or wanted is None or stored.text == wanted or "signatures" in model.fields:
        return ()
    written = model.source.slice(stored.span)
    if stored.text not in written or model.is_package:
        return ()
    return (Edit(stored.span, written.replace(stored.text, wanted)),)
