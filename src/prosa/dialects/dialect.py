"""What a dialect is to the rest of the house: a name, how it is recognised, and where its reader lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

DialectName: TypeAlias = Literal["magi", "markdownlang", "ymj", "mdh", "prapti", "skill_md", "plain"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One of the formats that give a document meaning.

    ``module`` is the package under `prosa.dialects` with its reader, or None while Prosa cannot read it yet; such
    documents are still read and checked as Markdown with front matter. ``suffixes`` and ``file_names`` decide by name
    (X3); comparison ignores case.
    """

    name: DialectName
    title: str
    module: str | None = None
    suffixes: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether a document of this dialect can be read as such."""
        return self.module is not None or self.name == "plain"
