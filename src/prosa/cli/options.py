"""The options of commands that run something: flags out of the records of `prosa.app.options`, and `Options` out of the
arguments.

In: a parser, and later the arguments. Out: the values that the arguments mean, or `WrongUse`. It opens nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.options import (
    NO_SCRIPT,
    NO_SCRIPT_HINT,
    CommandOptions,
    DeclaredOption,
    JournalOptions,
    Kind,
    LimitOptions,
    ModelOptions,
    Options,
    Otel,
    ReadingOptions,
    Record,
    RecordingKeywords,
    RecordingOptions,
    Replay,
    ServiceOptions,
    SiteRights,
    declared,
    fields_of,
)
from prosa.cli import argument_types as types
from prosa.cli.parser import Parser, WrongUse
from prosa.cli.run.input import input_names

if TYPE_CHECKING:
    from prosa.data import Value

Container = argparse.ArgumentParser | argparse._ArgumentGroup  # noqa: SLF001 - argparse has no public name for a group
"""What takes arguments: a parser, or a group of its help."""

TYPES: Mapping[Kind, Callable[[str], object]] = {
    "count": types.count,
    "number": types.number,
    "seconds": types.duration,
    "bytes": types.size,
    "memory": types.memory,
    "dollars": types.dollars,
    "path": Path,
    "folder": types.folder,
    "store": types.store_place,
    "permission": types.permission,
    "token": types.token,
}
"""What makes a value of the text behind a flag."""

KEYWORDS = (ModelOptions, ServiceOptions, LimitOptions, ReadingOptions, CommandOptions)
"""The records whose options are fields of `Options`."""


def add_options(container: Container, record: type, *names: str, **words: str) -> None:
    """Add the flags of a record: of all its options, or of ``names``; ``words`` replace the help of some."""
    for option in declared(record, *names):
        if option.option.flags is not None:
            _add(container, option, words.get(option.name, option.option.help))


def _add(container: Container, declaration: DeclaredOption, words: str) -> None:
    """Add the flag of one option."""
    option, flags, dest = declaration.option, declaration.flags, declaration.dest
    if option.kind == "value":
        container.add_argument(*flags, dest=dest, action="store_true", help=words)
        container.add_argument(f"{flags[0]}-value", metavar=option.metavar, help=argparse.SUPPRESS)
    elif declaration.is_switch:
        container.add_argument(*flags, dest=dest, action="store_true", help=words)
    elif option.words is not None:
        container.add_argument(*flags, dest=dest, choices=option.words, default=option.words[0], help=words)
    elif declaration.choices:
        container.add_argument(*flags, dest=dest, choices=declaration.choices, help=words)
    else:
        container.add_argument(
            *flags,
            dest=dest,
            action="append" if option.several else "store",
            type=TYPES.get(option.kind, str),
            metavar=option.metavar,
            help=words,
        )


def values_of(record: type, args: argparse.Namespace) -> dict[str, object]:
    """Return the options of a record that the arguments of a command have, by name."""
    values: dict[str, object] = {}
    for option in declared(record):
        if hasattr(args, option.dest):
            value = getattr(args, option.dest)
            values[option.name] = value if option.option.words is None else value == option.option.words[1]
    return values


def add_input(parser: argparse.ArgumentParser) -> None:
    """How an input is given."""
    if isinstance(parser, Parser):
        parser.input_names = partial(input_names, parser.console)
    # The default keeps it out of what argparse calls required when FILE is missing.
    typed = "one input, typed by the program's input schema; for a skill, the words of the request"
    parser.add_argument("pairs", nargs="*", default=(), metavar="KEY=VALUE", help=typed)
    parser.add_argument("--input", metavar="JSON", help="the whole input as JSON, @FILE, or - for standard input")


def add_output_schema(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the output schema of a skill."""
    about = "a JSON Schema for the answer of a skill (default: plain text)"
    parser.add_argument("--output-schema", dest="schema_file", type=Path, metavar="FILE", help=about)


def add_model(parser: argparse.ArgumentParser) -> None:
    """Which model answers, and where."""
    group = parser.add_argument_group("model")
    add_options(group, ModelOptions)
    add_options(group, ServiceOptions)


