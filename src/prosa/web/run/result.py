"""The result of an ai-script for its requester: as a fragment of a page, as JSON, as a page, as an event.

In: the result of a run. Out: answers. The model's text is data: it is made harmless, and not written to a document.
"""

from __future__ import annotations

from msgspec import Struct

from prosa.app.scripts.write import text_of
from prosa.data import Value
from prosa.regex import regex
from prosa.render.json import dump
from prosa.render.page.chrome import POLICY, message_page
from prosa.render.page.clean import safe_html
from prosa.render.page.model import Crumb, Frame, MessagePage
from prosa.runtime.program import OutputForm
from prosa.runtime.usage import Meter
from prosa.web.answer import NEVER, Answer, answer
from prosa.web.run.problem import Pairs, taken

HTML = "text/html; charset=utf-8"

_RUN = regex(r"`{3,}")


class Result(Struct, frozen=True):
    """What the script at ``address`` gave."""

    address: str
    output: Value
    form: OutputForm
    seconds: float
    meter: Meter

    @property
    def text(self) -> str:
        """Return the result as plain text: JSON indented, everything else unchanged."""
        return text_of(self.output)

    @property
    def markdown(self) -> str:
        """As Markdown: JSON in a fence that it cannot end."""
        if self.form == "json":
            fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(self.text)), default=2))
            return f"{fence}json\n{self.text}\n{fence}\n"
        return f"<{self.text}>" if self.form == "image-url" else self.text

    @property
    def html(self) -> str:
        """As a harmless fragment of a page."""
        return safe_html(self.markdown)

    @property
    def event(self) -> dict[str, Value]:
        """Return the data of the last event."""
        return {"html": self.html, "seconds": round(self.seconds, 3), "tokens": self.meter.tokens}

    def json(self) -> Answer:
        """For a program."""
        value = {"script": self.address, "output": self.output, **self.event}
        return answer(f"{dump(value)}\n", "application/json", cache=NEVER, headers=taken(self.meter))

    def page(self, frame: Frame, label: str, back: Crumb) -> Answer:
        """For a browser without scripts."""
        page = MessagePage(frame, label, "", (back,), self.markdown)
        return html_page(message_page(page), 200, headers=taken(self.meter))


def said(
    frame: Frame, status: int, title: str, text: str, rows: tuple[Crumb, ...] = (), *, headers: Pairs = ()
) -> Answer:
    """Return a page with only a message."""
    return html_page(message_page(MessagePage(frame, title, text, rows)), status, headers=headers)


def html_page(page: str, status: int = 200, *, headers: Pairs = ()) -> Answer:
    """Return a page that is not cached."""
    return answer(page, HTML, status=status, cache=NEVER, headers=[*headers, ("content-security-policy", POLICY)])
