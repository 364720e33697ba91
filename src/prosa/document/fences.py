"""The code of fenced blocks as text."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.document.parser import parse
from prosa.source import SourceText


def fence_texts(text: str, *, languages: Sequence[str]) -> tuple[str, ...]:
    """Return the code of every fence in one of ``languages`` (``""``: no language), in order. Case is ignored."""
    document = parse(SourceText(text))
    wanted = {language.lower() for language in languages}
    return tuple(document.fence_text(fence) for fence in document.fences if fence.language.lower() in wanted)
