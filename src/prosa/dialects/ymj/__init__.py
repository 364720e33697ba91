"""YMJ: records of three sections, a YAML header, a Markdown body and a JSON footer.

`DIALECT` is its record (`prosa.dialects.dialect`).
"""

from __future__ import annotations

from prosa.dialects.dialect import Dialect
from prosa.dialects.front import read_front
from prosa.dialects.ymj.facts import corpus_facts, definitions, facts, judged, references
from prosa.dialects.ymj.fields import HEADER as FRONT
from prosa.dialects.ymj.format import after_fix as kept_hash
from prosa.dialects.ymj.format import format_edits
from prosa.dialects.ymj.model import Footer, YmjModel
from prosa.dialects.ymj.read import markdown, read
from prosa.document import parse
from prosa.source import Edit, SourceText

__all__ = [
    "DIALECT",
    "FRONT",
    "Footer",
    "YmjModel",
    "after_fix",
    "corpus_facts",
    "definitions",
    "facts",
    "format_edits",
    "judged",
    "markdown",
    "read",
    "references",
    "strictness",
]


def strictness(model: YmjModel) -> bool | None:
    """Return whether the record requests strict reading (YA11)."""
    return model.asks_strict


def after_fix(before: SourceText, after: SourceText) -> tuple[Edit, ...]:
    """Return the edit of ``after`` that keeps a hash true which was true in ``before`` (X22)."""
    return kept_hash(_model(before), _model(after))


def _model(source: SourceText) -> YmjModel:
    front = read_front(source)
    return read(front, parse(source, body=markdown(front)))[0]


DIALECT: Dialect[YmjModel] = Dialect(
    name="ymj",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    front=FRONT,
    markdown=markdown,
    corpus_facts=corpus_facts,
    strictness=strictness,
    format_edits=format_edits,
    after_fix=after_fix,
    judged=judged,
)
