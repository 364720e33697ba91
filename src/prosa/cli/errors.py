"""The only place where exceptions become messages and exit statuses (style 12).

In: an exception of a command. Out: lines on stderr and 0, 1 or 2 (130 after Ctrl-C, 143 after SIGTERM). Bad input
never shows a traceback; ``--debug`` or ``PROSA_DEBUG`` shows one for internal errors and those of the system. A command
that prints JSON collects its errors, and ends with one line for all of them (X43).
"""

from __future__ import annotations

from prosa.cli.console import Finished, PipeClosed

TYPE_CHECKING = False  # help loads no `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from prosa.cli.console import Console
    from prosa.runtime.errors import ProgramRefused
    from prosa.source import FileProblem

OK, FAILED, WRONG_USE = 0, 1, 2
# The convention of shells: 128 plus the number of the signal, here SIGINT.
SIGNALLED, INTERRUPTED = 128, 130
DATA_FORMATS = ("json", "jsonl")


class Stopped(Exception):
    """A signal other than SIGINT ended the run, and everything that it had started has been ended with it."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by signal {number}")
        self.number = number


def guarded(console: Console, argv: Sequence[str], work: Callable[[], int]) -> int:
    """Run ``work`` and turns whatever it raises into an exit status. Only `SystemExit` passes through."""
    try:
        return work()
    except Finished:
        return OK
    except SystemExit:
        raise
    except BaseException as error:
        try:
            return report(error, console, debug=wants_debug(argv, console))
        except PipeClosed:
            return FAILED
    finally:
        end_with_failures(console, argv)


def words_of(error: BaseException) -> str:
    """Return why a run failed, in one line, for the summary and the events."""
    if isinstance(error, KeyboardInterrupt | Stopped):
        return "interrupted"
    text = getattr(error, "message", None) or str(error)
    return str(text) or type(error).__name__


def end_with_failures(console: Console, argv: Sequence[str] = ()) -> None:
    """Print the errors of a command that prints JSON, as one line, the last on stderr."""
    if console.failures:
        from prosa.cli.failures import as_line

        console.err(as_line(console.failures, argv))
        console.failures.clear()


def wants_data(argv: Sequence[str]) -> bool:
    """Return whether a command line asks for JSON, also one that is wrong elsewhere."""
    words = argv[: argv.index("--")] if "--" in argv else argv
    return any(
        word in (f"--format={form}", form) and (word != form or words[at - 1 : at] == ["--format"])
        for at, word in enumerate(words)
        for form in DATA_FORMATS
    )


def wants_debug(argv: Sequence[str], console: Console) -> bool:
    """Return whether tracebacks were requested."""
    flags = ("--debug", "-debug")
    return any(item in flags for item in argv) or console.environ.get("PROSA_DEBUG", "") not in ("", "0")


def report(error: BaseException, console: Console, *, debug: bool = False) -> int:
    """Say what happened on stderr and give the exit status."""
    from prosa.cli.parser import WrongUse

    error = _single(error)
    if isinstance(error, KeyboardInterrupt):
        return say(console, "interrupted", status=INTERRUPTED, cause=error, head="")
    if isinstance(error, Stopped):
        return say(console, str(error), status=SIGNALLED + error.number, cause=error, head="")
    if isinstance(error, WrongUse):
        return say(console, error.message, error.hint, status=WRONG_USE, cause=error)
    if debug and not _is_explained(error):
        console.err(_traceback(error), end="")
    return _known(error, console) or _internal(error, console)


def say(
    console: Console,
    message: str,
    hint: str = "",
    *,
    status: int = FAILED,
    cause: BaseException | str = "failed",
    head: str = "error: ",
) -> int:
    """Print ``error: message`` and an indented hint, and gives ``status`` back. ``cause`` is the error, or its code,
    for a command that prints JSON."""
    if console.failures is not None:
        from prosa.cli.failures import failure

        console.failures.append(failure(cause, message, hint))
        return status
    console.err(f"{head}{_plain(message)}")
    if hint:
        console.err("\n".join(f"  {line}" if line else "" for line in _plain(hint).splitlines()))
    return status


def _is_explained(error: BaseException) -> bool:
    """Return whether its own words say all there is to say: the input, the program or a service is at fault, not our
    code."""
    from prosa.corpus.errors import CorpusError
    from prosa.runtime.errors import RunError
    from prosa.source import FileProblem

    return isinstance(error, RunError | FileProblem | CorpusError)


def _known(error: BaseException, console: Console) -> int:
    """Return the status for errors that the product raises on purpose, 0 when this is none of them."""
    from prosa.corpus.errors import CorpusError, UnknownDocument
    from prosa.runtime.errors import (
        AgreementRequired,
        BatchRefused,
        PriceUnknown,
        ProgramRefused,
        RowsRefused,
        RunError,
    )
    from prosa.source import FileProblem

    if isinstance(error, AgreementRequired) and console.failures is None:
        # The two paragraphs of the specification, as they stand there (L41).
        console.err(f"\n{_plain(error.message)}\n\n{_plain(error.hint)}")
        return FAILED
    if isinstance(error, ProgramRefused) and console.failures is None:
        return _refused(error, console)
    if isinstance(error, RunError | CorpusError):
        refused = isinstance(error, PriceUnknown | RowsRefused | BatchRefused | UnknownDocument)
        wrong = refused or (isinstance(error, RunError) and error.is_wrong_use)
        return say(console, error.message, error.hint, status=WRONG_USE if wrong else FAILED, cause=error)
    if isinstance(error, FileProblem):
        status = FAILED if error.kind == "changed" else WRONG_USE
        return say(console, str(error), _nearest_file(error), status=status, cause=error)
    if isinstance(error, FileNotFoundError) and error.filename is None and _is_nowhere():
        return say(console, "the current folder no longer exists", "go to another one: cd", cause=error)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return say(console, f"{where}{error.strerror or error}", cause=error)
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("prosa"):
        from prosa.extras import line_for_module

        message = f"this needs the library `{error.name}`, which is not installed"
        return say(console, message, line_for_module(error.name), status=WRONG_USE, cause=error)
    if isinstance(error, MemoryError):
        return say(console, "not enough memory", cause=error)
    return OK


def _is_nowhere() -> bool:
    """Return whether the current folder is gone. A socket that is not there and a machine without a folder for
    temporary files raise the same error, without a name."""
    from pathlib import Path

    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _nearest_file(problem: FileProblem) -> str:
    """Return the file that may have been meant by one that is missing, as a hint."""
    from prosa.app.text_files import nearest_file

    near = nearest_file(problem.path) if problem.kind == "missing" else None
    return f"did you mean {near}?" if near and near != problem.path else ""


def _refused(error: ProgramRefused, console: Console) -> int:
    """Return a program with errors: every one of them, as `prosa check` shows it."""
    from prosa.render.text import render_text

    console.err(render_text(error.diagnostics, color=console.color_err))
    return say(console, error.outcome, error.hint)


def _internal(error: BaseException, console: Console) -> int:
    """Report an internal error in one line with its place, so that a report is useful even without the traceback."""
    from prosa.diagnostics.crash import crash_words

    message = f"internal error: {crash_words(error)}"
    about = "This is a fault of Prosa. Please report it with what --debug prints."
    return say(console, message, about, cause="internal")


def _single(error: BaseException) -> BaseException:
    """Return the first real error inside groups that task groups build; an interrupt anywhere in them wins."""
    while isinstance(error, BaseExceptionGroup):
        stops = error.subgroup(KeyboardInterrupt)
        error = (stops or error).exceptions[0]
    return error


def _plain(text: str) -> str:
    """Return the text, line by line, without characters that a terminal would obey: names and values come from
    anywhere."""
    from prosa.render.plain import safe

    return "\n".join(map(safe, text.split("\n")))


def _traceback(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error))
