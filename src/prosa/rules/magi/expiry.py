"""Expired documents (M15, MA20).

The date is in the document or inherited from a meta file (M20); either way the problem is the document's, of any
dialect.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from prosa.diagnostics import Severity
from prosa.dialects.dialect import Hints
from prosa.rules.corpus_names import corpus_names
from prosa.rules.magi import RULES
from prosa.rules.rule import Corpus, DocumentFacts, Finding, Subject
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.dialects.magi import CorpusFacts
    from prosa.dialects.magi.model import MagiModel

_FIELD = "expired-date"
_ADVICE = "update the document and move the date, or retire it"


@RULES.document("MG008", "expired-document", Severity.WARNING)
def expired_document(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find an expired document. The finding points at `expired-date`. It is silent if the time is unknown;
    nothing is ever deleted."""
    model = subject.model
    text, span = model.fields.text(_FIELD), model.fields.span(_FIELD)
    if text and span is not None and (now := subject.now) is not None and _is_over(text, now):
        yield Finding(f"this document expired on {text}", span, (_ADVICE,))


@RULES.part_among(of=expired_document)
def lent_expiry(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a document that inherits an expiry date in the past. The finding points at its beginning."""
    if not corpus_names(corpus).derived(_FIELD, "inherited", lambda: _is_inherited(corpus)):
        return
    now = corpus.clock()
    finding = _expired(corpus, path, facts, now) if now is not None else None
    if finding is not None:
        yield finding


def _is_inherited(corpus: Corpus) -> bool:
    known = (entry for entry in (*corpus.entries.values(), *corpus.metas.values()) if entry.dialect == "magi")
    return any(cast("CorpusFacts", facts.extra)["lends"].get(_FIELD) for facts in known if "lends" in facts.extra)


def _expired(corpus: Corpus, real: Path, facts: DocumentFacts, now: datetime) -> Finding | None:
    from prosa.dialects.reading import open_document  # only here: few projects inherit expiry dates
    from prosa.rules.meta_files import inherited_in

    try:
        reading = open_document(corpus.files.read(Path(facts.path)), Hints(facts.dialect))
    except FileProblem:
        return None
    inherited = inherited_in(corpus, real, reading).get(_FIELD)
    if inherited is None or not isinstance(inherited.value, str) or not _is_over(inherited.value, now):
        return None
    message = f"this document expired on {inherited.value}, according to {inherited.by}"
    return Finding(message, reading.front.anchor, (_ADVICE,))


def _is_over(text: str, now: datetime) -> bool:
    from prosa.dialects.magi.fields import normal_form, read_date

    moment = read_date(normal_form(text) or "")
    return moment is not None and moment.end <= (now if now.tzinfo is not None else now.replace(tzinfo=UTC))
