"""Resolving: the one place where a reference becomes a way to a document, whatever its dialect (X21).

In: a reference of a record, the sites of the corpus, and names. Out: a `Resolution`.
"""

from __future__ import annotations

from prosa.graph.keys import tiers
from prosa.graph.names import Document, Names
from prosa.graph.record import Record, Reference
from prosa.graph.settle import Resolution, settle
from prosa.graph.sites import Sites

__all__ = ["Resolution", "resolve", "settle"]


def resolve(record: Record, reference: Reference, sites: Sites, names: Names[Document]) -> Resolution[Document]:
    """Where a reference of ``record`` leads."""
    return settle(record, reference, tiers(record, reference, sites), names)
