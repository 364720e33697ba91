"""Every limit of this folder, each with its reason."""

from __future__ import annotations

MAX_SCHEMA_DEPTH = 64
"""Levels of a schema; what the readers of data allow, and far below what the validator's stack takes."""

MAX_INSTANCE_DEPTH = 128
"""Levels of a value to validate. The validator recurses: some thousand levels would end the process."""

MAX_EVALUATION_PATHS = 100_000
"""Ways to go through ``allOf``, ``$ref`` and the like at one place of the value; chains of pairs double them."""

BACKTRACK_LIMIT = 100_000
"""Steps of a pattern with look-around or back-references on one text (X20), some milliseconds."""

MAX_PROBLEMS = 100
"""Problems listed for one value: more are not read, and a list of a million wrong items has a million."""

MAX_SHOWN = 60
"""Characters of a value quoted in a message."""

MAX_ALTERNATIVES = 4
"""Alternatives of ``anyOf`` and ``oneOf`` that a message goes through, and names that it lists times two."""

MAX_DEFAULTS = 1_000
"""Defaults filled into one value: defaults inside defaults of a recursive schema have no end."""

MAX_UNKNOWN_KEYWORDS = 200
"""Unknown keywords of one schema that are compared with the known ones; each comparison is slow."""

MAX_FIELDS = 1_000
"""Inputs described for one program."""

# What OpenAI's strict mode accepts, as documented for structured outputs.
STRICT_MAX_LEVELS = 10
STRICT_MAX_PROPERTIES = 5_000
STRICT_MAX_ENUM_VALUES = 1_000
STRICT_MAX_NAME_CHARACTERS = 120_000
