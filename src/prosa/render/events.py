"""Run events as JSON lines (`--events jsonl`) and as lines for people (`--debug`, progress).

In: an event. Out: text. The caller knows the time and where the text goes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias, assert_never

from msgspec import Struct

from prosa.data import Value
from prosa.regex import regex
from prosa.runtime import events
from prosa.runtime.events import Event

SHOWN = 120
"""Characters of the arguments of a tool shown to people; the JSON lines carry everything."""

MAX_REASON = 1_000
"""Characters of a whole line. A reason that is cut in half sends its reader to another command."""

_WORDS = regex(r"(?<!^)(?=[A-Z])")


def as_json_line(event: Event, *, seq: int, time: datetime, about: Mapping[str, Value] | None = None) -> str:
    """Return one line of NDJSON. ``seq`` counts from 1 without gaps; each program's last event is its only terminal
    one. ``about`` identifies the run if several are reported together."""
    return _line(seq, time, name_of(event), (dict(about) if about else {}) | _plain(event))


def _line(seq: int, time: datetime, name: str, data: Mapping[str, Value]) -> str:
    head = {"seq": seq, "time": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"), "event": name}
    return json.dumps(head | dict(data), ensure_ascii=False)


def name_of(event: Event) -> str:
    """Return the stable name of an event: its class in kebab-case, as in ``tool-called``."""
    return _WORDS.sub("-", type(event).__name__).lower()


def as_line(event: Event) -> str | None:
    """Return a line for people, or None for events that only programs need."""
    text = _sentence(event)
    return None if text is None else f"{'  ' * event.scope.depth}{event.scope.program}: {_shown(text, MAX_REASON)}"


def _sentence(event: Event) -> str | None:
    match event:
        case events.RunStarted():
            return f"starting with {event.model_name}"
        case events.ToolsOffered():
            return f"tools: {', '.join(event.tools) or 'none'}"
        case events.ModelAsked():
            return f"iteration {event.iteration}: asking the model{' (last, without tools)' if event.final else ''}"
        case events.ModelAnswered():
            return f"iteration {event.iteration}: {_asked(event.tool_calls)}, {event.usage.total_tokens} tokens"
        case events.AttemptFailed():
            return f"attempt {event.attempt} failed, next in {event.wait:.1f} s: {event.reason}"
        case events.ToolCalled():
            return f"calling {event.tool} {_shown(event.arguments, SHOWN)}"
        case events.ToolAnswered():
            how = "failed" if event.is_error else "answered"
            return f"{event.tool} {how} after {event.seconds:.2f} s, {event.size} characters"
        case events.AnswerRejected():
            return f"iteration {event.iteration}: answer not accepted: {'; '.join(event.problems)}"
        case events.Noticed():
            return event.message
        case events.RunFinished():
            return f"finished after {event.seconds:.2f} s"
        case events.RunFailed():
            return f"failed after {event.seconds:.2f} s: {event.error}"
        case events.TextArrived():
            return None
        case _:
            assert_never(event)


def _asked(tool_calls: int) -> str:
    if not tool_calls:
        return "an answer"
    return "1 tool call" if tool_calls == 1 else f"{tool_calls} tool calls"


def _shown(text: str, most: int) -> str:
    one_line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return one_line if len(one_line) <= most else f"{one_line[: most - 1]}…"


def _plain(event: Event) -> dict[str, Value]:
    scope = event.scope
    data: dict[str, Value] = {"program": scope.program, "depth": scope.depth, "scope": scope.number}
    if scope.parent is not None:
        data["parent"] = scope.parent
    data["path"] = events.path_of(event)
    for name in event.__struct_fields__:
        if name not in ("scope", "path"):
            data[name] = _value(getattr(event, name))
    return data


_Field: TypeAlias = "Value | Struct | tuple[_Field, ...]"


def _value(value: _Field) -> Value:
    if isinstance(value, Struct):
        return {name: _value(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    return value


class Numbering(Struct):
    """The gap-free sequence of the event lines of one run, or of all runs of a batch."""

    seq: int = 0

    def line(self, event: Event, time: datetime, about: Mapping[str, Value] | None = None) -> str:
        """Return the next line."""
        self.seq += 1
        return as_json_line(event, seq=self.seq, time=time, about=about)

    def told(self, name: str, data: Mapping[str, Value], time: datetime) -> str:
        """Return the next line, of something that is no event of a run."""
        self.seq += 1
        return _line(self.seq, time, name, data)
