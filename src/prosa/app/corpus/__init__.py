"""Use case: a corpus of documents with its index: open it, search it, rename in it, enrich it."""
