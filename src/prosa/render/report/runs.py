"""The page of a run: how it ended, what it took, and its calls as a transcript (X25, X37). Nothing is asked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prosa.data import Value
from prosa.records.run import CallRecord, RunRecord, RunState, last_attempts
from prosa.render.plain import safe
from prosa.render.report.attempts import answer_text
from prosa.render.report.frame import MAX_PAGE, frame_weight, page
from prosa.render.report.parts import Mark, Part, TextBlock, Whole, brief, text_block, weight, within
from prosa.render.runs import began_words, call_state, stored_value, token_words, was_scripted
from prosa.render.tests import count_words, dollars

MAX_REASON = 2_000
"""Characters of an error."""

_SIGNS: Mapping[RunState, tuple[str, str]] = {
    "done": ("✓", "good"),
    "failed": ("✗", "bad"),
    "interrupted": ("?", "open"),
    "open": ("…", "open"),
}
WHOLE = "prosa report ID -o FILE.json"
"""Has the texts of runs and batches whole."""

_SHARE = 0.6
"""The part of a page that calls may take without their texts."""


def run_page(run: RunRecord, calls: Sequence[CallRecord], *, limit: int = MAX_PAGE, whole: Whole | None = None) -> str:
    """Return a run with its calls as one page of at most ``limit`` bytes. Texts share the room; calls that have none
    are counted."""
    start, ordered = [*_head(run, calls)], last_attempts(calls)
    room = int((limit - frame_weight(run.program) - weight(start)) * _SHARE)
    body = [*start, f"<h2>{count_words(len(ordered), 'call')}</h2>\n" if ordered else ""]
    body += within(map(_call, ordered), room, "further call")
    return page(f"Run {safe(run.id)}", body, limit, whole or {})


def _head(run: RunRecord, calls: Sequence[CallRecord]) -> Iterator[Part]:
    sign, kind = _SIGNS[run.state]
    yield f'<header>\n<p class="over">Prosa run</p>\n<h1>{brief(run.program)}</h1>\n'
    yield f'<p class="ending {kind}"><b>{sign} {run.state}</b></p>\n'
    if run.error:
        yield f'<p class="why {kind}">{brief(run.error, MAX_REASON)}</p>\n'
    facts = "".join(f"<div><dt>{name}</dt><dd>{text}</dd></div>" for name, text in _about(run, calls))
    yield f'<dl class="about">{facts}</dl>\n</header>\n<div class="asked">\n'
    for title, text in (("Input", run.input), ("Output", run.output)):
        if text is not None:
            yield f"<div><h2>{title}</h2>"
            yield text_block(answer_text(stored_value(text)), is_first=title == "Output", kind="answer", where=WHOLE)
            yield "</div>\n"
    yield "</div>\n"
    if not run.whole:
        yield '<p class="note">Messages and answers of this run are not kept.</p>\n'


def _about(run: RunRecord, calls: Sequence[CallRecord]) -> Iterator[tuple[str, str]]:
    yield "Began", f"{brief(began_words(run))} UTC"
    yield "Model", f"{brief(run.model)}{' (scripted)' if was_scripted(calls) else ''}"
    yield "Model calls", f"{run.calls:,}"
    yield "Tool calls", f"{run.tools:,}"
    yield "Tokens", f"{token_words(run.input_tokens, run.output_tokens).removesuffix(' tokens')}"
    yield "Cost", "unknown" if run.cost is None else dollars(run.cost)
    if run.seconds is not None:
        yield "Seconds", f"{run.seconds:.2f}"
    if run.attempts > 1:
        yield "Processes", f"{run.attempts:,}"
    if run.file:
        yield "File", f"<code>{brief(run.file)}</code>"
    yield "Run", f"<code>{brief(run.id)}</code>"


# ---- calls ----


def _call(call: CallRecord) -> Iterator[Part]:
    """Yield a call, closed; one that failed is open."""
    good = call.state == "answered" and not call.is_error
    depth = min(6, call.path.count("/") + ("." in call.path.rpartition("/")[2]))
    sign, kind = ("✓", "good") if good else ("✗", "bad")
    name = call.answered_by or call.name if call.kind == "model" else call.name
    facts = [call.kind, *([token_words(call.input_tokens, call.output_tokens)] if call.kind == "model" else [])]
    facts += [f"{call.seconds:.2f} s"] if call.seconds is not None else []
    facts += [] if good else [call_state(call)]
    yield f'<details class="case call d{depth} {kind}"{"" if good else " open"}><summary><b class="{kind}">{sign}</b> '
    yield f"<code>{brief(call.path)}</code> <b>{brief(name)}</b> <small>{brief(' · '.join(facts))}</small></summary>\n"
    asked, came = _request(call), _reply(call)
    if asked:
        yield TextBlock(asked, kind="steps", where=WHOLE)
    if came:
        yield TextBlock(came, is_first=True, kind="steps", where=WHOLE)
    yield "" if asked or came else '<p class="note">Its texts are not kept.</p>\n'
    yield "</details>\n"


Pieces = tuple[tuple[str, Mark], ...]


def _request(call: CallRecord) -> Pieces:
    """Return what was asked: of a model the messages since its last reply, of a tool the arguments."""
    if call.request is None:
        return ()
    value = stored_value(call.request)
    if call.kind != "model":
        return (("→ arguments", "call"), (f" {answer_text(value)}\n", ""))
    messages = _listed(value, "messages")
    if not messages:
        return ((answer_text(value), ""),)
    last = max((at for at, message in enumerate(messages, 1) if message.get("role") == "assistant"), default=0)
    pieces: list[tuple[str, Mark]] = []
    if last:
        pieces.append((f"after {count_words(last, 'earlier message')}\n", "at"))
    for message in messages[last:]:
        pieces += [(str(message.get("role", "")), "said"), (f" {answer_text(message.get('content', ''))}\n", "")]
    return tuple(pieces)


def _reply(call: CallRecord) -> Pieces:
    """Return what came: the text, and the tools that a model called."""
    if call.reply is None:
        return ()
    value = stored_value(call.reply)
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        return ((answer_text(value), ""),)
    mark: Mark = "wrong" if call.is_error else "result"
    pieces: list[tuple[str, Mark]] = []
    if value["content"]:
        pieces += [("✗ error" if call.is_error else "← answer", mark), (f" {value['content']}\n", "")]
    for request in _listed(value, "tool_calls"):
        pieces += [(f"→ {request.get('name', '')}", "call"), (f" {answer_text(request.get('arguments', ''))}\n", "")]
    return tuple(pieces)


def _listed(value: Value, name: str) -> list[dict[str, Value]]:
    entries = value.get(name) if isinstance(value, dict) else None
    return [item for item in entries if isinstance(item, dict)] if isinstance(entries, list) else []
