"""The inputs of programs on the command line: JSON, a file, standard input, or ``KEY=VALUE`` typed by the schema, for a
skill the request unchanged; and `prosa run FILE --help`, which lists them. Runs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import MAX_STDIN_BYTES, Console
from prosa.cli.parser import WrongUse
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.options import Environment
    from prosa.runtime.program import Program
    from prosa.schema import InputField


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
        typed = typed_arguments(schema, [pair(word) for word in pairs])
    except ArgumentProblem as error:
        raise WrongUse(str(error)) from None
    return _merged(base, typed)


def given_input(
    program: Program, text: str | None, pairs: Sequence[str], console: Console, max_size: int | None = None
) -> Value:
    """Return the input of a program; of a skill the request, which may be given as words. Raises `WrongUse`."""
    from prosa.runtime.program import takes_request

    if not takes_request(program.template):
        return read_input(program.input_schema, text, pairs, console, max_size)
    return {REQUEST: _request(program, text, pairs, console, max_size or MAX_STDIN_BYTES)}


def _request(program: Program, text: str | None, words: Sequence[str], console: Console, max_size: int) -> str:
    """Return the request of a skill: words, `request=…`, a text or JSON of `--input`, or with `-` that on standard
    input."""
    request = " ".join(word.removeprefix(f"{REQUEST}=") for word in words)
    if text is None and tuple(words) == ("-",):
        text, words = "-", ()
    if text is not None:
        if words:
            raise WrongUse("--input and words both give a request: give one of them")
        request = _request_in(named_content(text, console, max_size)[1])
    if not request.strip():
        hint = f"prosa run {program.file or 'SKILL.md'} 'what is to be done', or - for standard input"
        raise WrongUse(f"{program.name} needs a request", hint=hint)
    return request


def _request_in(content: str) -> str:
    """Return the request of a JSON object or string; any other text is one itself."""
    from prosa.data import JsonError, parse_json

    try:
        value = parse_json(content)
    except JsonError:
        return content
    request = value.get(REQUEST) if isinstance(value, dict) and set(value) == {REQUEST} else value
    return request if isinstance(request, str) else content


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


def named_program(argv: list[str]) -> Path | None:
    """Return the program that a command line names, read without parsing it: the first `.md`, else the first file there
    is, or the first folder of a skill."""
    words = [item for item in argv if not item.startswith("-") and "=" not in item]
    markdown = (word for word in words if word.endswith(".md"))
    program = next(markdown, None) or next((word for word in words if Path(word).is_file() or _is_skill(word)), None)
    return Path(program) if program else None


def _is_skill(word: str) -> bool:
    """Return whether a word names the folder of a skill, without reading its content."""
    return any(Path(word, name).is_file() for name in ("SKILL.md", "skill.md"))


def program_help(path: Path, environment: Environment) -> str:
    """Return its purpose, inputs and output, safe for a terminal. Raises what loading raises."""
    from prosa.app.options import Options
    from prosa.app.run.load import load_program
    from prosa.render.plain import safe
    from prosa.runtime.program import takes_request
    from prosa.schema import describe_inputs

    program = load_program(path, Options(), environment.settings, to_run=False, environ=environment.environ)
    if takes_request(program.template):
        return "\n".join(map(safe, _skill_help(path, program)))
    fields = describe_inputs(program.input_schema)
    lines = [f"{program.name}: {program.description}", "", f"usage: prosa run {path} {_usage(fields)}".rstrip(), ""]
    lines += (
        ["inputs (KEY=VALUE, or all at once with --input JSON):"] if fields else ["This program takes no named input."]
    )
    lines += _columns([(field.name, _about(field)) for field in fields])
    lines += ["", "answers with JSON:", *_columns(_outputs(program.output_schema)), ""]
    lines.append("Flags of the command itself: prosa run --help")
    return "\n".join(map(safe, lines))


def _skill_help(path: Path, program: Program) -> list[str]:
    (skill,) = program.skills
    lines = [f"{program.name}: {program.description}", "", f"usage: prosa run {path} 'REQUEST'", ""]
    lines += ["The request is text: words, request=…, --input @FILE, or a pipe. The answer is text, or what"]
    lines += ["--output-schema FILE says."]
    if skill.scripts:
        lines += ["", "scripts, which run in the sandbox:", *(f"  {script}" for script in skill.scripts)]
    if skill.unavailable:
        lines += ["", "requirements that are not met here:", *(f"  {requirement}" for requirement in skill.unavailable)]
    return [*lines, "", "Flags of the command itself: prosa run --help"]


def input_names(console: Console, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the inputs of the program that a command line names; none where it names none that can be
    read."""
    return tuple(field.name for field in input_fields(console, argv))


def input_fields(console: Console, argv: Sequence[str]) -> tuple[InputField, ...]:
    """Return the inputs of the program that a command line names."""
    named = named_program(list(argv))
    if named is None:
        return ()
    from prosa.app.options import Options
    from prosa.app.run.load import load_program
    from prosa.cli.environment import environment_of
    from prosa.runtime.errors import RunError
    from prosa.schema import describe_inputs
    from prosa.source import FileProblem

    environment = environment_of(console, named)
    try:
        program = load_program(named, Options(), environment.settings, to_run=False, environ=environment.environ)
    except (RunError, FileProblem):
        return ()
    return tuple(describe_inputs(program.input_schema))


def _usage(fields: tuple[InputField, ...]) -> str:
    return " ".join(f"{field.name}=…" if field.required else f"[{field.name}=…]" for field in fields)


def _about(field: InputField) -> str:
    parts = [field.type, "required" if field.required else ""]
    if field.default is not None:
        parts.append(f"default {field.default!r}")
    return ", ".join(part for part in parts if part) + (f"; {field.description}" if field.description else "")


def _outputs(schema: Mapping[str, Value] | bool) -> list[tuple[str, str]]:
    from prosa.schema import describe_inputs

    fields = describe_inputs(schema)
    return [(field.name, field.type) for field in fields] or [("(any)", "")]


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:<{width}}  {text}".rstrip() for name, text in rows]
