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
    return f"default-src 'none'; style-src {_style_source()}; img-src data:; base-uri 'none'; form-action 'none'"


def _style_source() -> str:
    return f"'sha256-{b64encode(sha256(_css().encode()).digest()).decode()}'"


_REFERRER = '<meta name="referrer" content="no-referrer">\n'


def _policy_tag() -> str:
    return f'<meta http-equiv="Content-Security-Policy" content="{page_policy()}">\n'


def page(title: str, body: Sequence[Part], limit: int, whole: Whole) -> str:
    """Return the page in at most ``limit`` bytes, provided that the weight of its parts and frame is not more."""
    start, end = _frame(title)
    return assemble((start, *body, end), limit, whole)


def viewer_policy() -> str:
    """Return the policy of a page within a viewer, a header: the style, the script and the forms of that too."""
    own = (
        f"style-src 'self' {_style_source()}; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'"
    )
    return f"default-src 'none'; {own}; base-uri 'none'; frame-ancestors 'none'"


def within(page: str, head: str, top: str) -> str:
    """Return a page as a viewer shows it: with further tags in its ``head``, and with ``top`` before its text. What the
    page forbids for itself is then in a header."""
    for tag in (_policy_tag(), _REFERRER):
        page = page.replace(tag, "", 1)
    before, end, after = page.partition("</head>\n<body>\n")
    return f"{before}{head}{end}{top}{after}"


def frame_weight(title: str) -> int:
    """Return the bytes of a page without a body."""
    return sum(len(piece.encode()) for piece in _frame(title))


def _frame(title: str) -> tuple[str, str]:
    lines = (
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        _policy_tag().rstrip(),
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        '<meta name="generator" content="Prosa">',
        _REFERRER.rstrip(),
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
