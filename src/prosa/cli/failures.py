"""Errors as data (X43): under `--format json` and `jsonl` one line of JSON, the last on stderr.

In: the errors of a command, and its arguments. Out: that line. `CODES` is the one table of codes, which
`docs/commands.md` repeats; an error of a class that is not in it has the code of the class above.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Failure(NamedTuple):
    """One error of a command. ``retry`` says whether the same command may succeed later; a number is the seconds to
    wait first."""

    error: str
    message: str
    hint: str = ""
    retry: bool | float = False


class ErrorCode(NamedTuple):
    """What a code means, whether the same command may succeed later, and the classes of errors that have it."""

    meaning: str
    retry: bool = False
    classes: str = ""


CODES: dict[str, ErrorCode] = {
    "wrong-use": ErrorCode("the command line is wrong", classes="WrongUse MoveRefused FollowProblem"),
    "file-missing": ErrorCode("a named file or folder does not exist"),
    "file-not-a-file": ErrorCode("a file is needed, and a folder or something else was named"),
    "file-outside-root": ErrorCode("a file lies outside the folder that may be read"),
    "file-unreadable": ErrorCode("a file cannot be read", classes="FileProblem"),
    "file-not-utf-8": ErrorCode("a file is not text in UTF-8"),
    "file-too-large": ErrorCode("a file is larger than `--max-size`"),
    "file-changed": ErrorCode("a file changed during the command, which did not write to it", retry=True),
    "not-written": ErrorCode("a file was left as it is", classes="NotWritten"),
    "system": ErrorCode("the operating system refused: permissions, space, memory", classes="OSError MemoryError"),
    "library-missing": ErrorCode("an optional library is not installed", classes="ModuleNotFoundError"),
    "unknown-document": ErrorCode("a corpus has no such document, or several", classes="UnknownDocument"),
    "query-refused": ErrorCode("an SQL query is wrong or not allowed", classes="QueryRefused"),
    "index-unusable": ErrorCode("the index cannot be read or written", retry=True, classes="IndexProblem CorpusError"),
    "embedding-failed": ErrorCode("no vectors could be made", classes="EmbeddingError"),
    "program-refused": ErrorCode("a program or a document has errors; `check` lists them", classes="ProgramRefused"),
    "agreement-required": ErrorCode("a person has to accept the agreement", classes="AgreementRequired"),
    "not-trusted": ErrorCode("a person has to trust the document", classes="NotTrusted"),
    "input-refused": ErrorCode("the input does not satisfy its schema", classes="InputRefused TemplateRefused"),
    "output-refused": ErrorCode("the model gave no valid answer", retry=True, classes="OutputRefused"),
    "answer-cut": ErrorCode("an answer was cut off at its length limit", classes="AnswerCut"),
    "limit-exceeded": ErrorCode("a limit of time, depth or size was reached", classes="LimitExceeded"),
    "budget-spent": ErrorCode("what is left of the budget is too little", classes="BudgetSpent"),
    "price-unknown": ErrorCode("a budget was given, and the price of the model is unknown", classes="PriceUnknown"),
    "provider-auth": ErrorCode("the model service refused the key, or there is none"),
    "provider-bad-request": ErrorCode("the model service refused the request"),
    "provider-rate-limit": ErrorCode("the model service asks for a pause", retry=True),
    "provider-server": ErrorCode("the model service failed", retry=True),
    "provider-network": ErrorCode("the model service cannot be reached", retry=True),
    "provider-timeout": ErrorCode("the model service did not answer in time", retry=True),
    "provider-malformed": ErrorCode("the model service sent an answer that cannot be read", classes="ProviderError"),
    "provider-missing": ErrorCode("the model, or the service, does not exist or is not set"),
    "server-failed": ErrorCode("an MCP server does not start", classes="ToolServerError"),
    "login-failed": ErrorCode("a login at an MCP server cannot be made or ended", classes="LoginError"),
    "site-failed": ErrorCode("a site gives no usable answer", classes="SiteError HttpProblem PageProblem NoSite"),
    "request-refused": ErrorCode("an action cannot be called like this", classes="RequestError"),
    "not-sent": ErrorCode("a request was not sent"),
    "recording-unusable": ErrorCode("a recording cannot be used or written", classes="CassetteProblem"),
    "replay-drift": ErrorCode("a call differs from the recording", classes="ReplayDrift"),
    "sandbox-unusable": ErrorCode("the sandbox cannot work here", classes="SandboxError BoxRefused"),
    "store-unusable": ErrorCode("the store of runs cannot be used", classes="StoreProblem Unwritable"),
    "store-busy": ErrorCode("another process holds it", retry=True, classes="TakenOver BatchesHeld FolderBusy"),
    "rows-refused": ErrorCode("the rows of a batch cannot be read", classes="RowsRefused"),
    "batch-refused": ErrorCode("a batch cannot begin or continue", classes="BatchRefused"),
    "mail-refused": ErrorCode("a mailbox or a message cannot be used", classes="MailRefused"),
    "in-doubt": ErrorCode("a tool call may have been made already", classes="InDoubt"),
    "run-unusable": ErrorCode("a run does not exist, or cannot continue", classes="NotResumed"),
    "agent-refused": ErrorCode(
        "a coding agent cannot be used", classes="AgentRefused AgentMissing WorkspaceProblem OutputTooLong"
    ),
    "failed": ErrorCode("something else that the message names", classes="RunError ProsaError"),
    "interrupted": ErrorCode("ended by Ctrl-C, or by the answer no", classes="KeyboardInterrupt"),
    "stopped": ErrorCode("ended by a signal, or early for the reason in the message", classes="Stopped"),
    "internal": ErrorCode("a fault of Prosa", classes="BaseException"),
}
"""The codes that errors have in JSON."""

BY_CLASS = {name: code for code, entry in CODES.items() for name in entry.classes.split()}

OF_A_PERSON = frozenset({"agreement-required", "not-trusted", "budget-spent", "interrupted", "stopped", "in-doubt"})
"""Codes without a ``fix``: a person decides what comes next."""

_GUESS, _PROGRAMS = "did you mean ", ("prosa ", "markdownlang ")
_NOT_INSTALLED = "which is not installed"


def failure(cause: BaseException | str, message: str, hint: str = "") -> Failure:
    """Return the failure of an error, or of a ``cause`` that is a code."""
    code = cause if isinstance(cause, str) else getattr(cause, "failure", "") or code_of(cause)
    if message.endswith(_NOT_INSTALLED):
        code = "library-missing"
    after = getattr(cause, "retry_after", None)
    again = getattr(cause, "retryable", None)
    if again is None:
        again = getattr(cause, "again", "never") == "always" or CODES[code].retry
    return Failure(code, message, hint, (after or True) if again else False)


def code_of(error: BaseException) -> str:
    """Return the code of an error: the one of its class, or of the nearest class above."""
    kind = getattr(error, "kind", "")
    names = [base.__name__ for base in type(error).__mro__]
    for prefix, name in (("file", "FileProblem"), ("provider", "ProviderError")):
        if name in names and f"{prefix}-{kind}" in CODES:
            return f"{prefix}-{kind}"
    return next(BY_CLASS[name] for name in names if name in BY_CLASS)


def as_line(failures: Sequence[Failure], argv: Sequence[str]) -> str:
    """Return the line for the errors of one command: the code of the first, and the messages of all."""
    first = failures[0]
    whole = {
        "error": first.error,
        "message": "\n".join(problem.message for problem in failures),
        "hint": "\n".join(_hints(failures)) or None,
        "fix": _fix(first, argv) or None,
        "retry": first.retry,
    }
    from prosa.render.json import dump

    return dump(whole)


def _hints(failures: Iterable[Failure]) -> Iterable[str]:
    return dict.fromkeys(problem.hint for problem in failures if problem.hint)


def _fix(first: Failure, argv: Sequence[str]) -> str:
    """Return a command line that mends the error or explains it; empty where only a person can decide."""
    if first.error in OF_A_PERSON:
        return ""
    guess = next((line.removeprefix(_GUESS)[:-1] for line in first.hint.splitlines() if line.startswith(_GUESS)), "")
    if guess and " or " not in guess:
        return _replaced(first.message, guess, argv)
    return next(filter(None, map(_command_in, first.hint.splitlines())), "")


def _command_in(line: str) -> str:
    """Return the command line behind the head of a hint, such as `see: `; empty for an example, for one with words to
    fill in, and where there is none."""
    head, colon, command = line.partition(": ")
    command = command.rstrip(".")
    is_example = head in ("as in", "for example")
    if not colon or is_example or not command.startswith(_PROGRAMS) or any(char in command for char in ";`…"):
        return ""
    return "" if any(word.isupper() and len(word) > 1 for word in command.split()) else command


def _replaced(message: str, near: str, argv: Sequence[str]) -> str:
    """Return the command line with ``near`` in the place of the word that the message is about."""
    from prosa.diagnostics.nearest import nearest

    words = [part for word in argv for part in (word, *word.partition("=")[::2]) if part and part in message]
    wrong = nearest(near, words)
    if wrong is None:
        return ""
    at = next(place for place, word in enumerate(argv) if wrong in (word, *word.partition("=")[::2]))
    return shlex.join(("prosa", *argv[:at], argv[at].replace(wrong, near, 1), *argv[at + 1 :]))
