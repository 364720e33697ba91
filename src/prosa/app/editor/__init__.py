"""What an editor asks of documents while somebody writes them: each question is a function of an open `Workspace`.

A question takes the workspace (`app.check.workspace`), a real path and an offset in characters into the text as it
stands there, unsaved text included. The answer is in characters and real paths too (`place`); what is missing is an
empty answer. ``workspace.source(path)`` is the text, ``workspace.reading(path)`` its reading, kept until the text
changes; ``workspace.resident`` is None while the corpus is still being read, and an answer then is what the document
itself tells.
"""
