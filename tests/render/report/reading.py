"""How a page is read in tests: its text, its elements, and that nothing in it can load, run or lead elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from msgspec.structs import replace

from prosa.evaluation.case import Case, RunFacts
from prosa.evaluation.expectations import Failure
from prosa.evaluation.report import AgentFacts, CaseReport, Cut, Graded, OutputFile, Reason, Report, Step
from prosa.records.test import Feedback, ShownTest, Trend, TrendPoint
from tests.render.page.elements import Tree, tree
from tests.render.report.samples import RECORD, attempt, suite

SECTIONS = {
    "h1",
    "h2",
    "h3",
    "h4",
    "p",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "div",
    "section",
    "article",
    "header",
    "footer",
    "nav",
}
TABLES = {"table", "thead", "tbody", "tr", "th", "td", "fieldset", "legend", "label", "input", "details", "summary"}
SHAPES = {"svg", "title", "desc", "line", "rect", "circle", "polyline", "text", "figure", "figcaption"}
INLINE = {
    "html",
    "head",
    "meta",
    "style",
    "body",
    "main",
    "a",
    "b",
    "bdi",
    "br",
    "code",
    "del",
    "ins",
    "pre",
    "small",
    "span",
    "img",
}
OURS = SECTIONS | TABLES | SHAPES | INLINE
HOSTILE = (
    "</script><script>alert(1)</script>",
    "</pre></bdi></details><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "<a href=javascript:alert(1)>x</a>",
    "<style>@import url(https://evil.example/x.css)</style>",
    "\x1b[2J\x1b]8;;https://evil.example\x07",
    "\u202eevil\u2066\u200b\U000e0041",
    "\ud800 lone",
    "]]><!--",
    "&lt;b&gt;&#60;",
    "\n\n\x00\r\x85\u2028",
)


def hostile_test(text: str) -> ShownTest:
    """A test in which everything that is not ours says the same."""
    steps = (Step("say", text), Step("call", text, text, {text: text}), Step("result", text, is_error=True, size=10**6))
    files = (
        OutputFile(text, "changed", "ab" * 32, 5, True, f"+{text}\n-{text}\n"),
        OutputFile(text, "added", "cd" * 32, 9, content=text.encode("utf-8", "surrogatepass")),
    )
    agent = AgentFacts(text, text, text, (text,), (text,), (text,), (text,), 1, 1, 1.0, (text,))
    graded = (Graded(text, False, text, 1, 3),)
    tried = attempt(
        text, "failed", failures=(Failure(text, text, text),), graded=graded, steps=steps, files=files, agent=agent,
        cut=Cut(7, text),
    )  # fmt: skip
    lost = attempt(
        None, "not measured", reason=Reason(text, text), facts=RunFacts(1, None, 1.0, failure="limit", error=text)
    )
    case = CaseReport(Case(text, {text: text}, expect=text, run={text: text}), (tried, lost, tried))
    found = suite(
        [case, replace(case, case=Case("second case", text, request=text))], text, path=text, unavailable=(text,)
    )
    other = replace(found, label="other", model=text)
    point = TrendPoint(text, text, text, True, 1, 2, 3)
    record = replace(RECORD, id=text, folder=text, revision=text, version=text)
    return ShownTest(
        record, Report((found, other)), (Trend(text, text, (point, point)),), {(text, text): Feedback("bad", text)}
    )


def skeleton(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """The elements with the names of their attributes."""
    return [(each.tag, tuple(each.attributes)) for each in tree(page).elements]


class Text(HTMLParser):
    """What a reader sees."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)


def text_of(page: str) -> str:
    read = Text()
    read.feed(page)
    read.close()
    return "".join(read.pieces)


def dead(page: str) -> Tree:
    """The page, in which nothing can load, run, or lead elsewhere."""
    found = tree(page)
    assert {each.tag for each in found.elements} <= OURS and found.comments == []
    for each in found.elements:
        assert not [name for name in each.attributes if name.startswith("on") or name in ("style", "srcset", "action")]
        address = each.get("href") or each.get("src")
        assert re.fullmatch(
            r"|#case-\d+-\d+|data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*|[a-z0-9-]+\.html(#.*)?", address
        )
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert "url(" not in style and "@import" not in style
    assert "default-src 'none'" in found.all("meta", http_equiv="Content-Security-Policy")[0]["content"]
    return found
