"""Exceptions become words and exit statuses in one place, never a traceback (L41, X7)."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from prosa.adapters.files import FileChanged, UnsafePlace
from prosa.cli.console import PipeClosed
from prosa.cli.errors import guarded, report
from prosa.cli.parser import HelpShown, WrongUse
from prosa.diagnostics import Diagnostic, Severity
from prosa.runtime.errors import (
    AgreementRequired,
    InputRefused,
    LimitExceeded,
    OutputRefused,
    ProgramRefused,
    ProviderError,
    SandboxError,
    ToolServerError,
)
from prosa.source import FileProblem, SourceText, Span
from tests.cli.desk import desk

DIAGNOSTIC = Diagnostic("ML001", "bad", Severity.ERROR, "is bad", SourceText("ab\ncd", "a.md"), Span(3, 4))


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (WrongUse("no", hint="see: prosa x --help"), 2, "error: no\n  see: prosa x --help\n"),
        (AgreementRequired("Not yet.", hint="To accept, run: this"), 1, "\nNot yet.\n\nTo accept, run: this\n"),
        (InputRefused("/n: not a number", hint="see --help"), 1, "error: /n: not a number\n  see --help\n"),
        (OutputRefused("no valid output in 10 iterations"), 1, "error: no valid output in 10 iterations\n"),
        (LimitExceeded("more than 600 s"), 1, "error: more than 600 s\n"),
        (ProviderError("no key", kind="missing", retryable=False, hint="a\n\nb"), 1, "error: no key\n  a\n\n  b\n"),
        (ToolServerError("server x does not start"), 1, "error: server x does not start\n"),
        (SandboxError("no wasm here"), 1, "error: no wasm here\n"),
        (FileProblem(Path("a.md"), "missing", "no such file"), 2, "error: a.md: no such file\n"),
        (FileChanged(Path("a.md")), 1, f"error: {FileChanged(Path('a.md'))}\n"),
        (PermissionError(13, "Permission denied", "out.json"), 1, "error: out.json: Permission denied\n"),
        (OSError(28, "No space left on device"), 1, "error: No space left on device\n"),
        (FileNotFoundError(2, "No usable temporary directory found in ['/tmp']"), 1,
         "error: No usable temporary directory found in ['/tmp']\n"),
        (UnsafePlace("/c belongs to another user"), 1, "error: /c belongs to another user\n"),
        (MemoryError(), 1, "error: not enough memory\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (ExceptionGroup("g", [ExceptionGroup("h", [LimitExceeded("deep")])]), 1, "error: deep\n"),
        (BaseExceptionGroup("g", [LimitExceeded("x"), KeyboardInterrupt()]), 130, "interrupted\n"),
        (LimitExceeded("\x1b]0;title\x07\u202e"), 1, "error: \ufffd]0;title\ufffd\\u202e\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)  # fmt: skip
def test_l41_every_error_has_its_words_and_status(error: BaseException, status: int, words: str):
    at = desk()
    assert report(error, at.console) == status
    assert (at.out, at.err) == ("", words)


def test_l41_a_current_folder_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch):
    gone = FileNotFoundError(2, "No such file or directory")
    monkeypatch.setattr(os, "getcwd", Mock(side_effect=gone))
    at = desk()
    assert report(gone, at.console) == 1
    assert at.err == "error: the current folder no longer exists\n  go to another one: cd\n"


def test_a_refused_program_shows_every_error():
    second = Diagnostic("ML002", "worse", Severity.ERROR, "is worse", SourceText("ab", "b.md"), Span(0, 2))
    at = desk()
    assert report(ProgramRefused([DIAGNOSTIC, second]), at.console) == 1
    assert "a.md:2:1: ML001 error: is bad [bad]" in at.err and "b.md:1:1: ML002 error: is worse [worse]" in at.err
    assert at.err.endswith("error: the program has errors and was not run\n  run: prosa check a.md\n")


@pytest.mark.parametrize("ending", [HelpShown(), PipeClosed()])
def test_help_and_a_closed_pipe_are_no_errors(ending: Exception):
    def work() -> int:
        raise ending

    at = desk()
    assert guarded(at.console, [], work) == 0
    assert at.err == ""


@pytest.mark.parametrize(
    "error",
    [
        AgreementRequired("Not yet."),
        InputRefused("/n: not a number"),
        ProgramRefused([DIAGNOSTIC]),
        ProviderError("no key", kind="missing", retryable=False),
        FileProblem(Path("a.md"), "missing", "no such file"),
        ExceptionGroup("g", [LimitExceeded("deep")]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_words_explain_shows_no_traceback_even_with_debug(error: BaseException):
    plain, debugged = desk(), desk()
    assert report(error, plain.console) == report(error, debugged.console, debug=True)
    assert debugged.err == plain.err


def test_an_interrupt_shows_no_traceback_even_with_debug():
    at = desk()
    assert report(KeyboardInterrupt(), at.console, debug=True) == 130
    assert at.err == "interrupted\n"
