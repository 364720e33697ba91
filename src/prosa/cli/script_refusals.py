"""What is refused before a script runs: flags that contradict each other, no trust, what cannot be written (X7, MA12).

In: a loaded document and the choice. Out: nothing, or the error with the way on.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.app.scripts.choose import Selection


def require_sense(args: argparse.Namespace, found: Selection) -> None:
    """Refuses flags that contradict each other."""
    from prosa.cli.delivery import require_writable

    if found.file.beside is not None and (found.choice.writes or found.choice.stale):
        flag = "--stale" if found.choice.stale else "--write"
        raise WrongUse(f"{flag} needs blocks in the document, and --scripts takes them from {args.beside}")
    if found.choice.force and not found.choice.writes:
        raise WrongUse("--force is about results in the document: add --write or --stale")
    if args.output is not None and found.choice.writes:
        raise WrongUse("--output and --write are two places for one result: give one of them")
    require_writable(args.output)
    if found.choice.writes:
        _require_document_writable(args)


def _require_document_writable(args: argparse.Namespace) -> None:
    """Refuses what would only fail once the run has been paid for."""
    import os

    if not os.access(args.file, os.W_OK):
        raise RunError(
            f"{args.file} may not be written (permission denied)", hint="without --write results are printed"
        )


def require_trust(found: Selection, console: Console) -> None:
    """X7: that a document asks to run by itself is a wish; who trusts it decides."""
    from prosa.app.scripts.choose import NotTrusted
    from prosa.app.scripts.choose import require_trust as require

    if not found.choice.auto:
        return
    try:
        require(found.file, console.environ)
    except NotTrusted as error:
        hint = f"{error.hint}\nor choose what runs: --script ID…, --all"
        raise NotTrusted(error.message, hint=hint) from None


def require_named(found: Selection) -> None:
    """What was named and does not run is told before anything does."""
    from prosa.app.scripts.choose import ScriptNotRun

    try:
        found.require_named()
    except ScriptNotRun as error:
        if error.kind == "environment":
            env = error.script.fields.text("runtime-env")
            raise WrongUse(error.message, hint=f"to run it here all the same: --env {env}") from None
        if error.kind == "text":
            raise WrongUse(error.message) from None
        raise
