"""Media types of the body formats (Y12), to tell whether the deprecated `payload_mime` says the same."""

from __future__ import annotations

_TYPES: dict[str, tuple[str, ...]] = {
    "markdown": ("text/markdown", "text/x-markdown", "text/x-ymj"),
    "csv": ("text/csv", "application/csv"),
    "mermaid": ("text/vnd.mermaid", "text/x-mermaid", "text/mermaid", "application/mermaid"),
    "plain": ("text/plain",),
    "json": ("application/json", "text/json"),
    "yaml": ("application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"),
}


def agrees(mime: str, body_format: str) -> bool:
    """Whether a media type, parameters aside, is one of a body format."""
    return mime.partition(";")[0].strip().lower() in _TYPES.get(body_format, ())
