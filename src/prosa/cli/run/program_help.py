"""`prosa run FILE --help`: a program as a command, its inputs read from its schema. Runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.data import Value

if TYPE_CHECKING:
    from prosa.app.options import Environment
    from prosa.runtime.program import Program
    from prosa.schema import InputField


def named_program(argv: list[str]) -> Path | None:
    """Return the program that a command line names, read without parsing it: the first `.md`, else the first file there
    is, or the first folder of a skill."""
    words = [item for item in argv if not item.startswith("-") and "=" not in item]
    markdown = (word for word in words if word.endswith(".md"))
    found = next(markdown, None) or next((word for word in words if Path(word).is_file() or _is_skill(word)), None)
    return Path(found) if found else None


def _is_skill(word: str) -> bool:
    """Return whether a word names the folder of a skill, without reading its content."""
    return any(Path(word, name).is_file() for name in ("SKILL.md", "skill.md"))


def program_help(path: Path, around: Environment) -> str:
    """Return its purpose, inputs and output, safe for a terminal. Raises what loading raises."""
    from prosa.app.options import Options
    from prosa.app.run.load import load_program
    from prosa.render.plain import safe
    from prosa.runtime.skill import takes_request
    from prosa.schema import describe_inputs

    program = load_program(path, Options(), around.settings, to_run=False, environ=around.environ)
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
        lines += ["", "scripts, which run in the sandbox:", *(f"  {each}" for each in skill.scripts)]
    if skill.unavailable:
        lines += ["", "asks for and cannot have here:", *(f"  {each}" for each in skill.unavailable)]
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

    around = environment_of(console, named)
    try:
        program = load_program(named, Options(), around.settings, to_run=False, environ=around.environ)
    except (RunError, FileProblem):
        return ()
    return tuple(describe_inputs(program.input_schema))


def _usage(fields: tuple[InputField, ...]) -> str:
    return " ".join(f"{each.name}=…" if each.required else f"[{each.name}=…]" for each in fields)


def _about(field: InputField) -> str:
    parts = [field.type, "required" if field.required else ""]
    if field.default is not None:
        parts.append(f"default {field.default!r}")
    return ", ".join(part for part in parts if part) + (f"; {field.description}" if field.description else "")


def _outputs(schema: Value) -> list[tuple[str, str]]:
    from prosa.schema import describe_inputs

    fields = describe_inputs(schema)
    return [(field.name, field.type) for field in fields] or [("(any)", "")]


def _columns(rows: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in rows), default=0)
    return [f"  {name:<{width}}  {text}".rstrip() for name, text in rows]
