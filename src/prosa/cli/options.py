"""The options that several commands share, each defined once: reading, work, model, limits, vectors, network, sites.

In: a parser, and later the arguments. Out: the values that the arguments mean, or `WrongUse`. It opens nothing.
"""

from __future__ import annotations

import argparse
import re
from decimal import Decimal, InvalidOperation
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import Parser, WrongUse
from prosa.cli.run.program_help import input_names
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.dialects.table import DIALECTS, known_dialect
from prosa.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from prosa.app.client.requests import Bounds
    from prosa.app.corpus.embedding import EmbeddingChoice
    from prosa.app.options import Options, Otel, RecordingOptions, SiteRights
    from prosa.data import Value

_SIZE = regex(r"([0-9]{1,9})\s*(|k|kb|kib|m|mb|mib)", re.IGNORECASE | re.ASCII)
_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}
DEFAULT_MAX_SIZE = "10MB"

MOST_DOLLARS = 1_000_000
MAX_JOBS = 256
"""Processes that `--jobs` may ask for."""


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """`--as`, `--strict`, `--permissive`, `--root`, `--max-size`."""
    names = ", ".join(row.name for row in DIALECTS)
    parser.add_argument("--as", dest="dialect", metavar="DIALECT", help=f"read the documents as: {names}")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--strict", action="store_true", default=None, help="tolerated forms are errors")
    mode.add_argument(
        "--permissive", dest="strict", action="store_false", help="tolerated forms are warnings (default)"
    )
    parser.add_argument("--root", metavar="DIR", help="open nothing outside this folder (default: the project)")
    parser.add_argument("--max-size", default=DEFAULT_MAX_SIZE, metavar="SIZE", help="largest document (default: 10MB)")


def add_folder_options(parser: argparse.ArgumentParser) -> None:
    """`--no-gitignore`."""
    parser.add_argument("--no-gitignore", dest="gitignore", action="store_false", help="include files that git ignores")


def add_hidden_options(parser: argparse.ArgumentParser, *, shown: bool = True) -> None:
    """Add `--skip-hidden`, and `--show-skipped` for commands that report skipped files."""
    parser.add_argument(
        "--skip-hidden", action="store_true", help="leave out the hidden folders of agents (.claude, .github …)"
    )
    if shown:
        parser.add_argument("--show-skipped", action="store_true", help="list the skipped files and folders")


def add_work_options(parser: argparse.ArgumentParser, *, cache: bool = True) -> None:
    """`--jobs`, `--no-cache`."""
    parser.add_argument("--jobs", type=_count, metavar="N", help="processes (default: one for each processor)")
    if not cache:
        return
    parser.add_argument("--no-cache", dest="cache", action="store_false", help="neither read nor write the cache")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to {MAX_JOBS}")
    return int(text)


def chosen_dialect(name: str | None) -> DialectName | None:
    """Return `--as` as a dialect. Raises `WrongUse`."""
    try:
        return None if name is None else known_dialect(name)
    except UnknownName as error:
        raise WrongUse(f"--as {name}: no such dialect", hint=error.hint) from None


def size_in_bytes(text: str) -> int:
    """Return `--max-size` in bytes. Raises `WrongUse`."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise WrongUse(f"--max-size {text}: not a size", hint="write bytes or a unit: 500KB, 20MB")
    return int(match[1]) * _FACTORS[match[2][:1].lower()]


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
    group.add_argument(
        "-m",
        "--model",
        metavar="NAME",
        help="model of the program and its imports; SERVICE/NAME for that of a service, such as anthropic/NAME;"
        " local[:NAME] for this machine, scripted:FILE for fixed replies",
    )
    group.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server (also: OPENAI_BASE_URL)")
    group.add_argument("--api-key-env", metavar="NAME", help="the environment variable with the key for --base-url")
    group.add_argument("--api", choices=("chat", "responses"), help="Chat Completions (default) or Responses")


def add_limits(parser: argparse.ArgumentParser, *, at_once: str = "tool calls at once (8)") -> None:
    """Add the flags of limits; a flag may exceed the ceilings of documents (X9). ``at_once`` describes what
    `--concurrency` bounds."""
    group = parser.add_argument_group("limits")
    group.add_argument("--max-iterations", type=count, metavar="N", dest="iterations", help="model calls (10)")
    group.add_argument(
        "--timeout", type=duration, metavar="SECONDS", dest="wall_clock", help="wall-clock time of the run (600)"
    )
    group.add_argument("--retries", type=_count0, metavar="N", help="further attempts after a transient error (10)")
    group.add_argument(
        "--max-tool-result",
        type=_bytes,
        metavar="SIZE",
        dest="tool_result",
        help="longest tool result that the model sees (256KiB)",
    )
    group.add_argument("--concurrency", type=count, metavar="N", help=at_once)
    group.add_argument(
        "--max-tool-calls", type=count, metavar="N", dest="tool_calls", help="tool calls in one reply (32)"
    )
    group.add_argument(
        "--max-output-tokens",
        type=count,
        metavar="N",
        dest="output_tokens",
        help="tokens that one model call may write (no limit; 4096 with --max-cost)",
    )
    group.add_argument(
        "--max-cost", type=dollars, metavar="USD", help="the most that all model calls together may cost"
    )
    group.add_argument(
        "--python-timeout", type=duration, metavar="SECONDS", help="seconds for one call of the sandbox (30)"
    )
    group.add_argument("--python-memory", type=_size, metavar="SIZE", help="memory of the sandbox (128MB)")
    group.add_argument(
        "--allow-cut",
        action="store_true",
        help="accept an answer that was cut off at the model's length limit, and mark it",
    )
    group.add_argument(
        "--allow-servers",
        action="store_true",
        help="let programs that a document names start their MCP servers (default: those that you trust)",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say what may be read."""
    group = parser.add_argument_group("reading")
    group.add_argument(
        "--root", type=_folder, metavar="DIR", help="open imports only inside this folder (default: the project)"
    )
    group.add_argument("--max-size", type=_bytes, metavar="SIZE", help="largest document, and input (10MB)")


