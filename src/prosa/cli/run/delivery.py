"""Shared output of commands that run something: a result on stdout or in a file, and JSON.

In: values. Out: text. A result that could not be written is printed, so that it is not lost.
"""

from __future__ import annotations

import os
from pathlib import Path

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.data import Plain, Value


def require_writable(output: Path | None) -> None:
    """Refuse what would only fail once the run has been paid for. Raises `WrongUse`."""
    if output is None:
        return
    folder = output.absolute().parent
    if not folder.is_dir():
        raise WrongUse(f"--output {output}: the folder {output.parent} does not exist")
    if output.is_dir():
        raise WrongUse(f"--output {output}: is a folder; name a file in it")
    if not os.access(output if output.exists() else folder, os.W_OK):
        raise WrongUse(f"--output {output}: may not be written (permission denied)")


def deliver(console: Console, value: Value, output: Path | None, *, as_text: bool = False) -> None:
    """Print the result as JSON, or write it atomically into a file; if that fails, print it, so that it is not lost.
    ``as_text`` writes a text unchanged."""
    text = value.removesuffix("\n") if as_text and isinstance(value, str) else as_json(value)
    if output is None:
        console.out(text)
        return
    from prosa.app.text_files import write_output
    from prosa.runtime.errors import RunError

    try:
        write_output(output, f"{text}\n")
    except OSError as error:
        console.out(text)
        message = f"--output {output}: {error.strerror or error}"
        raise RunError(message, hint="the result is printed instead, so that it is not lost") from None


def as_json(value: Plain) -> str:
    """Return JSON as this command prints it: indented, keys in the order given, nothing escaped that need not be."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)
