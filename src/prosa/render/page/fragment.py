"""Markdown that a model or a program wrote, as harmless HTML for a page. In: text. Out: a fragment.

Links lead only to absolute addresses, and no picture is loaded: such text must not make a reader's browser contact
other hosts.
"""

from __future__ import annotations

from prosa.render.page.clean import cleaner
from prosa.render.page.urls import is_external
from prosa.render.page.writer import write


def safe_html(markdown_text: str) -> str:
    """Return the fragment: headings without ids, pictures as links to them."""
    written = write(markdown_text, link=_outside, embed=_nothing, scope="result:")
    clean = cleaner(written.key, _outside, _nothing)
    return "".join(clean(piece) for piece in written.pieces if isinstance(piece, str))


def _outside(destination: str) -> str:
    return destination if is_external(destination) else ""


def _nothing(_: str) -> str:
    return ""