def choices_from(args: argparse.Namespace, environ: Mapping[str, str]) -> Options:
    """Return the user's choices. Raises `WrongUse` for scripted replies without a file."""
    from prosa.app.options import NO_SCRIPT, NO_SCRIPT_HINT, Options
    from prosa.cli.parser import WrongUse
    from prosa.cli.run.resuming import journal_from

    chosen = {name: value for name, value in vars(args).items() if name in Options.__struct_fields__}
    choices = Options(
        **chosen,
        site_rights=rights_from(args),
        tape=recording_from(args),
        otel=otel_from(args),
        journal=journal_from(args),
        output_schema=_output_schema(args),
    )
    if choices.lacks_script:
        raise WrongUse(f"--model {choices.model}: {NO_SCRIPT}", hint=NO_SCRIPT_HINT)
    return with_service(choices, environ)


def with_service(choices: Options, environ: Mapping[str, str]) -> Options:
    """Return the choices with the service that the prefix of their model selects (X7)."""
    if "/" not in (choices.model_name or ""):
        return choices
    from prosa.app.run.routes import with_provider
    from prosa.app.settings import settings_for

    return with_provider(choices, settings_for(None, environ), environ)


def _output_schema(args: argparse.Namespace) -> Mapping[str, Value] | bool | None:
    """Return the output schema for a skill. Raises `RunError` for a file without a schema."""
    if getattr(args, "schema_file", None) is None:
        return None
    from prosa.app.run.skills import read_schema

    return read_schema(args.schema_file)


def count(text: str) -> int:
    """Return a whole number from 1, as the type of an argument."""
    return _whole(text, at_least=1)


def _count0(text: str) -> int:
    return _whole(text, at_least=0)