def add_limits(parser: argparse.ArgumentParser, *, at_once: str = "") -> None:
    """Add the flags of limits; ``at_once`` says what `--concurrency` bounds where that is not the tool calls."""
    group = parser.add_argument_group("limits")
    add_options(group, LimitOptions, "max_iterations", "timeout", "retries", "max_tool_result")
    if at_once:
        group.add_argument("--concurrency", dest="at_once", type=types.count, metavar="N", help=at_once)
    else:
        add_options(group, CommandOptions, "concurrency")
    add_options(group, LimitOptions, "max_tool_calls", "max_output_tokens", "max_cost")
    add_options(group, LimitOptions, "python_timeout", "python_memory", "allow_cut", "allow_servers")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what may be read."""
    add_options(parser.add_argument_group("reading"), ReadingOptions)


def options_from(args: argparse.Namespace, environ: Mapping[str, str]) -> Options:
    """Return the options of a run. Raises `WrongUse` for scripted replies without a file."""
    chosen: dict[str, object] = {}
    for record in KEYWORDS:
        chosen |= fields_of(record, values_of(record, args))
    options = replace(
        Options(
            site_rights=rights_from(args),
            recording=recording_from(args),
            otel=otel_from(args),
            journal=journal_from(args),
            output_schema=_output_schema(args),
        ),
        **chosen,
    )
    if options.lacks_script:
        raise WrongUse(f"--model {options.model}: {NO_SCRIPT}", hint=NO_SCRIPT_HINT)
    return with_service(options, environ)


def with_service(options: Options, environ: Mapping[str, str]) -> Options:
    """Return the options with the service that the prefix of their model selects (X7)."""
    if "/" not in (options.model_name or ""):
        return options
    from prosa.app.run.routes import with_provider
    from prosa.app.settings import settings_for

    return with_provider(options, settings_for(None, environ), environ)


def _output_schema(args: argparse.Namespace) -> Mapping[str, Value] | bool | None:
    """Return the output schema for a skill. Raises `RunError` for a file without a schema."""
    if getattr(args, "schema_file", None) is None:
        return None
    from prosa.app.run.skills import read_schema

    return read_schema(args.schema_file)


def add_reports(parser: argparse.ArgumentParser) -> None:
    """`--report`, of tests and of what uses them."""
    parser.add_argument(
        "--report",
        action="append",
        dest="reports",
        metavar="FILE|DIR",
        help="write a report too: a page (.html), .md or .json, or a folder with all of it; repeatable",
    )


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the flags for recording a run and for playing a recording (X27)."""
    group = parser.add_argument_group("recordings")
    add_options(group, RecordingKeywords)
    add_options(group, Replay)
    add_options(group, Record)


def recording_from(args: argparse.Namespace) -> RecordingOptions | None:
    """Return the recordings that the arguments ask for. Raises `WrongUse` for flags that mean nothing together."""
    record, replay = getattr(args, "record", None), getattr(args, "replay", None)
    _require_recording(args, record, replay)
    if record is None and replay is None:
        return None
    kept = None if record is None else Record(record, tuple(args.redact or ()), args.force)
    played = None
    if replay is not None:
        played = Replay(replay, args.match or "exact", args.new, args.live_tools, args.strict)
    return RecordingOptions(kept, played)


def _require_recording(args: argparse.Namespace, record: Path | None, replay: Path | None) -> None:
    flag = next((option.flags[0] for option in declared(Replay) if getattr(args, option.dest, None)), None)
    if replay is None and flag is not None:
        raise WrongUse(f"{flag} is about a recording that is played", hint="name it: --replay FILE or DIR")
    if record is None and getattr(args, "redact", None):
        raise WrongUse("--redact is about a recording that is made", hint="say where: --record DIR")
    if replay is not None and getattr(args, "resume", None):
        raise WrongUse("--replay plays a whole run, and --resume continues one", hint="give one of them")
    if replay is not None and args.new and record is None:
        raise WrongUse("--new live records the calls that it makes", hint="say where: --record DIR")
    if replay is not None and not args.new and (args.model or "").startswith("scripted"):
        raise WrongUse("--replay and --model scripted both answer every call", hint="give one of them")


def add_otel(parser: argparse.ArgumentParser) -> None:
    """Where traces go."""
    add_options(parser.add_argument_group("traces"), Otel)
    if isinstance(parser, Parser):
        parser.with_value.add("--otel")


