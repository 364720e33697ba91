"""`include FILE` and `include.code FILE [LANGUAGE]`: a file into a message (PA11, PW3).

In: the call of a command. Out: the text of the file, or a fence around it that no line of it can close. A path is
relative to the file that names it and stays inside the allowed roots. What is included is data: nothing in it is a
heading, and its configuration lines are text unless the user says that they are to be carried out.
"""

from __future__ import annotations

import re
from pathlib import Path

from prosa.dialects.prapti.commands import MAX_OUTPUT, Call, Outcome
from prosa.dialects.prapti.references import included
from prosa.source import FileProblem, SourceText

MAX_DEPTH = 16
"""Files that include files, in a row: the depth of imports (X9)."""

_RUN = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[\w+#.-]{1,32}")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def include(call: Call) -> Outcome:
    """The text of a file."""
    found = _read(call)
    return found if isinstance(found, Outcome) else Outcome(_plain(found), included=found if call.follows else None)


def include_code(call: Call) -> Outcome:
    """The text of a file in a fence; the language is named, or the suffix of the file."""
    found = _read(call)
    if isinstance(found, Outcome):
        return found
    target = included(call.line)
    rest = call.line.args[call.line.args.find(target[0]) + len(target[0]) :].lstrip('"').split() if target else []
    language = rest[0] if rest else Path(found.path).suffix.lstrip(".")
    if language and not _LANGUAGE.fullmatch(language):
        return Outcome(
            problem=f"`{language[:32]}` is no language for a fence", note="write `% include.code FILE python`"
        )
    return Outcome(fenced(_plain(found), language))


def fenced(text: str, language: str = "") -> str:
    """A text in a fence that is longer than any run of backticks in it."""
    mark = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{mark}{language}\n{text}\n{mark}" if text else f"{mark}{language}\n{mark}"


def _read(call: Call) -> SourceText | Outcome:
    target = included(call.line)
    if target is None:
        return Outcome(problem=f"`{call.line.name}` names no file", note=f'write `% {call.line.name} "FILE"`')
    path = Path(call.source.path).parent / target[0]
    try:
        source = call.files.read(path)
    except FileProblem as problem:
        note = "a path is relative to the file that names it"
        why = "there is no such file" if problem.kind == "missing" else f"it {problem.reason}"
        return Outcome(problem=f"`{target[0]}` is not included: {why}", note=note)
    if len(source.text) > MAX_OUTPUT:
        size = f"it has {len(source.text):,} characters; the limit is {MAX_OUTPUT:,}"
        return Outcome(problem=f"`{target[0]}` is not included: {size}")
    return source


def _plain(source: SourceText) -> str:
    """The text with plain line feeds, without a byte-order mark and without blank lines at its end."""
    return _LINE_BREAK.sub("\n", source.text.removeprefix("\ufeff")).rstrip("\n")
