"""The views of `prosa query` and the checks of `prosa probe`, out of their tables."""

from __future__ import annotations

from prosa.adapters.sqlite.views import VIEWS
from prosa.corpus.sql import View
from prosa.site.probe.report import CHECKS
from tools.docs.writing import Made, code, page, sentence, table


def view_page() -> Made:
    """Return every view with its columns."""
    about = "`prosa query` answers a SELECT over these views. Their names and columns are stable."
    return Made("views.md", page("Views of the index", about, *map(_view, VIEWS)))


def check_page() -> Made:
    """Return every check with its level, what should hold, and the source."""
    about = (
        "What `prosa probe` checks. A section sign refers to the specification of MDH; H, HA and HW refer to the "
        "requirements of this project."
    )
    rows = [(code(check.id), check.level, check.headline, check.source) for check in CHECKS]
    head = ("check", "level", "what should hold", "source")
    return Made("checks.md", page("Checks of a site", about, table(head, rows)))


def _view(view: View) -> str:
    rows = [(code(name), meaning) for name, meaning in view.columns]
    return f"## {code(view.name)}\n\n{sentence(view.meaning)}\n\n{table(('column', 'what it contains'), rows)}"
