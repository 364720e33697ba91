"""The types of relationships (M44, M51, MA7). A type as written in, the one that the graph uses out."""

from __future__ import annotations

REL_TYPES = ("citation", "parent", "child", "related", "contradicts", "supports", "extends")
"""The types that the specification recommends."""

ALIASES = {"cites": "citation", "reference": "citation", "references": "citation"}
"""What real documents write for one of them."""


def normal_rel(rel_type: str) -> str:
    """The type for the graph: aliases resolved, everything else as written."""
    return ALIASES.get(rel_type, rel_type)
