"""An index that was brought up to date holds what one that is made anew holds, whatever happened in between."""

from __future__ import annotations

import tempfile
from pathlib import Path
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.adapters.sqlite import update
from prosa.corpus.extract import extract
from prosa.graph.build import build
from prosa.graph.sites import sites_of
from prosa.source import SourceText
from tests.adapters.sqlite.place import Place
from tests.depth import examples

PATHS = ("a.md", "b.md", "index.md", "sub/a.md", "sub/index.md", "sub/deep/C.md", "m.mda", "sub/meta.mda", "r.ymj")

TEXTS = (
    "# One\n\nSee [b](b.md), [[a]] and [up](../b.md#one).\n",
    "---\ntitle: Two\naliases: [Zwei]\ntags: [x, '#y']\n---\n[[Zwei]], [[c]], [[two]], <https://example.org/p>.\n",
    "---\nid: n:1\ntype: page\ntitle: Node\nlinks: [{rel: next, target: 'n:2'}]\n---\n[a](/sub/a) [b](./b)\n",
    "---\nid: n:2\ntype: page\ntitle: Other\ncanonical_url: https://example.org/p\nupdated: 2024-05-01\n---\n[x](/).\n",
    """---
doc-id: d-1
title: Magi
tags: [m]
---
Text[^a].

[^a]: `{"rel-type": "cites", "doc-id": "d-2", "rel-desc": "x", "rel-strength": 0.5}`
""",
    '---\ndoc-id: d-2\nglobs: ["*.md", "!index.md"]\naudience: [all]\nexpired-date: 2020-01-01\ntags: [l]\n---\n',
    '---\ndoc-id: d-1\nglobs: ["/**"]\nlanguage: de\nclassification: secret\n---\n# 概要\n\nこれは日本語の文章です。\n',
    """---
doc_summary: s
kind: note
version: 1.0
subject: A
maintained_by: me
---

[[A]] [[index]]

```json
{"schema": "1", "payload_hash": "x", "index": {"tags": ["t"], "embedding": [0.5, 1]},
 "ops": {"graph": {"edges": [{"type": "related", "to": "b"}]}}}
```
""",
    "---\nname: prog\nimports: [./b.md]\noutput: {}\n---\nHello\n",
    "---\ntitle: [broken\n---\n\n# Broken\n",
    "",
)

STEP = st.tuples(st.sampled_from(PATHS), st.one_of(st.none(), st.integers(0, len(TEXTS) - 1)))


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(STEP, min_size=1, max_size=4), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_ma18_y31_an_update_gives_what_a_new_index_gives(rounds, rooted, large):
    """Y31, MA18: also that the graph is the one that `graph.build` makes of the documents. A ``large`` change is linked
    in memory."""
    with mock.patch.object(update, "MOSTLY", 1 if large else update.MOSTLY), tempfile.TemporaryDirectory() as folder:
        place = Place.at(Path(folder), {path: TEXTS[at % len(TEXTS)] for at, path in enumerate(PATHS)}, given=rooted)
        place.refresh()
        for steps in rounds:
            for path, text in steps:
                if text is not None:
                    place.write(path, TEXTS[text])
                elif (place.root / path).exists():
                    place.remove(path)
            report = place.refresh()
            assert (report.healed, report.unreadable) == ("", ())
        place.check()
        same_as_new(place, Path(folder))


def same_as_new(place: Place, folder: Path):
    other = Place(place.root, type(place.index)(folder / "new-v1.sqlite"), place.given)
    other.refresh()
    assert place.dump() == other.dump()
    records = [
        extract(SourceText(file.read_text(encoding="utf-8"), file.name), file.relative_to(place.root).as_posix()).record
        for file in sorted(place.root.rglob("*.*"))
    ]
    graph = build(records, sites_of(records, given=place.given))
    found = place.index.graph()
    assert (found.nodes, found.edges, found.derived) == (graph.nodes, graph.edges, graph.derived)
    place.index.close()
    other.index.close()
