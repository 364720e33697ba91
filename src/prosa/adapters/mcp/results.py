"""What a tool answered, as text for the model.

In: the SDK's result. Out: a `ToolResult`: texts joined with line ends, the structured content when there is no text,
one line for what is not text, all cut at a limit with a sentence that says so (X9). Refuses nothing: an answer that
cannot be shown is described.
"""

from __future__ import annotations

import json
from typing import assert_never

import mcp_types as types

from prosa.runtime.ports import ToolResult


def to_result(answer: types.CallToolResult, limit: int) -> ToolResult:
    """The answer within `limit` bytes of UTF-8, the sentence about the cut included."""
    pieces = [_piece(block) for block in answer.content]
    has_text = any(isinstance(block, types.TextContent) for block in answer.content)
    if answer.structured_content is not None and not has_text:
        pieces.append(json.dumps(answer.structured_content, ensure_ascii=False))
    return ToolResult(cut("\n".join(pieces), limit), is_error=answer.is_error)


def cut(text: str, limit: int) -> str:
    """The text, or as much of its start as fits into `limit` bytes together with a sentence that it was cut (X9)."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode()
    sentence = f"\n[Cut here: the whole result has {len(data)} bytes, and only the first {{}} are shown.]"
    room = max(0, limit - len(sentence.encode()) - len(str(limit)))
    shown = data[:room].decode("utf-8", "ignore")
    return shown + sentence.format(len(shown.encode()))


def _piece(block: types.ContentBlock) -> str:
    match block:
        case types.TextContent():
            return block.text
        case types.ImageContent():
            return f"[image, {block.mime_type}, {_decoded(block.data)} bytes, not shown]"
        case types.AudioContent():
            return f"[audio, {block.mime_type}, {_decoded(block.data)} bytes, not shown]"
        case types.EmbeddedResource():
            return _resource(block.resource)
        case types.ResourceLink():
            facts = [block.uri, block.mime_type, f"{block.size} bytes" if block.size is not None else None]
            return f"[link to resource {block.name}: {', '.join(fact for fact in facts if fact)}]"
        case _:
            assert_never(block)


def _resource(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    if isinstance(resource, types.BlobResourceContents):
        kind = resource.mime_type or "unknown type"
        return f"[resource {resource.uri}, {kind}, {_decoded(resource.blob)} bytes, not shown]"
    size = len(resource.text.encode("utf-8", "replace"))
    return f"[resource {resource.uri}, {resource.mime_type or 'text'}, {size} bytes]\n{resource.text}"


def _decoded(base64: str) -> int:
    """How many bytes a base64 text stands for, without decoding it."""
    return len(base64.rstrip("=")) * 3 // 4