def _whole(text: str, *, at_least: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < at_least:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least {at_least}, found {text!r}")
    return int(text)


def dollars(text: str) -> Decimal:
    """Return an amount such as 2.50, as the type of an argument."""
    try:
        found = Decimal(text.strip().removeprefix("$"))
    except InvalidOperation:
        found = Decimal(0)
    if not found.is_finite() or not 0 < found <= MOST_DOLLARS:
        raise argparse.ArgumentTypeError(f"expected US dollars such as 2.50, found {text[:20]!r}")
    return found


def duration(text: str, *, most: float = inf) -> float:
    """Return a time such as 30, 30s or 5m in seconds, as the type of an argument."""
    from prosa.dialects.quantity import seconds

    found = seconds(text)
    if found is None or found > most:
        limit = f" up to {most:,.0f} seconds" if most < inf else ""
        raise argparse.ArgumentTypeError(f"expected a time{limit} such as 30, 30s or 5m, found {text[:20]!r}")
    return found


def _folder(text: str) -> Path:
    if not Path(text).is_dir():
        from prosa.app.text_files import nearest_file

        near = nearest_file(Path(text))
        raise argparse.ArgumentTypeError(f"no such folder: {text}{f'; did you mean {near}?' if near else ''}")
    return Path(text)


def _bytes(text: str) -> int:
    """Return a size of text, where a plain number means bytes, as in the settings."""
    return _whole(text, at_least=1) if text.strip().isdigit() else _size(text)


def _size(text: str) -> int:
    """Return a size of memory, where a plain number means megabytes, as in front matter."""
    from prosa.dialects.quantity import size

    found = size(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"expected a size such as 128MB or 256KiB, found {text!r}")
    return int(found)


def add_embedding(parser: argparse.ArgumentParser) -> None:
    """Which model makes vectors, and where."""
    group = parser.add_argument_group("vectors")
    group.add_argument("--embedding-model", metavar="NAME", help="the model at the service, or: local")
    group.add_argument("--base-url", metavar="URL", help="the service that makes vectors")
    group.add_argument("--api-key-env", metavar="NAME", help="the environment variable with the key for --base-url")
    group.add_argument("--max-cost", type=dollars, metavar="USD", help="the most that the service may cost")


def embedding_choice(args: argparse.Namespace) -> EmbeddingChoice:
    """Return the choices in the flags of `add_embedding`."""
    from prosa.app.corpus.embedding import EmbeddingChoice

    return EmbeddingChoice(args.embedding_model, args.base_url, args.api_key_env, args.max_cost)


MOST_SECONDS = 3_600
"""Maximum time to wait for one answer."""


def add_bounds(group: argparse._ArgumentGroup) -> None:
    """Which addresses may be asked, how long an answer may take and how large it may be."""
    group.add_argument("--allow-private", action="store_true", help="allow private and loopback addresses")
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each answer (30)")
    group.add_argument("--max-size", metavar="SIZE", help="largest answer (10MiB)")


def seconds(text: str) -> float:
    """Return a `duration` to wait for one answer, in seconds."""
    return duration(text, most=MOST_SECONDS)


def bounds(args: argparse.Namespace, url: str) -> Bounds:
    """Return the bounds that the arguments ask for; ``url`` is the one that the user typed. Raises `WrongUse`."""
    from prosa.app.client.requests import Bounds, on_this_machine

    default = Bounds()
    return Bounds(
        seconds=args.timeout or default.seconds,
        size=size_in_bytes(args.max_size) if args.max_size else default.size,
        allow_private=args.allow_private,
        named=on_this_machine(url),
    )


def given_token(args: argparse.Namespace, console: Console) -> str | None:
    """Return the token of `--token-env`; None without the flag. Raises `WrongUse` for a variable that is not set."""
    if args.token_env is None:
        return None
    token = console.environ.get(args.token_env)
    if not token:
        raise WrongUse(f"--token-env {args.token_env}: there is no such variable, or it is empty")
    return token


REPLAY_FLAGS = {"match": "--match", "new": "--new", "live_tools": "--tools", "strict": "--strict"}


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the flags for recording a run and for playing a recording (X27)."""
    group = parser.add_argument_group("recordings")
    group.add_argument("--record", type=Path, metavar="DIR", help="record every call in a file in this folder")
    group.add_argument(
        "--replay",
        type=Path,
        metavar="PLACE",
        help="replay a recording (a file, or a folder of them); no model or tool is called",
    )
    group.add_argument(
        "--match",
        choices=("exact", "messages", "path"),
        help="what must equal the recording: all (exact), all but tool descriptions (messages), only the place (path)",
    )
    group.add_argument(
        "--new", choices=("live",), help="call live for what is not recorded, and record it (needs --record)"
    )
    group.add_argument(
        "--tools", dest="live_tools", choices=("live",), help="call tools as in any run, and replay only the models"
    )
    group.add_argument("--strict", action="store_true", help="treat a recorded call that is not made as an error")
    group.add_argument(
        "--redact",
        action="append",
        metavar="PATTERN",
        help="remove whatever this RE2 pattern matches from the recording; without it, a confidential or secret "
        "document is recorded only with --force",
    )


def add_otel(parser: argparse.ArgumentParser) -> None:
    """Where traces go."""
    group = parser.add_argument_group("traces")
    sent = "send spans and metrics to an OpenTelemetry collector: --otel=URL, or the address of the environment"
    group.add_argument("--otel", dest="traced", action="store_true", help=sent)
    group.add_argument("--otel-value", metavar="URL", help=argparse.SUPPRESS)
    group.add_argument("--otel-content", action="store_true", help="include prompts and answers in the traces")
    if isinstance(parser, Parser):
        parser.with_value.add("--otel")


def otel_from(args: argparse.Namespace) -> Otel | None:
    """Return where traces go, where the arguments say so. Raises `WrongUse`."""
    from prosa.app.options import Otel
    from prosa.cli.parser import WrongUse
    from prosa.source.url import origin_of

    if not getattr(args, "traced", False):
        if getattr(args, "otel_content", False):
            raise WrongUse("--otel-content is about --otel")
        return None
    url = args.otel_value or ""
    if url:
        try:
            origin_of(url)
        except ValueError as error:
            raise WrongUse(f"--otel={url[:200]}: {error}") from None
    return Otel(url, args.otel_content)


def recording_from(args: argparse.Namespace) -> RecordingOptions | None:
    """Return the recordings that the arguments ask for. Raises `WrongUse` for flags that mean nothing together."""
    from prosa.app.options import Record, RecordingOptions, Replay

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
    given = next((flag for name, flag in REPLAY_FLAGS.items() if getattr(args, name, None)), None)
    if replay is None and given is not None:
        raise WrongUse(f"{given} is about a recording that is played", hint="name it: --replay FILE or DIR")
    if record is None and getattr(args, "redact", None):
        raise WrongUse("--redact is about a recording that is made", hint="say where: --record DIR")
    if replay is not None and getattr(args, "resume", None):
        raise WrongUse("--replay plays a whole run, and --resume continues one", hint="give one of them")
    if replay is not None and args.new and record is None:
        raise WrongUse("--new live records what it asks for", hint="say where: --record DIR")
    if replay is not None and not args.new and (args.model or "").startswith("scripted"):
        raise WrongUse("--replay and --model scripted both answer every call", hint="give one of them")


CHAT_SITE = "mdh:"
SITE_FLAGS = {
    "sites": "--site",
    "allow_private": "--allow-private",
    "allow_actions": "--allow-actions",
    "allowed": "--allow-action",
    "site_tokens": "--site-token",
}


def add_sites(parser: argparse.ArgumentParser, *, named: bool) -> None:
    """Add the flags for permissions at sites; with ``named`` also the flag for sites besides the declared ones."""
    group = parser.add_argument_group("sites")
    if named:
        group.add_argument(
            "--site", dest="sites", action="append", metavar="URL", help="a page whose actions become tools"
        )
    group.add_argument("--allow-actions", action="store_true", help="let all actions change things at their sites")
    group.add_argument(
        "--allow-action",
        dest="allowed",
        action="append",
        type=_permission,
        metavar="ACTION",
        help="let this action change things: an id, or 'METHOD /path'",
    )
    group.add_argument("--allow-private", action="store_true", help="allow sites at private and loopback addresses")
    group.add_argument(
        "--site-token",
        dest="site_tokens",
        action="append",
        type=_token,
        metavar="ORIGIN=NAME",
        help="the environment variable with the token for a site",
    )


def rights_from(args: argparse.Namespace) -> SiteRights:
    """Return the rights; none where a command has no such arguments. A site that a flag grants was typed by the
    user."""
    from prosa.app.options import SiteRights

    granted = (each for each in getattr(args, "tools", None) or () if isinstance(each, str))
    typed = (each.removeprefix(CHAT_SITE) for each in granted if each.startswith(CHAT_SITE))
    return SiteRights(
        named=(*(getattr(args, "sites", None) or ()), *typed),
        allow_private=getattr(args, "allow_private", False),
        allow_actions=getattr(args, "allow_actions", False),
        actions=tuple(getattr(args, "allowed", None) or ()),
        variables=dict(getattr(args, "site_tokens", None) or ()),
    )


def require_no_sites(args: argparse.Namespace) -> None:
    """Refuse the flags for a document that is run by its scripts. Raises `WrongUse`."""
    given = next((flag for name, flag in SITE_FLAGS.items() if getattr(args, name)), None)
    if given is not None:
        raise WrongUse(f"{given} is about the sites of a program, and ai-scripts have none")


def _permission(text: str) -> str:
    """Return a text that names actions, unchanged."""
    from prosa.app.client.rights import permission

    try:
        permission(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _token(text: str) -> tuple[str, str]:
    """Return an origin and the name of a variable."""
    from prosa.source.url import origin_of

    where, _, name = text.rpartition("=")
    try:
        origin = origin_of(where)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"the origin in {text[:60]!r} {error}") from None
    if where.rstrip("/").count("/") > 2:
        raise argparse.ArgumentTypeError(f"expected an origin without a path, found {where[:60]!r}")
    if not (name.isascii() and name.isidentifier()):
        raise argparse.ArgumentTypeError("expected ORIGIN=NAME, where NAME is a variable and not the token")
    if not origin.keeps_secrets:
        raise argparse.ArgumentTypeError(f"a token is not sent over plain http to {origin.host}; use https")
    return str(origin), name


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
    group.add_argument("--provider", metavar="NAME", help="the provider for all scripts")
    group.add_argument("--tool", action="append", dest="tools", metavar="NAME", help="a tool they may call: python")
    return group


def add_writing(group: argparse._ArgumentGroup) -> None:
    """Add the flags for writing results, and for the number of concurrent scripts."""
    group.add_argument("--write", action="store_true", help="write results into the document, below each block")
    group.add_argument("--force", action="store_true", help="also replace results that were edited by hand")
    group.add_argument("--jobs", type=count, default=4, metavar="N", help="scripts at the same time (4)")
