"""The queries of an editor while documents are written: each is a function of an open `Workspace`.

A query takes the workspace (`app.check.workspace`), a real path and an offset in characters into its text, saved or
not. The answer is in characters and real paths too (`place`); it is empty if nothing is found.
``workspace.source(path)`` is the text, ``workspace.reading(path)`` its reading, cached until the text changes;
``workspace.resident`` is None while the corpus is still being read, and answers then only use the document itself.
"""
