"""What a move was about to write, kept beside the index until it is done: who is killed in between can finish.

In: a plan. Out: the same plan, after whatever happened. One file for each corpus in the user's private cache (X10); a
file that cannot be read counts as none, for the move can be planned anew from what the documents say.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prosa.adapters.files import cache_dir, private_dir, replace_file
from prosa.corpus.moves import Change, Move, Plan
from prosa.source import Edit, SourceText, Span


@dataclass(frozen=True, slots=True)
class Journal:
    """The one of the corpus below ``root``."""

    path: Path
    root: Path

    @classmethod
    def of(cls, root: Path, environ: Mapping[str, str]) -> Journal:
        """The journal of a corpus. Raises `OSError` where the cache is no private place."""
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:32]
        return cls(private_dir(cache_dir(environ) / "moves") / f"{name}.json", root)

    def write(self, plan: Plan) -> None:
        """Keeps a plan. Raises `OSError`."""
        move = plan.move
        changes = [_object(change) for change in (*plan.others, plan.moved)]
        kept = {"move": [move.path, move.new_path, move.old_id, move.new_id], "changes": changes}
        replace_file(self.path, json.dumps(kept), private=True)

    def read(self) -> Plan | None:
        """The plan that was kept, without its notes; None where there is none."""
        try:
            kept = json.loads(self.path.read_text("utf-8"))
            *others, moved = (_change(each, self.root) for each in kept["changes"])
            return Plan(Move(*kept["move"]), moved, tuple(others), ())
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def remove(self) -> None:
        """Forgets the plan."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)


def _object(change: Change) -> dict[str, Any]:
    return {
        "path": change.path,
        "new_path": change.new_path,
        "before": change.before.text,
        "digest": change.before.digest,
        "after": change.after,
        "edits": [(each.span.start, each.span.end, each.replacement) for each in change.edits],
    }


def _change(kept: Mapping[str, Any], root: Path) -> Change:
    before = SourceText(kept["before"], str(root / kept["path"]), kept["digest"])
    edits = tuple(Edit(Span(start, end), text) for start, end, text in kept["edits"])
    return Change(kept["path"], kept["new_path"], before, kept["after"], edits)
