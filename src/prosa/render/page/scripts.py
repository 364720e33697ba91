"""An interactive ai-script as the button or the box that a reader sees (M37–M39, M42, MA15).

In: the page and the script. Out: the data of its template, never the prompt. A script that is not interactive is not
shown.
"""

from __future__ import annotations

from prosa.data import Value
from prosa.dialects.magi.model import Script
from prosa.render.page.model import Page
from prosa.render.page.urls import in_query, site_url

INTERACTIVE = ("button", "inputbox")
_LABELS = {"button": "Run", "inputbox": "Send"}


def is_interactive(script: Script) -> bool:
    """Return whether a reader gets something to press."""
    return script.interactive_type in INTERACTIVE


def script_part(page: Page, script: Script) -> dict[str, Value]:
    """Return the part of the page that stands for a script. ``state`` is `ready`, `sign-in` or `off`."""
    frame, kind = page.frame, script.interactive_type or "button"
    return {
        "kind": "script",
        "type": kind,
        "address": script.address,
        "label": script.fields.text("interactive-label") or _LABELS.get(kind, "Run"),
        "placeholder": script.fields.text("interactive-placeholder") or "",
        "state": ("ready" if frame.signed_in else "sign-in") if frame.can_run else "off",
        "url": site_url(frame, f"/mdh/scripts{page.view.url}"),
        "sign_in": f"{frame.prefix}/mdh/sign-in?back={in_query(frame.prefix + page.view.url)}",
        "csrf": frame.csrf,
    }
