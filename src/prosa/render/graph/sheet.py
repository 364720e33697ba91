"""The style sheet of a drawing, from the table of styles: light, dark and print. The page embeds the same."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.render.graph.style import (
    DARK_GROUND,
    DARK_QUIET,
    DARK_TEXT,
    EDGE_STYLES,
    GHOST,
    LIGHT_GROUND,
    LIGHT_QUIET,
    LIGHT_TEXT,
    NODE_STYLES,
    EdgeStyle,
)

FONTS = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif"


def drawing_css() -> str:
    """Return the rules, one per line. Colours stand as plain values: not every reader of SVG knows CSS variables."""
    return "\n".join((*_fixed(), *_colours(dark=False), *_only("(prefers-color-scheme:dark)", dark=True), *_print()))


def _fixed() -> Iterator[str]:
    yield f".drawing text{{font-family:{FONTS};font-size:12px}}"
    yield ".drawing .head{font-size:20px;font-weight:650;letter-spacing:-.01em}"
    yield ".drawing .sub{font-size:13px}"
    yield ".drawing .group{font-size:11px;font-weight:600;letter-spacing:.06em}"
    yield ".drawing .label{text-anchor:middle;paint-order:stroke;stroke-width:3px;stroke-linejoin:round}"
    yield ".drawing .hub{font-weight:650}"
    yield ".drawing .lost{font-style:italic}"
    yield ".drawing .edge{fill:none;stroke-linecap:butt}"
    yield ".drawing .node{stroke-width:1.5px;stroke-linejoin:round}"
    for style in EDGE_STYLES:
        yield f".drawing .r-{style.name}{{stroke-width:{style.width}px{_dash(style)}}}"
    yield ".drawing .many{opacity:.6;stroke-width:.8px}"


def _dash(style: EdgeStyle) -> str:
    return f";stroke-dasharray:{' '.join(f'{each:g}' for each in style.dash)}" if style.dash else ""


def _colours(*, dark: bool) -> Iterator[str]:
    ground, text, quiet = (DARK_GROUND, DARK_TEXT, DARK_QUIET) if dark else (LIGHT_GROUND, LIGHT_TEXT, LIGHT_QUIET)
    yield f".drawing .ground{{fill:{ground}}}"
    yield f".drawing text{{fill:{text}}}"
    yield f".drawing .sub,.drawing .group,.drawing .lost,.drawing .count{{fill:{quiet}}}"
    yield f".drawing .label{{stroke:{ground}}}"
    yield f".drawing .node{{stroke:{ground}}}"
    for node in NODE_STYLES:
        colour = node.dark if dark else node.light
        if node is GHOST:
            yield f".drawing .d-{node.name}{{fill:{ground};stroke:{colour};stroke-dasharray:2.5 2}}"
        else:
            yield f".drawing .d-{node.name}{{fill:{colour}}}"
    for edge in EDGE_STYLES:
        colour = edge.dark if dark else edge.light
        yield f".drawing .r-{edge.name}{{stroke:{colour}}}.drawing .a-{edge.name}{{fill:{colour}}}"


def _only(condition: str, *, dark: bool) -> Iterator[str]:
    yield f"@media {condition}{{"
    yield from _colours(dark=dark)
    yield "}"


def _print() -> Iterator[str]:
    """Return the colours for print: paper is white, and anything in the background colour is drawn in white."""
    yield "@media print{"
    yield from _colours(dark=False)
    yield ".drawing .ground{fill:#fff}.drawing .label,.drawing .node:not(.d-missing){stroke:#fff}"
    yield "}"
