"""MDA as a dialect: its facts, and what the rules of many documents compare. The facts that `prosa show`
prints have the keys of interface.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from prosa.data import Scalar
from prosa.dialects.dialect import Dialect, FormatOptions
from prosa.dialects.front import read_front
from prosa.dialects.mda.digest import digest_edits, is_true
from prosa.dialects.mda.fields import SOURCE
from prosa.dialects.mda.graph import definitions, references
from prosa.dialects.mda.model import MdaModel
from prosa.dialects.mda.read import QUOTED, quoting, read
from prosa.source import Edit, SourceText, Span

if TYPE_CHECKING:
    from typing import TypeAlias, TypedDict

    from prosa.dialects.facts import MdaFacts

    Pair: TypeAlias = tuple[int, int]

    class CorpusFacts(TypedDict, total=False):
        """What the rules of `depends-on` compare (`corpus_facts`)."""

        name: str
        version: str
        digest: str
        depends: Sequence[tuple[str, str, str, Pair, Pair, Pair]]


NOT_VERIFIED = "not verified"
"""The state of every signature that was read and no more (X42)."""


def facts(model: MdaModel) -> MdaFacts:
    """Return the keys of interface.md."""
    requires, integrity = model.value("requires"), model.value("integrity")
    return {
        "dialect": "mda",
        "name": model.text("name"),
        "version": model.text("version"),
        "requires": requires if isinstance(requires, dict) else {},
        "depends_on": [
            {
                "name": dependency.name,
                "range": dependency.range,
                "digest": dependency.digest or None,
                "line": _line(model, dependency.span.start),
            }
            for dependency in model.dependencies
        ],
        "relationships": [
            {
                "ref": relation.definition.label if relation.definition else None,
                "line": _line(model, relation.node.span.start),
                "data": relation.data,
            }
            for relation in (model.relations or model.listed or ())
        ],
        "integrity": integrity | {"matches": is_true(model)} if isinstance(integrity, dict) else None,
        "signatures": [
            {
                "signer": signature.signer,
                "key_id": signature.key_id,
                "algorithm": signature.algorithm,
                "state": NOT_VERIFIED,
                "line": _line(model, signature.span.start),
            }
            for signature in model.signatures
        ],
    }


def _line(model: MdaModel, offset: int) -> int:
    return model.source.position(offset).line


def corpus_facts(model: MdaModel) -> CorpusFacts:
    """Return what the rules of `depends-on` compare: name, version, digest, and the dependencies with their places."""
    name = model.text("name")
    if name is None:
        return {}
    digest = model.integrity("digest")
    return {
        "name": name,
        "version": model.text("version") or "",
        "digest": digest.text if digest is not None else "",
        "depends": tuple(
            (
                dependency.name,
                dependency.range,
                dependency.digest,
                _ends(dependency.span),
                _ends(dependency.range_span),
                _ends(dependency.digest_span),
            )
            for dependency in model.dependencies
        ),
    }


def format_edits(model: MdaModel, options: FormatOptions) -> tuple[Edit, ...]:
    """Return the edits of the normal form: texts that have to be quoted are quoted, which changes no value and no
    digest; with `--rehash` the digest is that of the document (X22)."""
    values = (model.extended[name].value for name in QUOTED if name in model.extended)
    quoted = (quoting(model.source, value) for value in values if isinstance(value, Scalar))
    rehashed = digest_edits(model) if options.rehash else ()
    return (*(edit for edit in quoted if edit is not None), *rehashed)


def after_fix(before: SourceText, after: SourceText) -> tuple[Edit, ...]:
    """Return the edit that keeps a digest true that was true before a fix (X22)."""
    was, now = (read(front, front.document)[0] for front in (read_front(before), read_front(after)))
    return digest_edits(now) if is_true(was) else ()


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


DIALECT: Dialect[MdaModel] = Dialect(
    name="mda",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=SOURCE,
    corpus_facts=corpus_facts,
    format_edits=format_edits,
    after_fix=after_fix,
)
