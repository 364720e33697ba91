"""The drawing as one HTML page that zooms, searches and opens documents; it needs no network and no server.

In: a scene, its caption, the links to the documents. Out: HTML. The page may only run its own script: its policy names
the hashes of the one style and the one script. Data is in a JSON block without any `<`; the script inserts it into the
page as text only. Without JavaScript the page shows the static drawing and the list of documents.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files

from prosa.data import Plain
from prosa.graph.node import Node
from prosa.render.graph.scene import Mark, Scene
from prosa.render.graph.style import NODE_STYLES, EdgeStyle, one_line, order_of
from prosa.render.graph.svg import Caption, drawing_css, escape, shape_path, svg
from prosa.render.json import dump
from prosa.source.url import quoted_relative

MAX_STILL = 800
"""Nodes up to which the page holds the still drawing. Beyond, it would be larger than everything else, and paper and
readers without JavaScript are better served by the list."""

Href = Callable[[str], str]
"""Returns the link in the page for a document's path."""

_SCRIPTS = ("model.js", "view.js", "draw.js", "side.js", "page.js")


def relative_href(prefix: str) -> Href:
    """Return links to documents under ``prefix``, the way from the page to the root of the corpus. Such a link is
    always a path: no name of a file can make it a scheme, a query or a fragment."""
    start = _quoted(prefix).strip("/")
    lead = ("/" if prefix.startswith("/") else "" if start.startswith("..") else "./") + f"{start}/"
    lead = {"//": "/", ".//": "./", "././": "./"}.get(lead, lead)
    return lambda path: f"{lead}{_quoted(path)}"


def _quoted(path: str) -> str:
    return quoted_relative(path)


def page_policy() -> str:
    """Return the content security policy of the page: its own style and script, and nothing else."""
    return (
        f"default-src 'none'; style-src '{_hash(_css())}'; script-src '{_hash(_script())}'; "
        "base-uri 'none'; form-action 'none'"
    )


def html(drawn: Scene, caption: Caption, href: Href, *, home: str = "") -> str:
    """Return the page. ``home`` is the address that its title leads to, where it is part of a site."""
    css, script = _css(), _script()
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{page_policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escape(caption.title)}</title>",
            f"<style>{css}</style>",
            "</head>",
            "<body>",
            *_head(caption, home),
            *_application(drawn),
            *_still(drawn, caption, href),
            f'<script type="application/json" id="data">{_data(drawn, href)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        )
    )


def _head(caption: Caption, home: str) -> Iterator[str]:
    title = f'<a href="{escape(home)}">{escape(caption.title)}</a>' if home else escape(caption.title)
    yield '<header class="top">'
    yield f'<div class="name"><h1>{title}</h1><p>{escape(caption.subtitle)}</p></div>'
    yield '<div class="find"><input id="query" type="search" placeholder="Search documents" autocomplete="off" '
    yield 'aria-label="Search documents" role="combobox" aria-expanded="false" aria-controls="hits">'
    yield '<ul id="hits" role="listbox" aria-label="Documents found" hidden></ul></div>'
    yield '<div class="zoom" role="group" aria-label="Zoom">'
    for name, sign, words in (("out", "−", "Zoom out"), ("in", "+", "Zoom in"), ("fit", "Fit", "Show everything")):
        yield f'<button type="button" id="zoom-{name}" aria-label="{words}" title="{words}">{sign}</button>'
    yield "</div>"
    yield "</header>"


def _application(drawn: Scene) -> Iterator[str]:
    yield '<main class="stage">'
    yield '<canvas id="picture" tabindex="0" role="application" aria-label="Graph of documents" '
    yield 'aria-describedby="keys"></canvas>'
    yield '<p id="tip" hidden></p>'
    yield '<details id="legend" open><summary>Legend and filters</summary>'
    yield from _filters(drawn)
    yield '<p id="keys">Drag to move, wheel or + and − to zoom, 0 to fit, / to search, Shift and arrows from node '
    yield "to node, Enter to open.</p></details>"
    yield '<aside id="side" aria-label="Document" hidden></aside>'
    yield '<p id="said" class="unseen" role="status" aria-live="polite"></p>'
    yield "</main>"


