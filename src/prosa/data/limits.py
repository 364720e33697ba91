"""Every limit of the data readers, in one place, each with its reason. Nothing else lives here."""

from __future__ import annotations

MAX_DEPTH = 64
"""Mappings and sequences inside one another (X9). Deep enough for any schema; shallow enough for any recursion."""

MAX_ALIAS_NODES = 10_000
"""Nodes of a YAML document after its aliases are expanded (X1); beyond that it is an ``alias-bomb``."""

MAX_ALIAS_CHARACTERS = 1_048_576
"""Characters that aliases may add: ten thousand aliases of one long string are a bomb too."""

MAX_INTEGER_DIGITS = 4_300
"""Digits of an integer: more cannot be turned back into text by Python in its standard configuration."""

MAX_FRONT_MATTER_BYTES = 262_144
"""UTF-8 bytes between the fences of front matter (X9: 256 KiB)."""

MAX_PROBLEMS = 100
"""Problems that one reading lists; a file with more is not read for its hundred-and-first."""

MAX_SHOWN = 40
"""Characters of the author's text quoted in a message."""

MAX_CELL = 10 * 1024 * 1024
"""Characters of a cell of CSV. The limit of the module `csv` is that of the process, so all readers set this one."""
