"""One document: read it, run the rules of its dialect that need no other document, and note what others may ask.

In: a source, and what the user said about its dialect. Out: an `Analysis`. Which rules the user wants is not asked
here, so that an analysis serves every selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from prosa.diagnostics import Problem
from prosa.dialects.detect import Hints
from prosa.dialects.dialect import DialectName
from prosa.dialects.reading import DialectReading, open_document
from prosa.dialects.table import MARKDOWNLANG
from prosa.rules.analysis import Analysis
from prosa.rules.links import anchors, local_links, wikilinks
from prosa.rules.recording import RecordingFiles
from prosa.rules.subject import DocumentCheck, Facts, Outside, Subject
from prosa.rules.suppress import find_suppressions
from prosa.rules.table import RULES
from prosa.source import Files, SourceText

if TYPE_CHECKING:
    from prosa.dialects.markdownlang import ProgramModel


def analyse(source: SourceText, hints: Hints, files: Files | None = None, now: datetime | None = None) -> Analysis:
    """The analysis of a document. Never fails for what the text says."""
    reading = open_document(source, hints)
    front = reading.front
    recording = RecordingFiles(files) if files is not None else None
    outside = Outside(recording, now)
    subject = Subject(front, reading.document, reading.name, reading.model, outside)
    program = reading.model_of(MARKDOWNLANG)
    problems = (*front.problems, *reading.problems, *_ruled(subject), *_alone(reading, program))
    record = recording.record if recording else {}
    if outside.asked_place:
        record[source.path] = source.digest or "unknown"
    return Analysis(
        digest=source.digest,
        facts=_facts(reading),
        problems=problems,
        suppressions=find_suppressions(front, reading.document),
        strict=reading.strictness(),
        depends=record,
        lasting=not outside.asked_time,
        imports=program is not None and bool(program.imports),
        source=source,
        reading=reading,
    )


def _alone(reading: DialectReading[object], program: ProgramModel | None) -> tuple[Problem, ...]:
    """The rules of programs, for one that imports nothing."""
    if program is None or program.imports:
        return ()
    from prosa.rules.programs import check_alone

    return check_alone(reading)


_LINKS_ONLY = ("plain", "skill_md")
"""Dialects whose only references are links, which every document's facts have."""


def _ruled(subject: Subject) -> Iterator[Problem]:
    for check in _checks(subject.dialect):
        yield from check(subject)


@cache
def _checks(name: DialectName) -> tuple[DocumentCheck, ...]:
    """The rules of one document that hold in this dialect, loaded once. Those of programs look at their imports too
    and are run by `rules.programs`."""
    return tuple(
        import_module(rule.module).check
        for rule in RULES
        if rule.module is not None
        and rule.scope != "corpus"
        and (not rule.dialects or (name in rule.dialects and name != "markdownlang"))
    )


def _facts(reading: DialectReading[object]) -> Facts:
    document = reading.document
    return Facts(
        path=reading.front.source.path,
        dialect=reading.name,
        refs=() if reading.name in _LINKS_ONLY else reading.references(),
        defs=reading.definitions(),
        anchors=anchors(document),
        links=local_links(document),
        wikilinks=wikilinks(document),
        extra=reading.corpus_facts(),
    )
