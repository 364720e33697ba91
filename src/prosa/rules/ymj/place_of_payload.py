"""Where rules about the payload point: at what the author wrote to name it. Shared by the rules `YM05`."""

from __future__ import annotations

from prosa.dialects.ymj.model import YmjModel
from prosa.dialects.ymj.payload import Failure, Payload
from prosa.source import Span


def failed(model: YmjModel, failure: Failure) -> tuple[Payload, Span] | None:
    """The payload and the span of its selector, of its format where it has no selector, when this is what failed."""
    payload = model.payload
    if payload is None or payload.failure != failure:
        return None
    names = ("body_encoding",) if failure == "encoding" else ("body_selector", "body_format", "body_encoding")
    entry = next((model.ops[name] for name in names if name in model.ops), None)
    return payload, entry.value.span if entry else model.anchor
