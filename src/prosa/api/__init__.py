"""The Python interface, a door like the command line: each module is a chapter of it, and loads what it needs.

`documents.py` loads and checks; `run.py`, `scripts.py`, `chat.py` run, on the values that `arguments.py` makes of what
a caller gives; `corpus.py` is `prosa.Corpus`, `mdh.py` and `testing.py` are the modules of these names in `prosa`.
The public names stand in `prosa/__init__.py`.
"""
