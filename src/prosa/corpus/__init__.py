"""The corpus as values: what the index takes of a document, what can be asked of it, what answers look like. Pure."""
