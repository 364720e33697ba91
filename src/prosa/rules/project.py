"""The settings of a project for the rules: the content of the file, and the rules and dialects it names.

In: the text of `prosa.toml` or `pyproject.toml`. Out: the valid `Settings`, and a problem for each mistake at its
line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from prosa.diagnostics import Diagnostic, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DIALECTS
from prosa.rules.registry import is_selector, names_and_codes
from prosa.rules.severity import Policy, diagnosed, ordered
from prosa.settings.model import Settings
from prosa.settings.read import key_spans, read_project_settings, span_of
from prosa.source import SourceText


def read_project(text: str, name: str) -> tuple[Settings, tuple[Problem, ...]]:
    """Return the settings in the file called ``name``, and their problems."""
    settings, problems = read_project_settings(text, name)
    mistakes = tuple(_mistakes(settings, text, ("tool", "prosa") if name.endswith("pyproject.toml") else ()))
    if not mistakes:
        return settings, problems
    readable = tuple(pair for pair in settings.dialects if _is_dialect(pair[1]))
    per_glob = tuple(
        replace(each, select=_known(each.select), ignore=_known(each.ignore)) for each in settings.per_glob
    )
    known = replace(
        settings, select=_known(settings.select), ignore=_known(settings.ignore), dialects=readable, per_glob=per_glob
    )
    return known, (*problems, *mistakes)


def project_diagnostics(source: SourceText) -> tuple[Settings, tuple[Diagnostic, ...]]:
    """Return the diagnostics of the settings in a file. No project may turn these off."""
    settings, problems = read_project(source.text, source.path)
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
    for each in settings.per_glob:
        yield ("per-glob", each.glob, "select"), each.select
        yield ("per-glob", each.glob, "ignore"), each.ignore


def _known(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(is_selector, names))


def _is_dialect(name: str) -> bool:
    return any(row.name == name for row in DIALECTS)
