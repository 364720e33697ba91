"""markdownlang: programs in Markdown with YAML front matter.

`model` is what a program is, `read` gives it, `names` are the names of its tools. Only the model is loaded here.
"""

from prosa.dialects.markdownlang.model import ImportRef, LimitsModel, ProgramModel, SchemaModel, ServerModel

__all__ = ["ImportRef", "LimitsModel", "ProgramModel", "SchemaModel", "ServerModel"]
