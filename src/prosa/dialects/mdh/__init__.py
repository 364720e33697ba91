"""MDH: the documents of a site that agents read by plain HTTP and whose actions they call.

`read` returns the model of one node, `as_dialect.write` a new node as text; existing ones change through edits.
Nothing opens a file or sends a request. Nothing is loaded here: links of all dialects are resolved with `url` alone.
"""
