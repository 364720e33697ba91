"""One answer of a site for the probe. In: status, headers, text. Out: its declared form.

The media type decides, as it does for a client; only `text/plain` is examined, since many file servers have no type
for Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, field

from prosa.data import JsonError, Value, parse_json
from prosa.dialects.fields import shown
from prosa.site.body import is_json

MARKDOWN = ("text/markdown", "text/x-markdown")
HTML = ("text/html", "application/xhtml+xml")


class Reply(Struct, frozen=True):
    """``url`` is where the answer came from, after redirects. ``headers`` have names in lower case. ``text`` is None
    if the bytes are not UTF-8; ``size`` counts the bytes. ``problem`` says why there is no answer, ``hint`` what to do
    about it, and ``status`` is 0 then. ``asked`` is False if the probe had reached its limit and sent no request."""

    url: str
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str | None = ""
    size: int = 0
    problem: str = ""
    hint: str = ""
    asked: bool = True

    @property
    def is_success(self) -> bool:
        """Whether the request succeeded."""
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """The media type in lower case, without parameters."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def is_markdown(self) -> bool:
        """Whether a client would read it as Markdown."""
        kind = self.media_type
        return self.is_success and (kind in MARKDOWN or (kind in ("text/plain", "") and self._has_front_matter))

    @property
    def is_html(self) -> bool:
        """Whether it is a page for browsers."""
        return self.is_success and self.media_type in HTML

    @property
    def is_json(self) -> bool:
        """Whether it is declared as JSON."""
        return self.is_success and is_json(self.media_type)

    @property
    def value(self) -> Value:
        """The JSON value; None where it is none."""
        try:
            return parse_json(self.text or "") if is_json(self.media_type) else None
        except JsonError:
            return None

    @property
    def said(self) -> str:
        """What came back, in a few words for a sentence."""
        if self.problem:
            return self.problem
        if not self.is_success:
            return f"the answer is {self.status}"
        return f"the answer is {shown(self.media_type) or 'of no named type'}"

    def header(self, name: str) -> str:
        """Return a header, empty where it is not there."""
        return self.headers.get(name, "")

    def lists(self, name: str, word: str) -> bool:
        """Return whether a header that is a list with commas has a word, in any letters."""
        return word in (each.partition("=")[0].strip().lower() for each in self.header(name).split(","))

    @property
    def _has_front_matter(self) -> bool:
        return re.match("\ufeff?---[\r\n]", self.text or "") is not None
