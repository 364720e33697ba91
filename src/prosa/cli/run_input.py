"""The input of a program from the command line: JSON, a file, standard input, or ``KEY=VALUE`` typed by the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from prosa.cli.console import MAX_STDIN_BYTES, Console
from prosa.cli.parser import WrongUse


def read_input(schema: Mapping[str, Any] | bool, text: str | None, pairs: Sequence[str], console: Console) -> Any:
    """The input value; ``{}`` where nothing was given. Pairs win over ``--input``. Raises `WrongUse`."""
    base = {} if text is None else parse_input(text, console)
    if not pairs:
        return base
    from prosa.schema import ArgumentProblem, typed_arguments

    if not isinstance(base, dict):
        raise WrongUse("KEY=VALUE needs an input that is an object, but --input holds something else")
    try:
        typed = typed_arguments(schema, [_pair(pair) for pair in pairs])
    except ArgumentProblem as error:
        raise WrongUse(str(error)) from None
    return {**base, **typed}


def parse_input(text: str, console: Console) -> Any:
    """JSON, ``@FILE`` or ``-``. Raises `WrongUse` with the place of the mistake, `FileProblem` for a bad file."""
    from prosa.data import JsonError, parse_json

    where, content = _content(text, console)
    try:
        return parse_json(content)
    except JsonError as error:
        message = f"{where} is not valid JSON: line {error.line}, column {error.column}: {error.message}"
        raise WrongUse(message, hint="""as in: --input '{"name": "Ada"}'""") from None


def _content(text: str, console: Console) -> tuple[str, str]:
    if text == "-":
        return "standard input", _stdin(console)
    if text.startswith("@"):
        from prosa.adapters.files import RootedFiles

        return text[1:], RootedFiles().read(Path(text[1:])).text.removeprefix("\ufeff")
    return "--input", text


def _stdin(console: Console) -> str:
    data = console.read_bytes()
    if len(data) > MAX_STDIN_BYTES:
        raise WrongUse(f"standard input is larger than {MAX_STDIN_BYTES // (1024 * 1024)} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUse(f"standard input is not UTF-8: byte {error.start}") from None


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise WrongUse(f"expected KEY=VALUE, found {text!r}")
    return key, value
