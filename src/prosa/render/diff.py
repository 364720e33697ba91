"""Changes as a unified diff, as `git apply` and people read it, and the plan of a move: as a diff and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, takewhile

from prosa.corpus.moves import Change, Note, Plan
from prosa.data import Value
from prosa.render.plain import safe

CONTEXT = 3
"""Unchanged lines around a change."""

MAX_COMPARED = 4_000
"""Changed lines up to which the longest common part is computed; beyond that the whole range counts as changed,
because comparing takes quadratic time."""


def render_diff(path: str, before: str, after: str) -> str:
    """Return the diff of one file; empty when nothing changed. Lines end at LF; a CR is part of its line."""
    if before == after:
        return ""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    start = max(0, head - CONTEXT)
    old, new = old[start : len(old) - max(0, tail - CONTEXT)], new[start : len(new) - max(0, tail - CONTEXT)]
    lines = (line for hunk in _hunks(old, new, start) for line in hunk)
    return "".join((f"--- {path}\n", f"+++ {path}\n", *lines))


def _hunks(old: list[str], new: list[str], offset: int) -> Iterator[list[str]]:
    if len(old) + len(new) > MAX_COMPARED:
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        groups = [
            [
                ("equal", 0, head, 0, head),
                ("replace", head, len(old) - tail, head, len(new) - tail),
                ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
            ]
        ]
    else:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, old, new, autojunk=False)
        groups = [list(group) for group in matcher.get_grouped_opcodes(CONTEXT)]
    for group in groups:
        first, last = group[0], group[-1]
        yield [
            f"@@ -{_range(first[1], last[2], offset)} +{_range(first[3], last[4], offset)} @@\n",
            *(line for code in group for line in _marked(code, old, new)),
        ]


def _marked(code: tuple[str, int, int, int, int], old: list[str], new: list[str]) -> Iterator[str]:
    kind, i1, i2, j1, j2 = code
    if kind == "equal":
        yield from (_line(" ", line) for line in old[i1:i2])
        return
    yield from (_line("-", line) for line in old[i1:i2])
    yield from (_line("+", line) for line in new[j1:j2])


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _range(start: int, end: int, offset: int) -> str:
    length = end - start
    first = start + offset + (1 if length else 0)
    return f"{first}" if length == 1 else f"{first},{length}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _common(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda at: at < min(len(old), len(new)) and old[at] == new[at], count()))


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
        "notes": [{"path": note.path, "line": note.line, "message": note.message} for note in plan.notes],
        "unreadable": [{"path": path, "reason": reason} for path, reason in unreadable],
    }


def _change_object(change: Change) -> dict[str, Value]:
    source = change.before
    edits = [(source.position(edit.span.start), source.slice(edit.span), edit.replacement) for edit in change.edits]
    return {
        "path": change.path,
        "new_path": change.new_path,
        "edits": [
            {"line": at.line, "column": at.column, "before": before, "after": after} for at, before, after in edits
        ],
    }


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
