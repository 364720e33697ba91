"""JSON Schema 2020-12: validation offline, defaults, what goes over the wire, arguments, places. Pure."""

from prosa.schema.inputs import ArgumentProblem, Defaults, InputField, describe_inputs, fill_defaults, typed_arguments
from prosa.schema.lower import Lowered, lower, unwrap
from prosa.schema.validate import Schema, SchemaError, SchemaProblem, check_schema_shape

__all__ = [
    "ArgumentProblem",
    "Defaults",
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
