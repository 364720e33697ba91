"""The envelope in which an API sends instructions beside a text instead of inside it (M3, M41).

    {"markdown-content": "…", "ai-scripts": [{"id": "…", "prompt": "…"}, …]}

`to_envelope` takes the ai-script blocks out of a document; `from_envelope` puts them in. An `id` is the `script-id` of
the block. A further key, `layout`, remembers where the blocks stood and how they were written: while text and scripts
are unchanged, the way back gives the original, byte for byte (MW5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prosa.dialects.magi.clean import put_back, without_scripts
from prosa.dialects.magi.parts import EnvelopeError, model_of, objects_of, removed_of, same, text_of, written

CONTENT, SCRIPTS = "markdown-content", "ai-scripts"

__all__ = ["EnvelopeError", "from_envelope", "to_envelope"]


def to_envelope(text: str) -> dict[str, Any]:
    """The envelope of a document. Front matter and relationships stay in the text; a block that cannot be read is in
    the layout only."""
    model = model_of(text)
    cleaned = without_scripts(model)
    return {
        CONTENT: cleaned.text,
        SCRIPTS: [_outside(script.data) for script in model.scripts if script.data is not None],
        "layout": {"removed": [{"at": each.at, "text": each.text} for each in cleaned.removed]},
    }


def from_envelope(envelope: Mapping[str, Any]) -> str:
    """The document of an envelope, with `id` or `script-id` in its scripts. Raises `EnvelopeError`."""
    if CONTENT not in envelope:
        raise EnvelopeError(f"an envelope has a `{CONTENT}`")
    content = text_of(envelope.get(CONTENT), CONTENT)
    scripts = [_inside(each) for each in objects_of(envelope.get(SCRIPTS), SCRIPTS)]
    removed = removed_of(envelope.get("layout"))
    if removed is not None:
        original = put_back(content, removed)
        again = to_envelope(original)
        if again[CONTENT] == content and same([_inside(each) for each in again[SCRIPTS]], scripts):
            return original
    return written(None, content, scripts, [])


def _outside(data: Mapping[str, Any]) -> dict[str, Any]:
    """A script under the names of the envelope."""
    if "id" in data or "script-id" not in data:
        return dict(data)
    return {"id" if name == "script-id" else name: value for name, value in data.items()}


def _inside(data: Mapping[str, Any]) -> dict[str, Any]:
    """A script under the names of a block."""
    if "script-id" in data or "id" not in data:
        return dict(data)
    return {"script-id" if name == "id" else name: value for name, value in data.items()}
