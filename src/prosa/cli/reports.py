"""The results of a check in formats for editors, build servers and code hosts: one on stdout, others in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from prosa.cli.parser import WrongUse
from prosa.diagnostics import Diagnostic
from prosa.diagnostics.nearest import nearest

Report: TypeAlias = Callable[[Sequence[Diagnostic], Sequence[str], str], str]
"""Returns the text for the findings, the paths of all checked documents, and the address of the documentation."""


def _json(found: Sequence[Diagnostic], paths: Sequence[str], _: str) -> str:
    from prosa.render.json import render_json

    return render_json(found, len(paths))


def _jsonl(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.json import render_jsonl

    return render_jsonl(found)


def _sarif(found: Sequence[Diagnostic], _: Sequence[str], documentation: str) -> str:
    from prosa import __version__
    from prosa.render.formats import render_sarif

    return render_sarif(found, __version__, documentation)


def _junit(found: Sequence[Diagnostic], paths: Sequence[str], _: str) -> str:
    from prosa.render.formats import render_junit

    return render_junit(found, paths)


def _github(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.formats import render_github

    return render_github(found)


def _gitlab(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.formats import render_gitlab

    return render_gitlab(found)


def _azure(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.formats import render_azure

    return render_azure(found)


def _rdjsonl(found: Sequence[Diagnostic], _: Sequence[str], documentation: str) -> str:
    from prosa.render.formats import render_rdjsonl

    return render_rdjsonl(found, documentation)


def _checkstyle(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.formats import render_checkstyle

    return render_checkstyle(found)


def _markdown(found: Sequence[Diagnostic], paths: Sequence[str], _: str) -> str:
    from prosa.render.formats import render_markdown

    return render_markdown(found, len(paths))


def _text(found: Sequence[Diagnostic], _: Sequence[str], __: str) -> str:
    from prosa.render.text import render_text

    return render_text(found)


REPORTS: dict[str, Report] = {
    "text": _text,
    "json": _json,
    "jsonl": _jsonl,
    "sarif": _sarif,
    "github": _github,
    "junit": _junit,
    "gitlab": _gitlab,
    "azure": _azure,
    "rdjsonl": _rdjsonl,
    "checkstyle": _checkstyle,
    "markdown": _markdown,
}
"""The formats by name; each loads its modules on first use."""

LINKED = frozenset({"sarif", "rdjsonl"})
"""The formats that lead to pages of rules."""


def report_files(asked: Sequence[str]) -> tuple[tuple[str, Path], ...]:
    """Return the files of `--report FORMAT=FILE`. Raises `WrongUse`."""
    return tuple(map(_report_file, asked))


def _report_file(text: str) -> tuple[str, Path]:
    form, equals, name = text.partition("=")
    if form not in REPORTS:
        guess = nearest(form, list(REPORTS))
        hint = f"did you mean {guess}?" if guess else f"the formats are {', '.join(REPORTS)}"
        raise WrongUse(f"--report: there is no format {form!r}", hint=hint)
    if not equals or not name:
        raise WrongUse(f"--report {text}: no file is named", hint=f"write --report {form}=FILE")
    return form, Path(name)


def write_reports(
    files: Sequence[tuple[str, Path]], found: Sequence[Diagnostic], paths: Sequence[str], documentation: str
) -> None:
    """Write the files, each whole or not at all. Raises `OSError`."""
    if not files:
        return
    from prosa.app.text_files import write_output  # only here: most checks write no file

    for form, path in files:
        text = REPORTS[form](found, paths, documentation)
        write_output(path, f"{text}\n" if text else "")
