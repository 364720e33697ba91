"""Data that requires reading all documents of a site: their actions and their summaries.

In: a site with a catalogue. Out: plain values. Only documents that declare actions, or may be given some, are opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from prosa.data import Value
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite

_WITH_ACTIONS = "SELECT path, actions FROM document WHERE actions <> '[]' ORDER BY path"
_SUMMARIES = """SELECT d.path, m.key, m.text FROM metadata m JOIN document d ON d.id = m.document
  WHERE m.key IN ('summary', 'description', 'footer.ops.page.seo.description')
    AND m.n = 0 AND m.kind = 'text' AND m.lent_by IS NULL"""

MAX_SUMMARY = 300


def declared_actions(site: LiveSite) -> Iterator[tuple[str, Mapping[str, Value]]]:
    """Yield every action with the id of its node, by path."""
    for path in _paths(site):
        try:
            view = site.view(path)
        except FileProblem:
            continue
        if view is not None:
            yield from ((view.id, action) for action in view.actions)


def summaries(site: LiveSite) -> dict[str, str]:
    """Return what documents say of themselves in one line, by path; `summary` before `description`."""
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_SUMMARIES).fetchall())
    found: dict[str, str] = {}
    for path, key, text in rows:
        if key != "description" or path not in found:
            found[path] = " ".join(text.split())[:MAX_SUMMARY]
    return found


def _paths(site: LiveSite) -> list[str]:
    rows = site.index.ask(lambda corpus: corpus.index.connection().execute(_WITH_ACTIONS).fetchall())
    declaring = {path for path, actions in rows if json.loads(actions)}
    if site.options.actions is not None:
        declaring |= {row.path for row in site.index.catalogue.rows if row.dialect == "markdownlang"}
    return sorted(path for path in declaring if path in site.index.catalogue.by_path)
