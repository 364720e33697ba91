"""Go's text/template language: lex, parse, execute, analyse (X11–X14)."""

from prosa.template.analyse import NameUse
from prosa.template.errors import TemplateError
from prosa.template.mask import action_spans
from prosa.template.printing import value_text
from prosa.template.template import Template, template_problems
from prosa.template.undeclared import Undeclared, undeclared

__all__ = [
    "NameUse",
    "Template",
    "TemplateError",
    "Undeclared",
    "action_spans",
    "template_problems",
    "undeclared",
    "value_text",
]
