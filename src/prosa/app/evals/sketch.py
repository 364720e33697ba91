"""A first test document for a program: one case, with an input of the right form (`prosa new test`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.adapters.files import RootedFiles
from prosa.data import Value
from prosa.data.yaml_write import write_yaml
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.dialects.table import MARKDOWNLANG
from prosa.regex import regex
from prosa.schema import describe_inputs
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.dialects.markdownlang.model import ProgramModel
    from prosa.schema import InputField

_PLAIN = regex(r"\.[\w./-]+")
"""A path that YAML takes as it stands."""

_EXAMPLES: dict[str, Value] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}, "null": None}


def sketch(program: Path, folder: Path, *, subject: str | None, named: bool) -> str:
    """Return the text of a test document in ``folder``. ``named`` says that the user named the program. Raises
    `FileProblem` for a program that the user named and that cannot be read; any other may still be written."""
    place = program if named else folder / program
    model = _read(place, needed=named)
    written = Path(os.path.relpath(place, folder)).as_posix() if named else program.as_posix()
    tests = written if written.startswith("../") else f"./{written}"
    title = subject or f"Tests of {model.name if model else program.stem}"
    wanted = _sketched(model.output.value) if model and model.output else {"FIELD": "what it has to be"}
    inputs = _sketched(model.input.value) if model and model.input else {"NAME": "what is put in"}
    return "\n".join(
        (
            "---",
            f"tests: {tests}" if _PLAIN.fullmatch(tests) else write_yaml({"tests": tests}).rstrip("\n"),
            "repeat: 3",
            "---",
            "",
            f"# {title}",
            "",
            "## A usual request",
            "",
            "```yaml input",
            write_yaml(inputs).rstrip("\n"),
            "```",
            "",
            "```yaml expect",
            write_yaml({name: {"absent": False} for name in wanted}).rstrip("\n") if wanted else "{}",
            "```",
            "",
        )
    )


def _read(path: Path, *, needed: bool) -> ProgramModel | None:
    try:
        source = RootedFiles(path.parent, named=(path,)).read(path)
    except FileProblem:
        if needed:
            raise
        return None
    return open_document(source, Hints(forced="markdownlang")).model_of(MARKDOWNLANG)


def _sketched(schema: Value) -> dict[str, Value]:
    """Return a value for each field that is required, and for one at least."""
    fields = describe_inputs(schema)
    chosen = [field for field in fields if field.required] or list(fields[:1])
    return {field.name: _example(field) for field in chosen}


def _example(field: InputField) -> Value:
    if field.enum:
        return field.enum[0]
    if field.default is not None:
        return field.default
    return _EXAMPLES.get(field.type, field.description or f"a {field.name}")
