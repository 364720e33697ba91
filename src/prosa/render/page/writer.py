"""Markdown into HTML, one event of the parser after the other. The result is not safe yet: `clean` follows.

In: the text, the anchors of its headings in order, and its invisible parts. Out: pieces of HTML that can be cleaned
separately, and between them the replacements of held fences. Raw HTML goes through `raw`.

A value that starts with the key is trusted: the author cannot write one, since the key is a hash of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from html import escape, unescape
from typing import TYPE_CHECKING, cast

import pyromark

from prosa.document import Document, maths, parse
from prosa.document.autolinks import addresses, may_hold_address
from prosa.document.walk import OPTIONS, encodable
from prosa.regex import regex
from prosa.render.page import obsidian
from prosa.render.page.model import Href, fragment, link_url, picture_url
from prosa.render.page.state import Coding, Quote, State, Unseen, Written, no_quote, uncoloured
from prosa.site.wikilinks import WikiHref, as_written
from prosa.source import SourceText

if TYPE_CHECKING:
    from prosa.document.events import Content, Detail, Event, FencedCode, HeadingTag, LinkTag

MAX_DEPTH = 64
"""Maximum nesting of visible quotations and lists; deeper ones only show their text."""

BELOW = 2
"""Levels that the headings of a quoted text stand below their own: the page has one first heading."""

_TAG = regex(r"<[^>]*(?:>|\Z)")
_FILE = regex(r"[^\s={}<>\"'`,;:|*?\\]*(?:\.[A-Za-z][A-Za-z0-9_-]{0,15}|(?:Make|Docker)file|LICENSE)")
_PLAIN_OPTIONS = OPTIONS ^ pyromark.Options.ENABLE_WIKILINKS
_SIMPLE = {"Emphasis": "em", "Strong": "strong", "Strikethrough": "del"}
_PHRASES = tuple(_SIMPLE)
_BREAKS = {"SoftBreak": "\n", "HardBreak": "<br>\n", "Rule": "<hr>\n"}
_ALIGN = {"Left": ' align="left"', "Center": ' align="center"', "Right": ' align="right"'}
_BLOCKS = frozenset({"BlockQuote", "List", "FootnoteDefinition", "Table"})


def write(
    text: str,
    *,
    link: Href,
    embed: Href,
    anchors: Iterable[str] = (),
    wiki: WikiHref = as_written,
    quote: Quote = no_quote,
    coding: Coding = uncoloured,
    vault: bool = False,
    blocks: frozenset[str] = frozenset(),
    quoted: bool = False,
    unseen: Unseen | None = None,
    scope: str = "",
) -> Written:
    """Return the pieces of ``text``.

    ``wiki`` resolves wikilinks, ``quote`` returns the replacement of an embedded document, ``coding`` that of a block
    of code. In a ``vault`` the other notations of Obsidian count too, elsewhere the names of the ``blocks`` that
    others point at; in a ``quoted`` text they are no anchors. ``scope`` separates its footnotes from those of another
    text on the same page.
    """
    text = encodable(text)
    key = key_of(text)
    text = joined_maths(text)
    state = State(
        key, embed, link, unseen or Unseen(), iter(anchors), scope, wiki, quote, coding, vault, blocks, quoted
    )
    state.raw.key = key
    options = OPTIONS if obsidian.has_wikilink(text, wiki) else _PLAIN_OPTIONS
    maths_events = maths.events(text, options, always=vault) if maths.may_hold_maths(text) else None
    events = cast("Iterable[Event]", pyromark.events(text, options=options) if maths_events is None else maths_events)
    for event in events:
        if type(event) is str:
            state.out.append(_BREAKS.get(event, ""))
        else:
            _take(state, *event.popitem())  # only Prosa emits this event, and this is the fastest test
    state.flush()
    if state.notes:
        state.pieces.append(_notes(state))
    return Written(key, tuple(state.pieces), state.titled)


def joined_maths(text: str) -> str:
    """Return a text in which each block of mathematics is one line."""
    document: list[Document] = []

    def in_code(at: int) -> bool:
        document[:] = document or [parse(SourceText(text))]
        return document[0].in_code(at)

    return maths.joined(text, in_code) if maths.may_hold_maths(text) else text


def key_of(text: str) -> str:
    """Return the prefix of trusted values in the HTML of a text: a hash of it, which its author cannot write
    into it."""
    return f"k{sha256(encodable(text).encode()).hexdigest()[:24]}/"  # with a slash it is no scheme of a URL


def _take(state: State, kind: str, value: Content) -> None:
    """One event: text, the start or the end of something, or what stands for itself."""
    if kind == "Text":
        if state.block is not None:
            state.block.append(value)
            return
        state.out.append(_text(state, value))
    elif kind == "Start" or kind == "End":
        name, payload = (value, None) if type(value) is str else value.popitem()
        own = (_START if kind == "Start" else _END).get(name)
        if own:
            own(state, name, payload)
        else:
            state.out.append("<div>" if kind == "Start" else "</div>")
    elif kind in _LEAF:
        _LEAF[kind](state, value)


def _text(state: State, text: str) -> str:
    """Render running text: its addresses are links, in a vault its highlights are marked."""
    text = maths.written(text)  # a block that the parser takes for none
    if state.links or state.raw.links or not may_hold_address(text):
        return _marked(state, text)
    pieces: list[str] = []
    done = 0
    for start, end, url in addresses(text):
        link = f'<a href="{escape(url)}">{escape(text[start:end], quote=False)}</a>'
        pieces += (_marked(state, text[done:start]), link)
        done = end
    return "".join((*pieces, _marked(state, text[done:])))


def _math(state: State, tex: str, sign: str, look: str) -> str:
    """Mathematics as its author wrote it, signs included."""
    return f'<span class="{state.key}{look}">{sign}{escape(maths.written(tex), quote=False)}{sign}</span>'


def _marked(state: State, text: str) -> str:
    html = escape(text, quote=False)
    return obsidian.marked(html) if state.vault else html


def _paragraph(state: State, _: str, __: Detail) -> None:
    state.paragraph, state.split = len(state.out), False
    state.out.append("<p>")


def _end_paragraph(state: State, _: str, __: Detail) -> None:
    obsidian.name_block(state)
    state.out.append("</p>\n")
    if state.split:
        obsidian.close_split(state)
    state.paragraph = -1


def _phrase(state: State, name: str, _: Detail) -> None:
    state.phrase += 1
    state.out.append(f"<{_SIMPLE[name]}>")


def _end_phrase(state: State, name: str, _: Detail) -> None:
    state.phrase -= 1
    state.out.append(f"</{_SIMPLE[name]}>")


def _end_item(state: State, _: str, __: Detail) -> None:
    obsidian.name_block(state)
    state.out.append("</li>\n")


def _enter(state: State, name: str, payload: Detail) -> None:
    """Open a block around others."""
    obsidian.name_block(state)
    state.depth += 1
    state.around.append(payload)
    if state.depth > MAX_DEPTH and name in ("BlockQuote", "List"):
        return
    if name == "BlockQuote":
        state.push()
    elif name == "List":
        start = "" if payload in (None, 1) else f' start="{payload}"'
        state.out.append("<ul>\n" if payload is None else f"<ol{start}>\n")
    elif isinstance(payload, tuple):
        state.columns = payload
        state.out.append(f'<div class="{state.key}scroll" tabindex="{state.key}0"><table>\n')
    else:
        state.push()


def _leave(state: State, name: str, _: Detail) -> None:
    state.depth -= 1
    payload = state.around.pop()
    if state.depth >= MAX_DEPTH and name in ("BlockQuote", "List"):
        pass
    elif name == "BlockQuote":
        inside = state.pop()
        state.out.append(obsidian.quotation(state.key, inside))
    elif name == "List":
        state.out.append("</ul>\n" if payload is None else "</ol>\n")
    elif name == "Table":
        state.out.append("</table></div>\n" if state.in_head else "</tbody></table></div>\n")
    elif isinstance(payload, str):  # the label of a footnote
        note = state.pop()
        if state.defined not in state.unseen.notes:
            state.notes.append((payload.casefold(), note))
        state.defined += 1
    if not state.depth and state.waiting:
        state.flush()


def _heading(state: State, _: str, payload: HeadingTag) -> None:
    first = not state.headed and not state.depth and not state.pieces and not "".join(state.out).strip()
    state.headed = True
    state.heading = (payload["level"][1], next(state.anchors, ""), first)
    state.phrase += 1
    state.push()


def _end_heading(state: State, _: str, __: Detail) -> None:
    level, anchor, first = state.heading
    state.phrase -= 1
    text, key = state.pop(), state.key
    named = f' id="{key}{escape(anchor)}"' if anchor else ""
    own = (
        f' <a class="{key}self" href="{key}{fragment(anchor)}" aria-label="{key}Link to this section">#</a>'
        if anchor
        else ""
    )
    tag = f"h{min(int(level) + BELOW, 6)}" if state.quoted else f"h{level}"
    state.out.append(f"<{tag}{named}>{text}{own}</{tag}>\n")
    if level == "1" and first and not state.quoted:
        state.flush()
        state.titled = True


def _code(state: State, _: str, payload: FencedCode | str) -> None:
    fenced = not isinstance(payload, str)
    language, file = ("", "") if isinstance(payload, str) else _info(payload["Fenced"])
    held = fenced and state.fences in state.unseen.held
    state.code = (held, language, file)
    state.block = []
    if held:
        script = state.unseen.held[state.fences]
        state.waiting += [script] if script else []
    state.fences += fenced


def _info(info: str) -> tuple[str, str]:
    """Return the language of a block of code, and the name of its file: a second word that looks like one."""
    words = info.split(maxsplit=2)[:2]
    file = words[1] if len(words) > 1 and _FILE.fullmatch(words[1]) else ""
    return (words[0] if words else "", file)


def _end_code(state: State, _: str, __: Detail) -> None:
    held, language, file = state.code
    text, state.block = "".join(state.block or ()), None
    if not held:
        named = f' class="language-{escape(language)}"' if language else ""
        inside = state.coding(text, language)
        block = f'<pre tabindex="{state.key}0"><code{named}>{inside}</code></pre>'
        caption = f"<figcaption>{escape(file)}</figcaption>\n"
        state.out.append(f'<figure class="{state.key}file">{caption}{block}</figure>\n' if file else f"{block}\n")
    elif not state.depth:
        state.flush()


def _link(state: State, _: str, payload: LinkTag) -> None:
    is_wiki = isinstance(payload["link_type"], dict)
    state.linked.append(payload if is_wiki else None)
    state.links += 1
    if is_wiki:
        state.push()
        return
    target = f"mailto:{payload['dest_url']}" if payload["link_type"] == "Email" else payload["dest_url"]
    title = f' title="{escape(payload["title"])}"' if payload["title"] else ""
    state.out.append(f'<a href="{escape(target)}"{title}>')


def _end_link(state: State, _: str, __: Detail) -> None:
    state.links -= 1
    payload = state.linked.pop()
    if payload is None:
        state.out.append("</a>")
    else:
        label = state.pop()
        state.out.append(obsidian.wikilink(state, payload, label))


def _image(state: State, _: str, payload: LinkTag) -> None:
    state.pictured.append(payload)
    state.phrase += 1
    state.push()


def _end_image(state: State, _: str, __: Detail) -> None:
    state.phrase -= 1
    payload = state.pictured.pop()
    inside = state.pop()
    alt = escape(unescape(_TAG.sub("", inside)))
    if isinstance(payload["link_type"], dict):
        state.out.append(obsidian.embed(state, payload, alt))
        return
    alt, size = obsidian.sized(alt) if state.vault else (alt, "")
    source = picture_url(state.embed(payload["dest_url"]))
    title = f' title="{escape(payload["title"])}"' if payload["title"] else ""
    if source:
        state.out.append(f'<img src="{state.key}{escape(source)}" alt="{alt}"{title}{size} loading="{state.key}lazy">')
    elif state.links or not link_url(state.link(payload["dest_url"])):
        state.out.append(f'<span class="{state.key}picture"{title}>image: {alt}</span>')
    else:
        state.out.append(f'<a class="{state.key}picture" href="{escape(payload["dest_url"])}"{title}>image: {alt}</a>')


def _html_block(state: State, _: str, __: Detail) -> None:
    state.push()


def _end_html_block(state: State, _: str, __: Detail) -> None:
    text = state.pop()
    state.out.append(state.raw.read(text))


def _row(state: State, name: str, _: Detail) -> None:
    is_head = name == "TableHead"
    state.out.append("<thead><tr>" if is_head else "<tbody>\n<tr>" if state.in_head else "<tr>")
    state.in_head = is_head
    state.cell = 0


def _end_row(state: State, name: str, _: Detail) -> None:
    state.out.append("</tr></thead>\n" if name == "TableHead" else "</tr>\n")


def _cell(state: State, _: str, __: Detail) -> None:
    align = _ALIGN.get(state.columns[state.cell], "") if state.cell < len(state.columns) else ""
    state.cell += 1
    state.phrase += 1
    state.out.append(f"<{'th' if state.in_head else 'td'}{align}>")


def _end_cell(state: State, _: str, __: Detail) -> None:
    state.phrase -= 1
    if state.in_head and state.out[-1].startswith("<th"):  # an empty head is the head of nothing
        state.out[-1] = f"<td{state.out[-1][3:]}</td>"
        return
    state.out.append("</th>" if state.in_head else "</td>")


def _reference(state: State, label: str) -> None:
    folded = label.casefold()
    if folded in state.unseen.labels:
        return
    known = folded in state.numbers
    number = state.numbers.setdefault(folded, len(state.numbers) + 1)
    key, name = state.key, f"{state.scope}{number}"
    named = "" if known else f' id="{key}fnref:{name}"'
    state.out.append(
        f'<sup class="{key}ref"><a{named} href="{key}{fragment(f"fn:{name}")}" '
        f'aria-label="{key}Footnote {number}">{number}</a></sup>'
    )


def _notes(state: State) -> str:
    """Return the footnotes in the order in which they are referred to; those that nothing refers to come last."""
    last = len(state.numbers) + 1
    items: list[str] = []
    used: set[int] = set()
    for number, note in sorted(((state.numbers.get(label, last), note) for label, note in state.notes), key=_number):
        key, name = state.key, f"{state.scope}{number}"
        own = number < last and number not in used
        used.add(number)
        named = f' id="{key}fn:{name}"' if own else ""
        back = f'<a class="{key}back" href="{key}{fragment(f"fnref:{name}")}" aria-label="{key}Back to the text">↩</a>'
        items.append(f"<li{named}>{note}{back if own else ''}</li>\n")
    return (
        f'<section class="{state.key}notes" aria-label="{state.key}Footnotes"><ol>\n{"".join(items)}</ol></section>\n'
    )


def _number(item: tuple[int, str]) -> int:
    return item[0]


def _start(tag: str) -> Callable[[State, str, Detail], None]:
    return lambda state, _, __: state.out.append(tag)


_START = cast(
    "dict[str, Callable[[State, str, Detail], None]]",  # each gets the detail of its names
    {
        **dict.fromkeys(_BLOCKS, _enter),
        **dict.fromkeys(("TableHead", "TableRow"), _row),
        "Heading": _heading,
        "CodeBlock": _code,
        "Link": _link,
        "Image": _image,
        "HtmlBlock": _html_block,
        "TableCell": _cell,
        "Item": _start("<li>"),
        "Paragraph": _paragraph,
        **dict.fromkeys(_PHRASES, _phrase),
    },
)
_END: dict[str, Callable[[State, str, Detail], None]] = {
    **dict.fromkeys(_BLOCKS, _leave),
    **dict.fromkeys(("TableHead", "TableRow"), _end_row),
    "Heading": _end_heading,
    "CodeBlock": _end_code,
    "Link": _end_link,
    "Image": _end_image,
    "HtmlBlock": _end_html_block,
    "TableCell": _end_cell,
    "Item": _end_item,
    "Paragraph": _end_paragraph,
    **dict.fromkeys(_PHRASES, _end_phrase),
}
_LEAF: dict[str, Callable[[State, str], None]] = {
    "Code": lambda state, text: state.out.append(f"<code>{escape(text, quote=False)}</code>"),
    "Html": lambda state, text: state.out.append(text),
    "InlineHtml": lambda state, text: state.out.append(state.raw.read(text)),
    "InlineMath": lambda state, tex: state.out.append(_math(state, tex, "$", "math")),
    "DisplayMath": lambda state, tex: state.out.append(_math(state, tex, "$$", "math display")),
    "FootnoteReference": _reference,
    "TaskListMarker": lambda state, done: state.out.append(f'<input type="checkbox"{" checked" if done else ""}> '),
}
