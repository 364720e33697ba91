"""What is refused before a script runs: flags that contradict each other, no trust, what cannot be written (X7, MA12).

In: a loaded document and the choice. Out: nothing, or the error with the way on.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.runtime.errors import RunError

if TYPE_CHECKING:
    from prosa.adapters.files.trust_store import TrustStore
    from prosa.cli.script_loading import Loaded


def require_sense(args: argparse.Namespace, found: Loaded) -> None:
    """Refuses flags that contradict each other."""
    from prosa.cli.run import require_writable

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


def is_trusted(found: Loaded, console: Console) -> bool:
    """Whether the user trusts whoever says what runs by itself. Raises `RunError` for a record nobody can rely on."""
    source = found.file.trusted_source
    return _trust(console).trusts(Path(source.path), source.digest)


def _trust(console: Console) -> TrustStore:
    from prosa.adapters.files import config_dir
    from prosa.adapters.files.trust_store import TrustStore

    return TrustStore(config_dir(console.environ))


def require_trust(found: Loaded, console: Console) -> None:
    """X7: that a document asks to run by itself is a wish; who trusts it decides."""
    if not found.choice.auto or is_trusted(found, console):
        return
    source = found.file.trusted_source
    changed = _trust(console).knows(Path(source.path))
    message = f"{source.path} was changed since you trusted it" if changed else f"{source.path} is not trusted"
    hint = f"read it, then run: prosa trust {source.path}\nor choose what runs: --script ID…, --all"
    raise RunError(f"{message}, so nothing in it runs by itself", hint=hint)


def require_named(found: Loaded) -> None:
    """What was named and does not run is told before anything does."""
    for row in found.rows:
        if not found.choice.ids or row.kind in ("runs", "not-chosen", "result"):
            continue
        message = f"`{row.script.address}` was not run: {row.why}"
        if row.kind == "environment":
            env = row.script.fields.text("runtime-env")
            raise WrongUse(message, hint=f"to run it here all the same: --env {env}")
        if row.kind == "text":
            raise WrongUse(message)
        raise RunError(message, hint=f"run: prosa check {found.file.path}" if row.kind == "error" else "")
