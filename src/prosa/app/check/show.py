"""The parsed content of documents for all doors: with the findings of a check, inherited fields and the URL on a site.

In: groups of documents, options, the environment. Out: a `ShownDocument` for each, and the files that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.check.check import Checker, CheckOptions
from prosa.app.check.gather import Group
from prosa.data import Value
from prosa.diagnostics import Diagnostic
from prosa.dialects.reading import failed_reading
from prosa.dialects.table import YMJ
from prosa.rules.engine import Checked, CheckedDocument
from prosa.rules.policy import Policy, diagnosed
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.dialects.magi.meta import Inherited
    from prosa.dialects.skill_md.scripts import Reach
    from prosa.dialects.ymj.payload import Extracted
    from prosa.rules.rule import Corpus, DocumentFacts


class ShownDocument(Struct, frozen=True):
    """A document that was read; ``diagnostics`` are its own, ``inherited`` are fields from meta files (X33),
    ``md_url`` the URL of an MDH node that belongs to a site (HA2), ``reaches`` what the scripts of a skill reach."""

    document: CheckedDocument
    diagnostics: tuple[Diagnostic, ...]
    inherited: Mapping[str, Inherited[Value]]
    md_url: str | None = None
    reaches: tuple[Reach, ...] | None = None

    @property
    def path(self) -> str:
        """How the document was named."""
        return self.document.front.source.path


class ShownDocuments(Struct, frozen=True):
    """The documents that can be read, in the order they were named, and why the others cannot."""

    documents: tuple[ShownDocument, ...]
    unread: tuple[FileProblem, ...]


def show_groups(groups: Sequence[Group], options: CheckOptions, environ: Mapping[str, str]) -> ShownDocuments:
    """Read and check every document. Raises `UnknownName` for a dialect that does not exist."""
    unread = tuple(problem for group in groups for problem in _unreadable(group))
    checker = Checker.of(options, environ)
    return ShownDocuments(
        tuple(document for group in groups for document in _shown(checker.check(group, keep=True))), unread
    )


def payload_of(shown: ShownDocument, selector: str | None, *, fallback_body: bool = False) -> Extracted | None:
    """Return the payload of a YMJ record, decoded, or why there is none; None for any other document. ``selector``
    replaces the record's own."""
    from prosa.dialects.ymj.payload import payload_bytes

    model = shown.document.reading.model_of(YMJ)
    return payload_bytes(model, selector, fallback_body=fallback_body) if model is not None else None


def _unreadable(group: Group) -> Iterator[FileProblem]:
    """Yield the unreadable documents of a group; the others are still shown."""
    for path in group.paths:
        try:
            group.files.read(path)
        except FileProblem as problem:
            yield problem


def _shown(checked: Checked) -> Iterator[ShownDocument]:
    for document in checked.documents:
        source = document.front.source
        try:
            document.reading.facts()
            inherited = _inherited(document, checked)
            yield ShownDocument(document, checked.of(source), inherited, _md_url(document, checked), _reaches(document))
        except Exception as error:
            reading = failed_reading(source, error)
            diagnostics = diagnosed(reading.problems, reading.front.source, Policy())
            yield ShownDocument(replace(document, reading=reading), (*checked.of(source), *diagnostics), {})


def _inherited(document: CheckedDocument, checked: Checked) -> Mapping[str, Inherited[Value]]:
    """Return the fields that a document inherits from meta files of its project."""
    if checked.corpus is None or not any("globs" in facts.extra for facts in _known(checked.corpus)):
        return {}
    from prosa.rules.meta_files import inherited_in

    return inherited_in(checked.corpus, document.real, document.reading)


def _known(corpus: Corpus) -> Iterator[DocumentFacts]:
    yield from corpus.entries.values()
    yield from corpus.metas.values()


def _md_url(document: CheckedDocument, checked: Checked) -> str | None:
    if document.dialect != "mdh" or checked.corpus is None:
        return None
    from prosa.rules.mdh.site import md_urls

    return md_urls(checked.corpus).get(document.real)


def _reaches(document: CheckedDocument) -> tuple[Reach, ...] | None:
    """Return what the scripts in the folder of a skill reach, by file and line; None for what is no skill of files.
    Nothing is executed, and no link out of the folder is followed (X5, X38)."""
    if document.dialect != "skill_md" or document.real.name.lower() != "skill.md" or not document.real.is_file():
        return None
    from prosa.adapters.files.skill_files import heads, skill_files
    from prosa.dialects.skill_md.scripts import MAX_SCRIPT, reaches

    folder = document.real.parent
    return tuple(
        reach for path, text in heads(folder, skill_files(folder), MAX_SCRIPT) for reach in reaches(path, text)
    )
