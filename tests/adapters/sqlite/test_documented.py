"""The reference has every view and column, and the page about the index every field that counts as a facet."""

from __future__ import annotations

from pathlib import Path

import pytest

from prosa.adapters.sqlite.views import VIEWS
from prosa.corpus import facets
from tools.docs.tables import view_page

PAGE = (Path(__file__).parents[3] / "docs" / "search.md").read_text(encoding="utf-8")
REFERENCE = view_page().text


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_view_is_documented(view):
    part = REFERENCE.partition(f"## `{view.name}`\n")[2].partition("\n#")[0]
    assert part.strip().startswith(f"{view.meaning[0].upper()}{view.meaning[1:]}.")
    assert [line for line in part.splitlines() if line.startswith("| `")] == [
        f"| `{name}` | {meaning} |" for name, meaning in view.columns
    ]


def test_every_field_that_counts_is_documented():
    named = {key.removeprefix("footer.") for key in facets.FACET_KEYS}
    assert [key for key in sorted(named) if f"`{key}`" not in PAGE] == []
