"""Notations of Obsidian as HTML: wikilinks, embeds, callouts (GitHub's alerts too), named blocks, highlights.

In: the state of the writer, and the link from the parser. Out: HTML, which is cleaned like everything else. Wikilinks
are already resolved; `excerpts` renders and cleans quotations.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from prosa.regex import regex
from prosa.render.page.state import State
from prosa.site.wikilinks import Wiki, WikiHref, name_of, size_of

if TYPE_CHECKING:
    from prosa.document.events import LinkTag

UNRESOLVED = "No page here answers to this link"
"""The same text for missing documents and those that may not be shown (X23)."""

_WIKILINK = regex(r"\[\[([^\[\]|`\\]+)")
_MARKED = regex(r"==(?=\S)((?:[^=]|=(?!=))+?)(?<=\S)==")
_BLOCK_NAME = regex(r"(?:^|(?<![ \t])[ \t]++)\^([A-Za-z0-9-]++)[ \t]*+\Z")
_EMPTY = regex(r"<p>(?:\s|<br>)*</p>\n?")
_CALLOUT = regex(
    r"\s*<p>\[!(?P<type>[A-Za-z][A-Za-z0-9_-]{0,40})(?:\|[^\]\n<>]{0,200})?\](?P<fold>[+-]?)"
    r"(?:[ \t\xa0]++(?P<title>[^\n]*?))?(?P<end></p>|<br>\n|\n)"
)

_KINDS = {
    "note": "note info todo abstract summary tldr",
    "tip": "tip hint important success check done",
    "warning": "warning caution attention question help faq",
    "danger": "danger error failure fail missing bug",
    "example": "example",
    "quote": "quote cite",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
"""The styles of callouts; an unknown type looks like a note, as in Obsidian."""


def has_wikilink(text: str, wiki: WikiHref) -> bool:
    """Return whether double brackets in a text may be a wikilink. Where none are, brackets keep their plain meaning."""
    return "[[" in text and any(wiki(match[1]).kind != "text" for match in _WIKILINK.finditer(text))


def wikilink(state: State, payload: LinkTag, label: str) -> str:
    """Return a wikilink; ``label`` is the text between its brackets, or after the bar, as HTML."""
    written, own = _parts(payload)
    return _linked(state, state.wiki(written), written, label if own else escape(name_of(written)), bar=own)


def embed(state: State, payload: LinkTag, label: str) -> str:
    """Return an embed: a picture, a quoted document, else a link."""
    written, own = _parts(payload)
    wiki = state.wiki(written)
    name = label if own and not size_of(label) else escape(name_of(written))
    if wiki.kind == "picture":
        size = _size(size_of(label)) if own else ""
        return f'<img src="{state.key}{escape(wiki.url)}" alt="{name}"{size} loading="{state.key}lazy">'
    if wiki.kind == "node" and not state.phrase and not state.links:
        quoted = state.quote(written)
        if quoted and state.paragraph >= 0:
            state.split = True
            return f"</p>\n{quoted}\n<p>"
        if quoted:
            return f"\n{quoted}\n"
    shown = _linked(state, wiki, written, name if wiki.kind != "text" else label, bar=own)
    return f"!{shown}" if wiki.kind == "text" else shown


def _parts(payload: LinkTag) -> tuple[str, bool]:
    """Return what stands between the brackets without a label, and whether there is one. In a table the bar is
    `\\|`."""
    kind = payload["link_type"]
    own = not isinstance(kind, str) and kind["WikiLink"]["has_pothole"]
    written = payload["dest_url"]
    return (written.removesuffix("\\") if own else written), own


def _linked(state: State, wiki: Wiki, written: str, label: str, *, bar: bool) -> str:
    if wiki.kind == "text":
        return f"[[{escape(written, quote=False)}{f'|{label}' if bar else ''}]]"
    if wiki.kind == "missing":
        shown = label if state.vault else f"[[{label}]]"
        return f'<span class="{state.key}missing" title="{state.key}{UNRESOLVED}">{shown}</span>'
    return label if state.links else f'<a href="{state.key}{escape(wiki.url)}">{label}</a>'


def _size(size: tuple[str, str] | None) -> str:
    if size is None:
        return ""
    return f' width="{size[0]}"' + (f' height="{size[1]}"' if size[1] else "")


def sized(alt: str) -> tuple[str, str]:
    """Return the description of a picture without the size behind its bar, and the size as attributes."""
    text, bar, last = alt.rpartition("|")
    size = size_of(last)
    return (text, _size(size)) if bar and size else (alt, "")


def close_split(state: State) -> None:
    """End a paragraph with quoted documents, which are placed between its parts."""
    whole = "".join(state.out[state.paragraph :])
    del state.out[state.paragraph :]
    state.out.append(_EMPTY.sub("", whole))


def marked(text: str) -> str:
    """Return a text, as HTML, with its highlights."""
    return _MARKED.sub(r"<mark>\1</mark>", text) if "==" in text else text


def name_block(state: State) -> None:
    """Make the name at the end of a block an anchor, which is not shown."""
    if not (state.vault or state.named) or not state.out or "^" not in state.out[-1]:
        return
    match = _BLOCK_NAME.search(state.out[-1])
    if match is None or not (state.vault or match[1] in state.named):
        return
    name = f"^{match[1]}"
    known = state.quoted or name in state.blocks
    state.blocks.add(name)
    anchor = "" if known else f'<span id="{state.key}{escape(name)}"></span>'
    state.out[-1] = state.out[-1][: match.start()] + anchor


def quotation(key: str, inside: str) -> str:
    """Return a block quotation, or a callout."""
    match = _CALLOUT.match(inside) if "[!" in inside else None
    if match is None:
        return f"<blockquote>\n{inside}</blockquote>\n"
    name = match["type"].lower()
    word = name.replace("-", " ").replace("_", " ").capitalize()
    title = (match["title"] or "").strip() or word
    rest = inside[match.end() :] if match["end"] == "</p>" else f"<p>{inside[match.end() :]}"
    look = f'class="{key}callout {_KIND_OF.get(name, "note")}"'
    if match["fold"]:
        opened = " open" if match["fold"] == "+" else ""
        return f"<details {look}{opened}><summary>{title}</summary>\n{rest.lstrip()}</details>\n"
    head = f'<p class="{key}title">{title}</p>\n'
    return f'<div {look} role="{key}note" aria-label="{key}{word}">{head}{rest.lstrip()}</div>\n'
