"""Records of runs, as text and as objects: a list, the tree of the calls of a run, the difference of two runs (X25).

In: records. Out: lines for people, and objects with the same in full. The code that prints a table makes the output of
models and tools safe for a terminal; here separate lines are cut and cleaned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from prosa.data import Value
from prosa.records.run import CallRecord, FirstDifference, RunRecord, resuming
from prosa.render.plain import safe
from prosa.render.rows import render_table

MAX_SHOWN = 240
"""Characters shown of each side of a difference, around the place where it starts."""

_COLUMNS = ("run", "began (UTC)", "program", "model", "state", "calls", "tokens", "dollars", "seconds")
_WORDS = {
    "message": "what the model was asked",
    "tool": "which tool was called",
    "arguments": "the arguments of the tool",
    "answer": "what came back",
    "missing": "one of them made no such call",
}


def runs_table(runs: Sequence[RunRecord], scripted: frozenset[str] = frozenset()) -> str:
    """Return a line for each run; ``scripted`` are those without model calls."""
    return render_table(_COLUMNS, [_cells(run, f"{run.model} (scripted)" * (run.id in scripted)) for run in runs])


def _cells(run: RunRecord, model: str = "") -> tuple[Value, ...]:
    tokens = run.input_tokens + run.output_tokens
    name = run.program if run.job in ("", run.program) else f"{run.program} ({run.job})"
    seconds = None if run.seconds is None else round(run.seconds, 2)
    return run.id, began_words(run), name, model or run.model, run.state, run.calls, tokens, _dollars(run.cost), seconds


def began_words(run: RunRecord) -> str:
    """Return when a run began, without its zone, which is UTC."""
    return run.started[:19].replace("T", " ")


def _dollars(cost: float | None) -> str:
    return "-" if cost is None else f"{cost:.4f}"


def run_object(run: RunRecord) -> dict[str, Value]:
    """Return a run as an object; JSON inside is JSON."""
    fields: dict[str, Value] = asdict(run)
    for name in ("closure", "input", "output", "again"):
        fields[name] = stored_value(fields[name])
    return {name: value for name, value in fields.items() if name not in ("again", "holder")}


def call_object(call: CallRecord) -> dict[str, Value]:
    """Return a call as an object."""
    fields: dict[str, Value] = asdict(call)
    for name in ("request", "reply"):
        fields[name] = stored_value(fields[name])
    return {name: value for name, value in fields.items() if name != "run"}


def stored_value(text: Value) -> Value:
    """Return the value of a text of JSON; the text itself where the file was damaged."""
    if not isinstance(text, str):
        return text
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    return value


def run_tree(run: RunRecord, calls: Sequence[CallRecord]) -> str:
    """Return a run with the tree of its calls, indented by the depth of the calling program."""
    head = [*_head(run)]
    if was_scripted(calls):
        head.insert(1, "  model    not called: its replies were scripted")
    return "\n".join((*head, *(_call_line(call) for call in calls)))


def was_scripted(calls: Sequence[CallRecord]) -> bool:
    """Return whether a reply came from no service: from a script, or a provider in Python."""
    return any(call.kind == "model" and call.state == "answered" and call.service is None for call in calls)


def _head(run: RunRecord) -> Iterator[str]:
    cells = _cells(run)
    yield safe(f"run {run.id}: {cells[2]} with {run.model}, {run.state}")
    if run.file:
        yield safe(f"  file     {run.file}")
    took = "" if run.seconds is None else f", {run.seconds:.2f} s"
    again = f", {run.attempts} processes" if run.attempts > 1 else ""
    yield f"  began    {cells[1]}{took}{again}"
    made = f"{_count(run.calls, 'model call')}, {_count(run.tools, 'tool call')}"
    yield f"  took     {made}, {token_words(run.input_tokens, run.output_tokens)}"
    if run.cost is not None:
        yield f"  cost     ${_dollars(run.cost)} (prices of {run.priced})"
    if run.error:
        yield safe(f"  failed   {run.error}")
    if run.output is not None:
        yield safe(f"  output   {_cut(run.output)}")
    if run.state not in ("done", "open") and run.whole and run.calls and (command := resuming(run)) is not None:
        yield f"  resume   {command}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def token_words(taken: int, made: int) -> str:
    """Return the tokens of a request and of its reply."""
    return f"{taken:,} → {made:,} tokens"


def _call_line(call: CallRecord) -> str:
    indent = "  " * (call.path.count("/") + 1 + ("." in call.path.rpartition("/")[2]))
    what = call.answered_by or call.name if call.kind == "model" else f"{call.name} ({call.kind})"
    took = "" if call.seconds is None else f"  {call.seconds:.2f} s"
    tokens = f"  {token_words(call.input_tokens, call.output_tokens)}" if call.kind == "model" else ""
    state = "" if call.state == "answered" and not call.is_error else f"  {call_state(call)}"
    return safe(f"{indent}{call.path}  {what}{tokens}{took}{state}")


def call_state(call: CallRecord) -> str:
    """Return what became of a call that has no good answer."""
    if call.state == "asked":
        return "no answer"
    return "an error" if call.state == "answered" else f"failed: {_cut(call.error or '')}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


def difference_object(left: RunRecord, right: RunRecord, first_difference: FirstDifference | None) -> dict[str, Value]:
    """Return where two runs start to differ, as an object; ``difference`` is null if they do not."""
    difference: Value = None
    if first_difference is not None:
        sides = [
            None if call is None else call_object(call) for call in (first_difference.left, first_difference.right)
        ]
        difference = {"path": first_difference.path, "what": first_difference.what, "left": sides[0], "right": sides[1]}
    return {"left": run_object(left), "right": run_object(right), "difference": difference}


def difference_text(left: RunRecord, right: RunRecord, difference: FirstDifference | None) -> str:
    """Return where two runs start to differ, in words, with both texts if they are stored."""
    lines = [
        f"{record.id}  {record.started[:19].replace('T', ' ')}  {record.program} with {record.model}"
        for record in (left, right)
    ]
    if difference is None:
        return "\n".join(map(safe, (*lines, "no difference: the same calls, with the same answers")))
    lines.append(f"first difference at call {difference.path}: {_WORDS[difference.what]}")
    ours, theirs = (_side(call, difference.what) for call in (difference.left, difference.right))
    at = next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
    begin = max(0, at - MAX_SHOWN // 2)
    lines += [f"  {run.id}: {_around(text, begin)}" for run, text in ((left, ours), (right, theirs))]
    return "\n".join(map(safe, lines))


def _around(text: str, begin: int) -> str:
    return f"{'…' if begin else ''}{_cut(text[begin:])}"


def _side(call: CallRecord | None, what: str) -> str:
    if call is None:
        return "no such call"
    if what == "tool":
        return f"{call.name} ({call.kind})"
    kept = call.reply if what == "answer" else call.request
    digest = call.answer if what == "answer" else call.digest
    return kept if kept is not None else f'sha256 {(digest or "none")[:16]} (texts are stored with `history = "full"`)'
