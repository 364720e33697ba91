"""What the fake model server does with one request, as a value; and the queue that such values wait in.

A script is a list of behaviours: a plain text (the reply), a dict with the fields of `Behaviour`, or a `Behaviour`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

FAULTS = frozenset(
    {
        "html200",  # status 200 with a web page, as a captive portal or a wrong base URL gives
        "not_json",  # status 200, JSON content type, broken JSON
        "json_list",  # status 200 with JSON that is no object
        "error200",  # status 200 with {"error": …} in the body, as some gateways do; in a stream an error event
        "empty_choices",  # no choices (chat), no output items (responses)
        "missing_message",  # a choice without message; an output without the list
        "truncated",  # the body or stream ends cleanly, too early
        "reset",  # the connection is reset half-way
        "close",  # the connection is closed before any answer
        "slow_drip",  # the answer comes byte by byte, `interval` seconds apart
        "hang",  # nothing ever comes
    }
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One answer. `content` that is not text is dumped as JSON; a status other than 200 makes it an error answer.

    `cut` ends the connection within the answer: after a part of its bytes (0.0: before the first), or behind the first
    place where a text stands in it. With the fault "reset" it is a reset.
    """

    content: Any = None
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    refusal: str | None = None
    finish: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: {"input_tokens": 150, "output_tokens": 75})
    model: str | None = None
    status: int = 200
    message: str = "the fake model server was told to fail"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str | None = None
    fault: str | None = None
    delay: float = 0.0
    cut: float | str | None = None
    interval: float = 0.05
    piece: int = 8
    contains: str | None = None
    times: int = 1

    @property
    def text(self) -> str:
        """The reply as text; empty when there is none."""
        if self.content is None:
            return ""
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)

    @property
    def counts(self) -> tuple[Any, Any, Any]:
        """Input, output and cached input tokens."""
        usage = self.usage or {}
        return usage.get("input_tokens", 0), usage.get("output_tokens", 0), usage.get("cached_input_tokens", 0)


Scripted: TypeAlias = "str | Mapping[str, Any] | Behaviour"
_NAMES = frozenset(entry.name for entry in fields(Behaviour))


def behaviour(item: Scripted) -> Behaviour:
    """Makes a behaviour of a text or a dict. Raises ValueError for a field or fault that does not exist."""
    if isinstance(item, Behaviour):
        made = item
    elif isinstance(item, str):
        made = Behaviour(content=item)
    else:
        unknown = set(item) - _NAMES
        if unknown:
            raise ValueError(f"unknown fields {sorted(unknown)}; a behaviour has {sorted(_NAMES)}")
        made = Behaviour(**{**item, "tool_calls": tuple(item.get("tool_calls") or ())})
    if made.fault is not None and made.fault not in FAULTS:
        raise ValueError(f"unknown fault {made.fault!r}; known are {sorted(FAULTS)}")
    return made


def read_script(path: str) -> list[Behaviour]:
    """Reads JSON lines, one behaviour each; blank lines are skipped."""
    return [behaviour(json.loads(line)) for line in Path(path).read_text("utf-8").splitlines() if line.strip()]


class Queue:
    """Behaviours that wait. A request takes the first one whose `contains` occurs in its body."""

    def __init__(self) -> None:
        self._waiting: list[Behaviour] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, items: Iterable[Scripted]) -> None:
        """Appends behaviours; `times` repeats one."""
        made = [behaviour(item) for item in items]
        with self._lock:
            self._waiting.extend(made)

    def take(self, body: str) -> Behaviour | None:
        """The behaviour for a request with this body, or None when none fits."""
        with self._lock:
            for index, entry in enumerate(self._waiting):
                if entry.contains is None or entry.contains in body:
                    if entry.times > 1:
                        self._waiting[index] = replace(entry, times=entry.times - 1)
                    else:
                        del self._waiting[index]
                    return entry
        return None

    def clear(self) -> None:
        """Forgets everything that waits."""
        with self._lock:
            self._waiting.clear()
