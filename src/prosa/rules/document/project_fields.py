"""What a project demands of front matter: fields that name other documents, and JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Severity
from prosa.rules.document import RULES
from prosa.rules.rule import Finding
from prosa.rules.subject import Corpus, Facts


@RULES.one_of_many("MD027", "unresolved-relation", Severity.WARNING)
def unresolved_relation(corpus: Corpus, path: Path, facts: Facts) -> Iterator[Finding]:
    """Find a field of front matter that names other documents, as `[relations]` of the project says, and matches none
    or several. The finding points at the value. A missing document is only reported if all documents below the root
    are known."""
    if corpus.relations:
        from prosa.rules.front_demands import unresolved_relations

        yield from unresolved_relations(corpus, path, facts)


@RULES.one_of_many("MD028", "schema-mismatch", Severity.ERROR)
def schema_mismatch(corpus: Corpus, path: Path, facts: Facts) -> Iterator[Finding]:
    """Find front matter that does not satisfy the JSON Schema which the project gives it (`[schemas]`). The finding
    points at the value, at the name of an undescribed field, or, for a missing field, at the opening fence. A schema
    that cannot be read is reported with the settings."""
    if corpus.schemas is not None:
        from prosa.rules.front_demands import schema_mismatches

        yield from schema_mismatches(corpus, path, facts)
