"""What the rules take from the settings of a project: the rules and dialects that they name, the pages of `site.nav`,
and JSON Schemas of front matter (`[schemas]`, X5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from msgspec import Struct
from msgspec.structs import replace

from prosa.data import Value, read_json, read_yaml, to_value
from prosa.diagnostics import Diagnostic, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DIALECTS
from prosa.rules.policy import Policy, diagnosed, ordered
from prosa.rules.registry import is_selector, names_and_codes
from prosa.schema import Schema, SchemaError, check_schema_shape
from prosa.settings.model import Path as SettingPath
from prosa.settings.model import Settings, SettingValue
from prosa.settings.read import NONE, key_spans, read_project_settings, span_of
from prosa.source import FileProblem, Files, SourceText, Span


def read_project(
    text: str, name: str, overrides: Mapping[SettingPath, SettingValue] = NONE
) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings in the file called ``name``, with the ``overrides`` of this call, and their
    problems."""
    settings, problems = read_project_settings(text, name, overrides)
    mistakes = tuple(_mistakes(settings, text, ("tool", "prosa") if name.endswith("pyproject.toml") else ()))
    if not mistakes:
        return settings, problems
    readable = tuple(pair for pair in settings.dialects if _is_dialect(pair[1]))
    per_glob = tuple(
        replace(entry, select=_known(entry.select), ignore=_known(entry.ignore)) for entry in settings.per_glob
    )
    known = replace(
        settings, select=_known(settings.select), ignore=_known(settings.ignore), dialects=readable, per_glob=per_glob
    )
    return known, (*problems, *mistakes)


def project_diagnostics(
    source: SourceText, overrides: Mapping[SettingPath, SettingValue] = NONE
) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Return the settings in a file, with the ``overrides`` of this call, and diagnostics. No project may turn
    these off."""
    settings, problems = read_project(source.text, source.path, overrides)
    return settings, ordered(diagnosed(problems, source, Policy()))


def _mistakes(settings: Settings, text: str, inside: tuple[str, ...]) -> Iterator[Problem]:
    """Yield names of rules and dialects that do not exist."""
    spans = key_spans(text)

    def complain(path: tuple[str, ...], what: str, name: str, known: Sequence[str]) -> Problem:
        guess = nearest(name, known)
        notes = (f"did you mean `{guess}`?",) if guess else ("prosa explain lists them all",)
        return Problem("bad-setting", f"there is no {what} `{name[:60]}`", span_of(spans, (*inside, *path)), notes)

    for path, rules in _named_rules(settings):
        yield from (complain(path, "rule", name, names_and_codes()) for name in rules if not is_selector(name))
    dialects = [row.name for row in DIALECTS]
    for glob, name in settings.dialects:
        if not _is_dialect(name):
            yield complain(("dialects", glob), "dialect", name, [*dialects])


def _named_rules(settings: Settings) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    yield ("select",), settings.select
    yield ("ignore",), settings.ignore
    for entry in settings.per_glob:
        yield ("per-glob", entry.glob, "select"), entry.select
        yield ("per-glob", entry.glob, "ignore"), entry.ignore


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(is_selector, names))


def _is_dialect(name: str) -> bool:
    return any(row.name == name for row in DIALECTS)


def nav_diagnostics(settings: Settings, source: SourceText, has_page: Callable[[str], bool]) -> Iterator[Diagnostic]:
    """Yield the pages in `site.nav` that ``has_page`` does not find. Folders and addresses are left alone: a build may
    make a folder."""
    gone = [path for path in dict.fromkeys(_pages(settings.site_nav)) if not has_page(path)]
    for path in gone:
        message = f"`site.nav` names {path[:200]!r}, and there is no such file"
        problem = Problem("nav-without-page", message, nav_span(source, path))
        yield from diagnosed((problem,), source, Policy())


def nav_span(source: SourceText, entry: str) -> Span:
    """Return the place of an entry of `site.nav` in a file of settings, else of `nav` itself."""
    inside = ("tool", "prosa") if source.path.endswith("pyproject.toml") else ()
    key = span_of(key_spans(source.text), (*inside, "site", "nav"))
    for quote in "\"'":
        at = source.text.find(f"{quote}{entry}{quote}", key.end)
        if at >= 0:
            return Span(at, at + len(entry) + 2)
    return key


def _pages(nav: Value) -> Iterator[str]:
    """Yield the paths of files in a `nav`."""
    for item in nav if isinstance(nav, list | tuple) else ():
        for entry in item.values() if isinstance(item, Mapping) else (item,):
            if not isinstance(entry, str):
                yield from _pages(entry)
            elif "://" not in entry and not entry.endswith("/") and entry != ".":
                yield entry


# Schema files: JSON Schemas of front matter, which the settings of a project name (`[schemas]`, X5).

RULE = "bad-schema-file"


class SchemaFile(Struct, frozen=True):
    """``schema`` is None where the file is no schema; then ``problems`` say why, at places of ``source``, which is None
    where the file cannot be read."""

    schema: Schema | None
    problems: tuple[Problem, ...] = ()
    source: SourceText | None = None


def schema_at(root: Path, path: str, files: Files) -> SchemaFile:
    """Return the schema in a file below ``root``."""
    place = root / path
    if not files.inside_root(place):
        return SchemaFile(None, (Problem(RULE, f"the schema {path} lies outside the project", Span(0, 0)),))
    try:
        source = files.read(place)
    except FileProblem as problem:
        return SchemaFile(None, (Problem(RULE, f"the schema {path} cannot be read: {problem.reason}", Span(0, 0)),))
    reading = (read_yaml if path.lower().endswith((".yaml", ".yml")) else read_json)(source.text)
    if reading.problems or reading.node is None:
        problems = reading.problems or (Problem(RULE, "the file is empty", Span(0, 0)),)
        return SchemaFile(None, tuple(_named(problems, "no schema can be read in this file")), source)
    try:
        return SchemaFile(Schema(to_value(reading.node)), (), source)
    except SchemaError:
        shape = [fault for fault in check_schema_shape(reading.node) if fault.rule == "bad-schema"]
        return SchemaFile(None, tuple(_named(shape, "")), source)


def schema_diagnostics(settings: Settings, source: SourceText, root: Path, files: Files) -> Iterator[Diagnostic]:
    """Yield the problems of the schemas that the settings in ``source`` name: at their place in the schema, or, if it
    cannot be read, at the setting."""
    inside = ("tool", "prosa") if source.path.endswith("pyproject.toml") else ()
    spans = key_spans(source.text)
    done: set[str] = set()
    for glob, path in settings.schemas:
        file = schema_at(root, path, files)
        if file.schema is not None or path in done:
            continue
        done.add(path)
        if file.source is not None:
            shown = PurePath(source.path).parent / path
            yield from diagnosed(file.problems, replace(file.source, path=str(shown)), Policy())
            continue
        span = span_of(spans, (*inside, "schemas", glob))
        yield from diagnosed(tuple(Problem(RULE, problem.message, span) for problem in file.problems), source, Policy())


def _named(problems: Iterable[Problem], lead: str) -> Iterator[Problem]:
    for problem in problems:
        yield Problem(RULE, f"{lead}: {problem.message}" if lead else problem.message, problem.span, problem.notes)
