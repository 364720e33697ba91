"""The validator check-jsonschema in the process of the tests: of its own process, the imports are nearly all."""

from __future__ import annotations

from check_jsonschema import main
from click.testing import CliRunner


def assert_fits(schema: str, *files: object) -> None:
    """Validate files with a schema that the validator has, or with the one of a path."""
    option = "--builtin-schema" if schema.startswith("vendor.") else "--schemafile"
    result = CliRunner().invoke(main, [option, schema, *map(str, files)])
    assert result.exit_code == 0, result.output
