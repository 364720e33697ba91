"""The results of a check in formats for editors, build servers and code hosts: one on stdout, others in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import Struct

from prosa.cli.parser import WrongUse
from prosa.diagnostics import Diagnostic
from prosa.diagnostics.nearest import nearest


class Reported(Struct, frozen=True):
    """What a check has to report: the findings, the paths of all checked documents, and the address of the
    ``documentation``. Under a baseline ``found`` are the new findings, ``known`` those in it, and ``stale`` counts its
    entries for which nothing was found; else ``stale`` is None."""

    found: Sequence[Diagnostic]
    paths: Sequence[str]
    documentation: str = ""
    known: Sequence[Diagnostic] = ()
    stale: int | None = None


Report: TypeAlias = Callable[[Reported], str]


def _json(it: Reported) -> str:
    from prosa.render.json import render_json

    baseline = None if it.stale is None else {"known": len(it.known), "stale": it.stale}
    return render_json(it.found, len(it.paths), baseline)


def _jsonl(it: Reported) -> str:
    from prosa.render.json import render_jsonl

    return render_jsonl(it.found)


def _sarif(it: Reported) -> str:
    from prosa import __version__
    from prosa.render.formats import render_sarif

    return render_sarif(it.found, __version__, it.documentation, it.known if it.stale is not None else None)


def _junit(it: Reported) -> str:
    from prosa.render.formats import render_junit

    return render_junit(it.found, it.paths)


def _github(it: Reported) -> str:
    from prosa.render.formats import render_github

    return render_github(it.found)


def _gitlab(it: Reported) -> str:
    from prosa.render.formats import render_gitlab

    return render_gitlab(it.found)


def _azure(it: Reported) -> str:
    from prosa.render.formats import render_azure

    return render_azure(it.found)


def _rdjsonl(it: Reported) -> str:
    from prosa.render.formats import render_rdjsonl

    return render_rdjsonl(it.found, it.documentation)


def _checkstyle(it: Reported) -> str:
    from prosa.render.formats import render_checkstyle

    return render_checkstyle(it.found)


def _markdown(it: Reported) -> str:
    from prosa.render.formats import render_markdown

    return render_markdown(it.found, len(it.paths))


def _text(it: Reported) -> str:
    from prosa.render.text import render_text

    return render_text(it.found)


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


def write_reports(files: Sequence[tuple[str, Path]], reported: Reported) -> None:
    """Write the files, each whole or not at all. Raises `OSError`."""
    if not files:
        return
    from prosa.app.text_files import write_output  # only here: most checks write no file

    for form, path in files:
        text = REPORTS[form](reported)
        write_output(path, f"{text}\n" if text else "")
