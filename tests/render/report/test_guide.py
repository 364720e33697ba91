"""The picture in the guide to reports: `PROSA_UPDATE=1` draws it anew."""

from __future__ import annotations

import os

from prosa.evaluation.report import Compared
from prosa.render.report.pictures import scale_picture
from tests.house.tree import ROOT
from tests.render.report.samples import shown_skill

PICTURE = ROOT / "docs" / "pictures" / "lift.svg"
STYLE = (
    "text{fill:#59606c;font:13px ui-sans-serif,system-ui,sans-serif;text-anchor:middle}"
    ".axis{stroke:#8b919c;stroke-width:1.5}"
    ".zero{stroke:#59606c;stroke-width:1.5;stroke-dasharray:4 4}.band{fill:#14683a;opacity:.28}.dot{fill:#14683a}"
    "@media(prefers-color-scheme:dark){text{fill:#a0a7b3}.zero{stroke:#a0a7b3}.band,.dot{fill:#7fd0a0}}"
)


def drawn(each: Compared) -> str:
    """The lift as a picture that stands alone."""
    told = each.comparison.difference
    assert told.value is not None and told.interval is not None
    words = (
        "The lift with its interval",
        f"{told.value:+.2f}, from {told.interval.low:+.2f} to {told.interval.high:+.2f}",
    )
    picture = scale_picture("lift", words, told.value, told.interval, (-1, 1))
    return picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ').replace(
        "<line", f"<style>{STYLE}</style><line", 1
    )


def test_the_picture_of_the_guide_is_the_one_of_the_page():
    found = f"{drawn(shown_skill().report.comparisons[0])}\n"
    if os.environ.get("PROSA_UPDATE"):
        PICTURE.write_text(found, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == found
