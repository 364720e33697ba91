"""The frame of a page: its head, its style and its policy, which lets nothing be loaded and nothing be executed."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files

from prosa.render.plain import safe
from prosa.render.report.parts import Part, Whole, assemble

MAX_PAGE = 2_000_000
"""Bytes of a page."""

MAX_TITLE = 120


def page_policy() -> str:
    """Return the content security policy of a page: its own style, and pictures that stand in it."""
    style = b64encode(sha256(_css().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{style}'; img-src data:; base-uri 'none'; form-action 'none'"


def page(title: str, body: Sequence[Part], limit: int, whole: Whole) -> str:
    """Return the page in at most ``limit`` bytes, provided that the weight of its parts and frame is not more."""
    start, end = _frame(title)
    return assemble((start, *body, end), limit, whole)


def frame_weight(title: str) -> int:
    """Return the bytes of a page without a body."""
    return sum(len(each.encode()) for each in _frame(title))


def _frame(title: str) -> tuple[str, str]:
    lines = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{page_policy()}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="generator" content="Prosa">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escape(safe(title)[:MAX_TITLE])}</title>",
        f"<style>{_css()}</style>",
        "</head>",
        "<body>",
        "<main>",
        "",
    )
    return "\n".join(lines), "</main>\n</body>\n</html>\n"


@cache
def _css() -> str:
    return f"\n{files('prosa.render.report').joinpath('report.css').read_text(encoding='utf-8')}"
