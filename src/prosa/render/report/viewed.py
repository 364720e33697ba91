"""A report as the viewer shows it: with a way back, its line in the list, and a form for an opinion on each case (X37).

In: the finished page. Out: the same page, which may now load the style and the script of the list from the viewer, and
nothing from any other address.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from prosa.records.test import Feedback
from prosa.render.page.model import Frame
from prosa.render.page.records import Lines, record_head
from prosa.render.page.templates import asset_url
from prosa.render.report.frame import within
from prosa.render.report.parts import attribute
from prosa.render.report.subjects import Row

OPINIONS = (("good", "good"), ("bad", "bad"), ("", "none"))


def viewed_page(page: str, frame: Frame, key: str, lines: Lines, troubles: tuple[str, ...] = ()) -> str:
    """Return a report within the viewer; ``key`` is that of its line, ``troubles`` say what could not be read."""
    head = (
        f'<link rel="icon" href="data:,">\n<link rel="stylesheet" href="{asset_url(frame, "records.css")}">\n'
        f'<script src="{asset_url(frame, "records.js")}" defer></script>\n'
    )
    return within(page, head, record_head(frame, key, lines, troubles))


def opinion_forms(action: str, csrf: str) -> Callable[[Row, Feedback], str]:
    """Return what makes the form of a case, which is sent to ``action``."""

    def form(row: Row, feedback: Feedback) -> str:
        name = row.name.replace("case", "feedback", 1)
        fields = {"csrf": csrf, "suite": row.path, "case": row.title, "at": name}
        hidden = "".join(f'<input type="hidden" name="{key}" value="{escape(value)}">' for key, value in fields.items())
        options = "".join(_choice(*opinion, chosen=opinion[0] == feedback.opinion) for opinion in OPINIONS)
        return (
            f'<form class="opinion" id="{name}" method="post" action="{escape(action)}">{hidden}\n'
            f"<fieldset><legend>Your opinion of the answers</legend>{options}</fieldset>\n"
            f'<label for="{name}-text">In a sentence</label>'
            f'<textarea id="{name}-text" name="text" rows="2" maxlength="4000">\n{escape(feedback.text)}</textarea>\n'
            f'<button>Save<span class="unseen"> the opinion on {attribute(row.title)}</span></button>\n</form>\n'
        )

    return form


def _choice(value: str, word: str, *, chosen: bool) -> str:
    checked = " checked" if chosen else ""
    return f'<label><input type="radio" name="opinion" value="{value}"{checked}> {word}</label> '
