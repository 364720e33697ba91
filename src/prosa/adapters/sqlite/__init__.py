"""The index of a corpus: one SQLite file, a cache of documents and nothing else."""

from prosa.adapters.sqlite.index import Index

__all__ = ["Index"]
