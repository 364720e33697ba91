"""The plan of a move, as a diff for people and as JSON for programs. In: a plan. Out: text."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.corpus.moves import Change, Note, Plan
from prosa.data import Value
from prosa.render.diff import render_diff
from prosa.render.plain import safe


def render_move(plan: Plan) -> str:
    """Return the diff of every document, the moved one last and under both its names. Ends with a line end."""
    parts = [render_diff(change.path, change.before.text, change.after) for change in plan.others]
    moved = plan.moved
    diff = render_diff(moved.path, moved.before.text, moved.after)
    if moved.path != moved.new_path:
        parts.append(f"rename from {safe(moved.path)}\nrename to {safe(moved.new_path)}\n")
        diff = diff.replace(f"+++ {moved.path}\n", f"+++ {moved.new_path}\n", 1)
    return "".join((*parts, diff))


def move_summary(plan: Plan, *, written: bool) -> str:
    """Return one line: the move, and the number of rewritten places."""
    what = (
        f"the id of {safe(plan.move.path)} from {safe(plan.move.old_id)} to {safe(plan.move.new_id)}"
        if plan.move.changes_id
        else f"{safe(plan.move.path)} to {safe(plan.move.new_path)}"
    )
    verbs = ("Changed" if written else "Would change") if plan.move.changes_id else "Moved" if written else "Would move"
    changed = [change for change in (*plan.others, plan.moved) if change.edits]
    places = _count(plan.count, "place")
    rewrote = "rewrote" if written else "rewrite"
    if not changed:
        return f"{verbs} {what}; no reference has to change."
    return f"{verbs} {what} and {rewrote} {places} in {_count(len(changed), 'document')}."


def note_line(note: Note) -> str:
    """Return a note with its place in front."""
    return f"{safe(note.path)}:{note.line}: {safe(note.message)}"


def move_object(plan: Plan, *, written: bool, unreadable: Sequence[tuple[str, str]]) -> dict[str, Value]:
    """Return the plan as a program reads it; lines and columns are 1-based and count in the old text."""
    move = plan.move
    return {
        "path": move.path,
        "new_path": move.new_path,
        "old_id": move.old_id or None,
        "new_id": move.new_id or None,
        "written": written,
        "references": plan.count,
        "documents": [_change_object(change) for change in (*plan.others, plan.moved)],
        "notes": [{"path": each.path, "line": each.line, "message": each.message} for each in plan.notes],
        "unreadable": [{"path": path, "reason": reason} for path, reason in unreadable],
    }


def _change_object(change: Change) -> dict[str, Value]:
    source = change.before
    edits = [(source.position(each.span.start), source.slice(each.span), each.replacement) for each in change.edits]
    return {
        "path": change.path,
        "new_path": change.new_path,
        "edits": [
            {"line": at.line, "column": at.column, "before": before, "after": after} for at, before, after in edits
        ],
    }


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
