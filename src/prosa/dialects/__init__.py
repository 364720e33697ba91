"""The formats that give a document meaning, one folder each, one table of them all."""

from __future__ import annotations

from typing import Literal, TypeAlias

DialectName: TypeAlias = Literal[
    "magi", "mda", "markdownlang", "ymj", "mdh", "prapti", "skill_md", "context", "test", "evals", "plain"
]
