"""Agent Skills: a folder whose `SKILL.md` tells an agent what it can do and when to do it.

`as_dialect.py` has the dialect; a run of a program only needs `arguments.py`, which is independent of it.
"""