def otel_from(args: argparse.Namespace) -> Otel | None:
    """Return where traces go, where the arguments say so. Raises `WrongUse`."""
    if not getattr(args, "traced", False):
        if getattr(args, "otel_content", False):
            raise WrongUse("--otel-content is about --otel")
        return None
    url = args.otel_value or ""
    if url:
        from prosa.source.url import origin_of

        try:
            origin_of(url)
        except ValueError as error:
            raise WrongUse(f"--otel={url[:200]}: {error}") from None
    return Otel(url, args.otel_content)


CHAT_SITE = "mdh:"


def add_sites(parser: argparse.ArgumentParser, *, named: bool) -> None:
    """Add the flags for permissions at sites; with ``named`` also the flag for sites besides the declared ones."""
    names = ("allow_actions", "actions", "allow_private", "variables")
    add_options(parser.add_argument_group("sites"), SiteRights, *(("named",) if named else ()), *names)


def rights_from(args: argparse.Namespace) -> SiteRights:
    """Return the rights; none where a command has no such arguments. A site that a flag grants was typed by the
    user."""
    granted = (tool for tool in getattr(args, "tools", None) or () if isinstance(tool, str))
    typed = (tool.removeprefix(CHAT_SITE) for tool in granted if tool.startswith(CHAT_SITE))
    return SiteRights(
        named=(*(getattr(args, "sites", None) or ()), *typed),
        allow_private=getattr(args, "allow_private", False),
        allow_actions=getattr(args, "allow_actions", False),
        actions=tuple(getattr(args, "allowed", None) or ()),
        variables=dict(getattr(args, "site_tokens", None) or ()),
    )


def require_no_sites(args: argparse.Namespace) -> None:
    """Refuse the flags for a document that is run by its scripts. Raises `WrongUse`."""
    flag = next((option.flags[0] for option in declared(SiteRights) if getattr(args, option.dest)), None)
    if flag is not None:
        raise WrongUse(f"{flag} applies to the sites of a program, and ai-scripts have none")


def add_journal(parser: argparse.ArgumentParser, door: str) -> None:
    """`--resume`, `--in-doubt`, `--store`."""
    add_options(parser.add_argument_group("history"), JournalOptions, "resume", "rerun_in_doubt", "store")
    parser.set_defaults(door=door, call=(), known_input=())


def journal_from(args: argparse.Namespace) -> JournalOptions | None:
    """Return the journal for the runs of a call."""
    if getattr(args, "door", None) is None:
        return None
    again = {"command": args.door, "argv": list(args.call), "folder": str(Path.cwd())} if args.call else None
    return replace(journal_of(args.door, args), again=again)


def journal_of(door: str, args: argparse.Namespace) -> JournalOptions:
    """Return the journal for the runs of a door that starts no call again."""
    return replace(JournalOptions(door), **values_of(JournalOptions, args))


CONTEXTS = ("document", "section", "none")


def add_scripts(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Return which scripts, and what they are sent."""
    group = parser.add_argument_group("ai-scripts of a .mda document (or of any document, with --as magi)")
    group.add_argument("--as", dest="dialect", metavar="DIALECT", help="read the document as magi or markdownlang")
    group.add_argument(
        "--script",
        dest="ids",
        action="append",
        nargs="+",
        metavar="ID",
        help="these scripts; ID@LINE if two have the same id",
    )
    group.add_argument("--auto", action="store_true", help="those marked auto-run, in a document that you trust")
    group.add_argument("--all", dest="every", action="store_true", help="all of them")
    group.add_argument("--stale", action="store_true", help="only those whose result is stale")
    group.add_argument(
        "--scripts", dest="beside", type=Path, metavar="FILE", help="take the scripts from a JSON file instead"
    )
    group.add_argument("--env", default="server", metavar="NAME", help="those for this runtime-env (server)")
    group.add_argument(
        "--context", choices=CONTEXTS, help="what is sent with each script (document; for a stale one: as before)"
    )
    add_options(group, CommandOptions, "provider")
    group.add_argument("--tool", action="append", dest="tools", metavar="NAME", help="a tool they may call: python")
    return group


def add_writing(group: argparse._ArgumentGroup) -> None:
    """Add the flags for writing results, and for the number of concurrent scripts."""
    group.add_argument("--write", action="store_true", help="write results into the document, below each block")
    group.add_argument("--force", action="store_true", help="also replace results that were edited by hand")
    group.add_argument("--jobs", type=types.count, default=4, metavar="N", help="scripts at the same time (4)")
