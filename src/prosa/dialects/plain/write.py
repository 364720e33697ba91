"""A new Markdown document as text: front matter where there is any, then the body."""

from __future__ import annotations

from collections.abc import Mapping

from prosa.data import Value
from prosa.data.yaml_write import write_yaml


def write(fields: Mapping[str, Value], body: str) -> str:
    """The document. Raises ValueError for data nested too deep, TypeError for what is no plain data."""
    text = body.lstrip("\r\n")
    if not fields:
        return text
    return f"---\n{write_yaml(dict(fields))}---\n" + (f"\n{text}" if text else "")
