"""Checking documents: the use case that the command line and `prosa.check` call.

In: paths, options and ports. Out: diagnostics, and texts with fixes applied. Nothing here parses arguments or prints.
"""
