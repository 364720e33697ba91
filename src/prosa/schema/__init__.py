"""JSON Schema 2020-12: validation offline, defaults, what goes over the wire, arguments, places. Pure."""

from prosa.schema.arguments import typed_arguments
from prosa.schema.defaults import fill_defaults
from prosa.schema.errors import ArgumentProblem, SchemaError
from prosa.schema.fields import InputField, describe_inputs
from prosa.schema.lower import Lowered, lower, unwrap
from prosa.schema.shape import check_schema_shape
from prosa.schema.validate import Schema, SchemaProblem

__all__ = [
    "ArgumentProblem",
    "InputField",
    "Lowered",
    "Schema",
    "SchemaError",
    "SchemaProblem",
    "check_schema_shape",
    "describe_inputs",
    "fill_defaults",
    "lower",
    "typed_arguments",
    "unwrap",
]
