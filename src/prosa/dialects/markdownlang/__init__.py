"""markdownlang: programs in Markdown with YAML front matter.

`model` defines a program, `read` parses it, `names` makes the names of its tools. Only the model is loaded here.
"""

from prosa.dialects.markdownlang.model import ImportRef, LimitsModel, ProgramModel, SchemaModel, ServerModel

__all__ = ["ImportRef", "LimitsModel", "ProgramModel", "SchemaModel", "ServerModel"]
