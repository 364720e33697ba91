"""The input of a program from the command line: JSON, a file, standard input, or ``KEY=VALUE`` typed by the schema;
for a skill the request unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import MAX_STDIN_BYTES, Console
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.runtime.program import Program

REQUEST = "request"
"""The one input of a skill."""


def read_input(
    schema: Mapping[str, Value] | bool,
    text: str | None,
    pairs: Sequence[str],
    console: Console,
    max_size: int | None = None,
) -> Value:
    """Return the input value; by default ``{}``. Pairs override ``--input``, inside objects key by key.

    ``max_size`` bounds a file and standard input, in bytes. Raises `WrongUse`.
    """
    base = {} if text is None else parse_input(text, console, max_size or MAX_STDIN_BYTES)
    if not pairs:
        return base
    from prosa.schema import ArgumentProblem, typed_arguments

    if not isinstance(base, dict):
        raise WrongUse("KEY=VALUE needs an input that is an object, but --input holds something else")
    try:
        typed = typed_arguments(schema, [pair(each) for each in pairs])
    except ArgumentProblem as error:
        raise WrongUse(str(error)) from None
    return _merged(base, typed)


def given_input(
    program: Program, text: str | None, pairs: Sequence[str], console: Console, max_size: int | None = None
) -> Value:
    """Return the input of a program; of a skill the request, which may be given as words. Raises `WrongUse`."""
    from prosa.runtime.skill import takes_request

    if not takes_request(program.template):
        return read_input(program.input_schema, text, pairs, console, max_size)
    return {REQUEST: _request(program, text, pairs, console, max_size or MAX_STDIN_BYTES)}


def _request(program: Program, text: str | None, words: Sequence[str], console: Console, max_size: int) -> str:
    """Return the request of a skill: words, `request=…`, a text or JSON of `--input`, or with `-` that on standard
    input."""
    given = " ".join(word.removeprefix(f"{REQUEST}=") for word in words)
    if text is None and tuple(words) == ("-",):
        text, words = "-", ()
    if text is not None:
        if words:
            raise WrongUse("--input and words both give a request: give one of them")
        given = _request_in(named_content(text, console, max_size)[1])
    if not given.strip():
        hint = f"prosa run {program.file or 'SKILL.md'} 'what is to be done', or - for standard input"
        raise WrongUse(f"{program.name} needs a request", hint=hint)
    return given


def _request_in(content: str) -> str:
    """Return the request of a JSON object or string; any other text is one itself."""
    from prosa.data import JsonError, parse_json

    try:
        value = parse_json(content)
    except JsonError:
        return content
    found = value.get(REQUEST) if isinstance(value, dict) and set(value) == {REQUEST} else value
    return found if isinstance(found, str) else content


def parse_input(
    text: str,
    console: Console,
    max_size: int = MAX_STDIN_BYTES,
    *,
    what: str = "--input",
    example: str = """--input '{"name": "Ada"}'""",
) -> Value:
    """Return JSON, ``@FILE`` or ``-``; ``what`` it is called in messages, with an ``example``. Raises `WrongUse` with
    the place of the mistake, `FileProblem` for a bad file."""
    from prosa.data import JsonError, parse_json

    where, content = named_content(text, console, max_size)
    try:
        return parse_json(content)
    except JsonError as error:
        where = what if where == "--input" else where
        message = f"{where} is not valid JSON: line {error.line}, column {error.column}: {error.message}"
        raise WrongUse(message, hint=f"as in: {example}") from None


def _merged(base: dict[str, Value], typed: Mapping[str, Value]) -> dict[str, Value]:
    """Return both; where both hold an object its keys are merged, so that ``a.b=1`` changes ``b`` alone. Never deep: a
    path has at most as many steps as a schema has levels."""
    both = dict(base)
    for key, value in typed.items():
        inside = both.get(key)
        both[key] = _merged(inside, value) if isinstance(inside, dict) and isinstance(value, dict) else value
    return both


def content_of(text: str, console: Console, max_size: int | None = None) -> str:
    """Return a text that is literal, ``@FILE`` or ``-``."""
    return named_content(text, console, max_size or MAX_STDIN_BYTES)[1]


def named_content(text: str, console: Console, max_size: int) -> tuple[str, str]:
    """Return the text, with its name for messages."""
    if text == "-":
        return "standard input", _stdin(console, max_size)
    if text.startswith("@"):
        from prosa.app.text_files import read_given

        return text[1:], read_given(Path(text[1:]), max_size)
    return "--input", text


def _stdin(console: Console, max_size: int) -> str:
    data = console.read_bytes(max_size)
    if len(data) > max_size:
        raise WrongUse(f"standard input is larger than {max_size:,} bytes", hint="raise the limit with --max-size")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WrongUse(f"standard input is not UTF-8: byte {error.start}") from None


def pair(text: str) -> tuple[str, str]:
    """Return a ``KEY=VALUE`` in two. Raises `WrongUse`."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise WrongUse(f"expected KEY=VALUE, found {text!r}")
    return key, value
