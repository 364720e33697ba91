"""The Python interface, a door like the command line: each module is a chapter of it, and loads what it needs.

`documents.py` loads and checks; `run.py`, `scripts.py`, `chat.py` run, with the arguments that `arguments.py`
prepares; `corpus.py` is `prosa.Corpus`, `mdh.py` and `testing.py` are the modules of these names in `prosa`. The
public names are in `prosa/__init__.py`.
"""