def _filters(drawn: Scene) -> Iterator[str]:
    counts = Counter(mark.style.name for mark in drawn.marks)
    yield "<fieldset><legend>Documents</legend>"
    for at, style in enumerate(NODE_STYLES):
        if counts[style.name]:
            shape = f'<path class="node d-{style.name}" d="{shape_path(style.shape, 14, 9, 6)}"/>'
            yield _filter("dialect", at, shape, style.title, counts[style.name])
    yield "</fieldset>"
    yield "<fieldset><legend>Connections</legend>"
    yield "<p>One line for a type between two documents.</p>"
    uses = Counter(line.kind for line in drawn.lines)
    for at, (rel, look) in enumerate(_rels(drawn)):
        line = f'<path class="edge r-{look.name}" d="M0 9H28"/>'
        yield _filter("rel", at, line, escape(rel), uses[rel])
    yield "</fieldset>"


def _filter(kind: str, at: int, sample: str, title: str, count: int) -> str:
    picture = f'<svg class="drawing" width="28" height="18" aria-hidden="true">{sample}</svg>'
    return (
        f'<label><input type="checkbox" data-{kind}="{at}" checked>{picture}<span>{title}</span>'
        f"<small>{count:,}</small></label>"
    )


def _still(drawn: Scene, caption: Caption, href: Href) -> Iterator[str]:
    """Yield the content for reading without JavaScript and for printing: the drawing if it is small enough, and
    every document."""
    drawing = len(drawn.marks) <= MAX_STILL
    yield f'<div class="still{" drawn" if drawing else ""}">'
    if drawing:
        yield f'<div class="sheet">{svg(drawn, caption, with_css=False)}</div>'
    yield "<h2>Documents</h2>"
    yield "<ul>"
    for mark in drawn.marks:
        if isinstance(mark.subject, Node):
            path = mark.subject.path
            yield f'<li><a href="{escape(href(path))}">{escape(mark.name)}</a> <small>{escape(path)}</small></li>'
    yield "</ul>"
    yield "</div>"


def _data(drawn: Scene, href: Href) -> str:
    """Return the data for the script, as JSON that cannot end its element or start another."""
    rels = _rels(drawn)
    place = {rel: at for at, (rel, _) in enumerate(rels)}
    value: dict[str, Plain] = {
        "width": round(drawn.box.width),
        "height": round(drawn.box.height),
        "dialects": [[style.title, style.shape, style.light, style.dark] for style in NODE_STYLES],
        "rels": [[rel, style.light, style.dark, style.width, list(style.dash)] for rel, style in rels],
        "nodes": [_node(mark, href) for mark in drawn.marks],
        "edges": [[line.source, line.target, place[line.kind], line.edge.line] for line in drawn.lines],
    }
    text = dump(value)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _node(mark: Mark, href: Href) -> list[str | float]:
    """Return `[name, style, x, y, radius, path, link, id, type]`; a missing document ends after its radius."""
    styles = [style.name for style in NODE_STYLES]
    place = (styles.index(mark.style.name), round(mark.x, 1), round(mark.y, 1), round(mark.radius, 1))
    drawn: list[str | float] = [mark.name, *place]
    if not isinstance(mark.subject, Node):
        return drawn
    node = mark.subject
    return [*drawn, one_line(node.path), href(node.path), one_line(node.id), one_line(node.type)]


def _rels(drawn: Scene) -> list[tuple[str, EdgeStyle]]:
    """Return the types that occur with their styles: those of the table in its order, then the others by name."""
    styles = {line.kind: line.style for line in drawn.lines}
    return sorted(styles.items(), key=lambda item: (order_of(item[1]), item[0]))


@cache
def _css() -> str:
    return f"\n{_read('page.css')}{drawing_css()}\n"


@cache
def _script() -> str:
    parts = "\n".join(_read(name) for name in _SCRIPTS)
    return f'\n"use strict";\n(() => {{\n{parts}}})();\n'


def _read(name: str) -> str:
    return files("prosa.render.graph").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
