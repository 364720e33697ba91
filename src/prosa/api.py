"""The Python interface: `prosa.load`, `check`, `run`, `arun`. A surface like the command line, for programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from prosa import app
from prosa.app import Choices, RunResult, Surroundings
from prosa.diagnostics import Diagnostic
from prosa.dialects.dialect import DialectName
from prosa.dialects.markdownlang import ProgramModel
from prosa.runtime.events import Listener, ignore
from prosa.runtime.ports import Provider
from prosa.runtime.program import Program
from prosa.source import SourceText

MAX_PATH = 4096
"""Characters of a path on every system; a longer line is a text."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document as `load` reads it.

    ``front_matter`` is plain data or None; ``model`` the typed reading where the dialect has one; ``diagnostics`` what
    a check of this document alone says.
    """

    source: SourceText
    dialect: DialectName
    front_matter: dict[str, Any] | None
    model: ProgramModel | None
    diagnostics: tuple[Diagnostic, ...]


def load(path_or_text: str | Path, dialect: DialectName | None = None) -> Document:
    """Reads a document: a `Path`, one line that names a file or ends like one (`.md`), or else the text itself.

    Never fails for what the text says; a path that cannot be read raises `prosa.source.FileProblem`.
    """
    from prosa.adapters.files import RootedFiles, find_root
    from prosa.rules.engine import check_documents, check_text

    path = _path_of(path_or_text)
    if path is None:
        checked = check_text(SourceText(str(path_or_text)), dialect=dialect)
    else:
        files = RootedFiles(find_root(path))
        files.read(path)
        checked = check_documents([path], files, dialect=dialect)
    found = checked.documents[0]
    front = found.front
    model = found.program.model if found.program else None
    return Document(front.source, found.dialect, found.reading.front_matter, model, checked.of(front.source))


def check(
    paths: str | Path | Iterable[str | Path],
    *,
    dialect: DialectName | None = None,
    strict: bool | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    root: str | Path | None = None,
) -> list[Diagnostic]:
    """The diagnostics of documents and of what they import, in reading order. Folders are walked like `prosa check`."""
    from prosa.adapters.files import RootedFiles, find_root
    from prosa.adapters.files.walk import documents_in
    from prosa.dialects.table import DOCUMENT_SUFFIXES
    from prosa.rules.engine import check_documents

    given = [Path(each) for each in ([paths] if isinstance(paths, str | Path) else paths)]
    if not given:
        return []
    files = RootedFiles(Path(root) if root is not None else find_root(given[0]))
    checked = check_documents(
        documents_in(given, DOCUMENT_SUFFIXES, files),
        files,
        dialect=dialect,
        strict=strict,
        select=tuple(select),
        ignore=tuple(ignore),
    )
    return list(checked.diagnostics)


def run(path_or_program: str | Path | Program, input: Any = None, **options: Any) -> RunResult:  # noqa: A002
    """`arun` for code that is not asynchronous. Raises RuntimeError inside a running event loop: use `arun` there."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(arun(path_or_program, input, **options))
    raise RuntimeError("prosa.run cannot be called while an event loop is running; await prosa.arun instead")


async def arun(
    path_or_program: str | Path | Program,
    input: Any = None,  # noqa: A002 - the name of the interface
    *,
    model: str | None = None,
    provider: Provider | None = None,
    base_url: str | None = None,
    api_key: str | None = None,
    api: Literal["chat", "responses"] | None = None,
    max_iterations: int | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    root: str | Path | None = None,
    listener: Listener = ignore,
    environ: Mapping[str, str] | None = None,
) -> RunResult:
    """Runs a program and gives its validated output and the summary.

    ``input`` is plain JSON data, ``{}`` when left out. ``provider`` replaces the model service, as with
    `prosa.testing.ScriptedProvider`. ``timeout`` is wall clock in seconds, ``root`` keeps imports inside a folder.
    ``listener`` hears the events. What a person should know is logged to the logger ``prosa``.

    Raises `RunError`, `AgreementRequired` among them (L41), and `prosa.source.FileProblem`.
    """
    from prosa.adapters.files.agreement_store import check_agreement

    environ = os.environ if environ is None else environ
    choices = Choices(
        model=model,
        base_url=base_url,
        api_key=api_key,
        api=api,
        iterations=max_iterations,
        retries=retries,
        wall_clock=timeout,
        root=Path(root) if root is not None else None,
    )
    if isinstance(path_or_program, Program):
        around = Surroundings(environ, app.settings_for(None, environ, _log), _log)
        program = path_or_program
    else:
        path = Path(path_or_program)
        around = Surroundings(environ, app.settings_for(path, environ, _log), _log)
        program = app.load_program(path, choices, around.settings)
    check_agreement(environ)
    given = {} if input is None else input
    return await app.run_program(program, given, choices, around, listener=listener, provider=provider)


def _log(text: str) -> None:
    import logging

    logging.getLogger("prosa").warning("%s", text)


def _path_of(given: str | Path) -> Path | None:
    if isinstance(given, Path):
        return given
    from prosa.dialects.table import DOCUMENT_SUFFIXES

    if "\n" in given or len(given) > MAX_PATH or not given:
        return None
    path = Path(given)
    try:
        return path if path.exists() or path.suffix in DOCUMENT_SUFFIXES else None
    except (OSError, ValueError):
        return None
