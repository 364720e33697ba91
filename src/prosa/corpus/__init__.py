"""The corpus as values: the data that the index stores about a document, the queries, and the results. Pure."""
