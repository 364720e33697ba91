"""Use cases: what people can do with Prosa, one folder each, one typed function that every door calls.

In: values that a door filled (`options.py`), ports, a listener. Out: a value. This is the only layer that builds
adapters. Trust and endpoints come from the user alone (X7): flags, environment, user-level settings, never from
a document.
"""
