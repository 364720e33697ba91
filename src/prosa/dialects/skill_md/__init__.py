"""Agent Skills: a folder whose `SKILL.md` tells an agent what it can do and when to do it.

`as_dialect.py` has the dialect; a run of a program needs none of it but how a request is filled in, which stands by
itself.
"""
