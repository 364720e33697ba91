"""Tags in running text, `#travel/2026`, as Obsidian reads them. In: a document. Out: their names without `#`.

Only used for documents in a vault: elsewhere a number sign has other meanings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prosa.document.model import Cover
from prosa.regex import regex
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.document.document import Document

MAX_TAGS = 1_000
"""Different tags of one document that count."""

_TAG = regex(
    r"(?<![^\s(\[{\"'*_~>])#(?P<name>[^\s!-,.:-@\[-^`{-~\u00a1\u00a7\u00ab\u00b6\u00b7\u00bb\u00bf\u2000-\u206f"
    r"\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]*+)"
)
"""Any character but punctuation, except for `-`, `_` and `/`, which a name may contain."""

_COMMENT = "%%"


def inline_tags(document: Document) -> tuple[str, ...]:
    """Return the tags in the text of a document, each once. They lie in no code, HTML, link, mathematics or comment,
    and are no numbers."""
    text, base = document.parsed.text, document.body.start
    if "#" not in text:
        return ()
    hidden = Cover(obsidian_comments(document))
    tags: dict[str, None] = {}
    for match in _TAG.finditer(text):
        name, at = match["name"].strip("/"), match.start() + base
        if name and not name.isdecimal() and document.is_running_text(at) and at not in hidden:
            tags[name] = None
            if len(tags) == MAX_TAGS:
                break
    return tuple(tags)


def obsidian_comments(document: Document) -> Iterator[Span]:
    """Yield what stands between `%%` and `%%` outside of code."""
    text, at, opened = document.source.text, document.body.start, -1
    while (at := text.find(_COMMENT, at)) >= 0:
        if not document.in_code(at):
            if opened >= 0:
                yield Span(opened, at + len(_COMMENT))
            opened = at if opened < 0 else -1
        at += len(_COMMENT)
