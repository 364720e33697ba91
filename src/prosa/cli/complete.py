"""`prosa complete`: what may follow on a command line that is being typed, for the scripts of `prosa completion`.

In: the words so far, the last one unfinished. Out: a line for each candidate, its meaning behind a tab; or a line that
begins with a tab, by which the shell completes names of files or folders itself. Documents are read and nothing is run;
whatever goes wrong, nothing is printed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.app.text_files import read_given
from prosa.cli.commands import COMMANDS, find
from prosa.cli.console import Console
from prosa.cli.parser import Parser
from prosa.data import Value
from prosa.dialects.reading import open_as
from prosa.source import SourceText

FILES, FOLDERS = "\tfiles", "\tfolders"
"""The lines by which a shell completes names itself."""

MOST_IDS = 200

Candidate: TypeAlias = tuple[str, str]
"""A word, and its description."""


class Typed(Struct, frozen=True):
    """A command line that is being typed: its command, its finished words, and the one under the cursor."""

    console: Console
    command: str
    words: tuple[str, ...]
    word: str


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `complete`."""
    parser.add_argument("words", nargs="*", help="the words so far, the name of the program first")


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the candidates. Return 0 always: errors are invisible while a word is being completed."""
    words = dict.fromkeys(candidates(args.words, console))
    for word, meaning in words:
        console.out(f"{word}\t{meaning}" if meaning else word)
    return 0


def candidates(words: Sequence[str], console: Console) -> list[Candidate]:
    """Return what may stand in place of the last word."""
    from prosa.render.plain import safe

    before, word = words[1:-1], words[-1] if len(words) > 1 else ""
    try:
        completions = list(_candidates(before, word, console))
    except Exception:
        return []
    return [(text, safe(meaning)) for text, meaning in completions if text in (FILES, FOLDERS) or _fits(text, word)]


def _fits(candidate: str, word: str) -> bool:
    """Return whether a word continues the typed text, and contains no control characters."""
    return candidate.startswith(word) and candidate.isprintable()


def _candidates(before: Sequence[str], word: str, console: Console) -> Iterable[Candidate]:
    name = next((arg for arg in before if not arg.startswith("-")), None)
    if name is None:
        return [(entry.name, entry.summary) for entry in COMMANDS] + [("help", "describe a command")]
    if name == "help":
        return [(entry.name, entry.summary) for entry in COMMANDS]
    command = find(name)
    if command is None:
        return ()
    from importlib import import_module

    parser = Parser(console=console, prog=f"prosa {name}", description="")
    import_module(command.module).configure(parser)
    at = list(before).index(name)
    return _arguments(parser, Typed(console, name, tuple(before[at + 1 :]), word))


def _arguments(parser: Parser, typed: Typed) -> Iterable[Candidate]:
    flags = {flag: action for action in parser._actions for flag in action.option_strings}  # noqa: SLF001
    last = typed.words[-1] if typed.words else ""
    if "--" not in typed.words:
        if last in flags and _takes_value(flags[last]):
            return _values(flags[last], typed)
        if typed.word.startswith("--") and "=" in typed.word:
            flag, _, value = typed.word.partition("=")
            completions = _values(flags[flag], replace(typed, word=value)) if flag in flags else ()
            return [(text if text.startswith("\t") else f"{flag}={text}", meaning) for text, meaning in completions]
        if typed.word.startswith("-"):
            used = set(typed.words)
            shown = ((flag, action) for flag, action in flags.items() if flag not in used or _may_repeat(action))
            return [(flag, action.help or "") for flag, action in shown if action.help != argparse.SUPPRESS]
    return _positional(parser, flags, typed)


def _positional(parser: Parser, flags: Mapping[str, argparse.Action], typed: Typed) -> Iterable[Candidate]:
    """Return the values of the argument that comes next."""
    position, skip = 0, False
    for word in typed.words:
        if not skip and not word.startswith("-"):
            position += 1
        skip = not skip and word in flags and _takes_value(flags[word])
    places = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    if not places:
        return ()
    return _values(places[min(position, len(places) - 1)], typed)


def _takes_value(action: argparse.Action) -> bool:
    return action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction)


def _may_repeat(action: argparse.Action) -> bool:
    return isinstance(action, argparse._AppendAction)  # noqa: SLF001


def _values(action: argparse.Action, typed: Typed) -> Iterable[Candidate]:
    if action.choices is not None:
        return [(str(choice), "") for choice in action.choices]
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    by_place = _BY_PLACE.get((typed.command, action.dest))
    by_name = _BY_METAVAR.get(metavar)
    if by_place is not None:
        return by_place(typed)
    if by_name is not None:
        return by_name(typed)
    return [(FOLDERS, "")] if metavar in ("DIR", "OUT") else [(FILES, "")] if not action.option_strings else ()


def _files(_: Typed) -> Iterable[Candidate]:
    return [(FILES, "")]


def _folders(_: Typed) -> Iterable[Candidate]:
    return [(FOLDERS, "")]


def _rules(typed: Typed) -> Iterable[Candidate]:
    from prosa.dialects.table import DIALECTS
    from prosa.rules.registry import all_rules

    yield from ((rule.name, rule.code) for rule in all_rules())
    if typed.command == "explain":
        yield from ((row.name, row.title) for row in DIALECTS)


def _dialects(_: Typed) -> Iterable[Candidate]:
    from prosa.dialects.table import DIALECTS

    return [(row.name, row.title) for row in DIALECTS]


def _forms(_: Typed) -> Iterable[Candidate]:
    from prosa.convert.table import ONE_WAY, ROWS

    return [*((row.name, row.title) for row in ROWS.values()), *ONE_WAY.items()]


def _inputs(typed: Typed) -> Iterable[Candidate]:
    """Return the inputs of the program that is named, or the values that one of them may have."""
    from prosa.cli.run.input import input_fields

    fields = {field.name: field for field in input_fields(typed.console, typed.words)}
    name, equals, _ = typed.word.partition("=")
    if equals:
        field = fields.get(name)
        values = () if field is None else field.enum or ((True, False) if field.type == "boolean" else ())
        return [(f"{name}={_text(value)}", "") for value in values]
    names = {word.partition("=")[0] for word in typed.words if "=" in word}
    return [(f"{name}=", field.description or field.type) for name, field in fields.items() if name not in names]


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scripts(typed: Typed) -> Iterable[Candidate]:
    """Yield the addresses of the ai-scripts of the document that is named."""
    from prosa.dialects.table import MAGI

    for path in _named(typed):
        model = open_as(SourceText(read_given(path), str(path)), MAGI).model
        yield from ((script.address, f"line {script.line}") for script in model.scripts)


def _actions(typed: Typed) -> Iterable[Candidate]:
    """Yield the ids of the actions that a node in a file declares; no site is contacted."""
    from prosa.site.node import node_of_text

    for path in _named(typed):
        node = node_of_text(read_given(path), str(path))
        yield from ((str(action["id"]), str(action.get("method", ""))) for action in node.actions if action.get("id"))


def _named(typed: Typed) -> Iterator[Path]:
    return (Path(word) for word in typed.words if not word.startswith("-") and os.path.isfile(word))  # noqa: PTH113


def _documents(typed: Typed) -> Iterable[Candidate]:
    """Yield files, and the ids of the documents of the corpus as its index knows them now."""
    from prosa.app.corpus.open import open_corpus
    from prosa.app.settings import settings_for

    yield FILES, ""
    here = Path()
    settings = settings_for(here, typed.console.environ)
    with open_corpus(here, environ=typed.console.environ, settings=settings, refresh=False) as corpus:
        nodes = corpus.index.documents() if corpus.index.path.exists() else []
        sections = (node for node in nodes if node.id != node.path and node.id.startswith(typed.word))
        yield from ((node.id, node.title or node.path) for node, _ in zip(sections, range(MOST_IDS), strict=False))


Values: TypeAlias = Callable[[Typed], Iterable[Candidate]]

_BY_METAVAR: dict[str, Values] = {
    "RULE": _rules,
    "RULES": _rules,
    "DIALECT": _dialects,
    "KEY=VALUE": _inputs,
    "FILE|ID": _documents,
    "A": _documents,
    "B": _documents,
    "FILE": _files,
    "PATH": _files,
    "URL|DIR": _folders,
}
_BY_PLACE: dict[tuple[str, str], Values] = {
    ("convert", "target"): _forms,
    ("convert", "origin"): _forms,
    ("convert", "output"): _files,
    ("run", "ids"): _scripts,
    ("plan", "ids"): _scripts,
    ("call", "node"): _files,
    ("call", "action"): _actions,
}
