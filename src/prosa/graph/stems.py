"""Names of documents in double brackets: stems, titles, aliases (Y21, YA21).

In: a target. Out: the keys to look up, the best first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from prosa.dialects.table import DOCUMENT_SUFFIXES
from prosa.document.references import Origin
from prosa.graph.names import Key, Tier
from prosa.graph.pages import FILE_SUFFIXES, suffix_of
from prosa.graph.record import Record, Reference
from prosa.regex import regex
from prosa.source.files import compared_name

NAMED: frozenset[Origin] = frozenset(("ops.ticket", "ops.trace"))
"""Where a record is named by what people call it: the subject of a ticket, the run of a trace."""

_NAME = regex(r"(?!.*<[^<>]+>)(?:[./]*[^\W\d_]|[./]*\d+[^\d])")
"""The start of a document's name. `[[0]]` is an index, `[[ -f file ]]` a test, `[[:space:]]` a pattern, `[[<name>]]` a
placeholder."""


def stem_tiers(record: Record, reference: Reference) -> Iterator[Tier]:
    """Yield the stem as written, then but for case; outside YMJ also with hyphens for blanks, then as alias, title and
    id."""
    stem = stem_of(reference.target)[1]
    yield from _stems(stem)
    named = reference.origin in NAMED
    if not named and (reference.origin == "ops.graph" or (record.dialect == "ymj" and reference.origin == "wikilink")):
        return
    if " " in stem and not named:
        yield from (Tier(tier.keys) for tier in _stems(stem.replace(" ", "-")))
    name = folded(reference.target)
    yield Tier((Key("alias~", name),))
    yield Tier((Key("title~", name),))
    yield Tier((Key("id", reference.target),))


def _stems(stem: str) -> tuple[Tier, Tier]:
    return Tier((Key("stem", stem),)), Tier((Key("stem~", stem.casefold()),), exact=False)


def is_name(target: str) -> bool:
    """Return whether double brackets may name a document rather than an attachment or nothing."""
    suffix = suffix_of(target)
    return bool(_NAME.match(target)) and (suffix in DOCUMENT_SUFFIXES or suffix not in FILE_SUFFIXES)


def is_attachment(target: str) -> bool:
    """Return whether double brackets name a file that is no document: a picture, a recording, a table."""
    suffix = suffix_of(target)
    return suffix in FILE_SUFFIXES and suffix not in DOCUMENT_SUFFIXES and bool(_NAME.match(target))


def stem_of(target: str) -> tuple[str, str]:
    """Return the folders and the stem that a wikilink names (Y21); a suffix of documents may stand behind it."""
    folder, name = posixpath.split(compared_name(target))
    return folder, posixpath.splitext(name)[0] if name.lower().endswith(DOCUMENT_SUFFIXES) else name


def folded(name: str) -> str:
    """Return a name as it is compared but for case and blanks."""
    return " ".join(name.split()).casefold()
