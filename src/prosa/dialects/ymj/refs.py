"""What a record points at, and what others can point at in it (Y21, Y31): wikilinks, `ops.graph` edges, attachments;
its subject as title. Its stem comes from its path, and it has no id of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prosa.data import Scalar
from prosa.dialects.ymj.attachments import local_path, text_in
from prosa.dialects.ymj.model import YmjModel, mappings_of
from prosa.document import Def, Ref
from prosa.document.references import RefKind

_WIKILINK = re.compile(r"\[\[([^\[\]|#]+)(?:#([^\[\]|]*))?(?:\|[^\[\]]*)?\]\]")
_FILE = re.compile(r".*\.(?:md|markdown|mda|ymj)", re.IGNORECASE | re.DOTALL)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def references(model: YmjModel) -> tuple[Ref, ...]:
    """Wikilinks of the body, edges of the footer, attachments."""
    return (*_wikilinks(model), *_edges(model), *_attachments(model))


def definitions(model: YmjModel) -> tuple[Def, ...]:
    """The subject."""
    subject = model.fields.get("subject")
    if subject is None or not isinstance(subject.value, Scalar):
        return ()
    return (Def("title", subject.value.text, subject.value.span),)


def _wikilinks(model: YmjModel) -> Iterator[Ref]:
    for link in model.document.wikilinks:
        if link.target:
            yield Ref("wikilink", link.target, "stem", link.span, fragment=link.fragment or "")


def _edges(model: YmjModel) -> Iterator[Ref]:
    graph = model.ops_map("graph")
    for edge in mappings_of(graph.entry("edges") if graph is not None else None):
        to, rel = edge.get("to"), text_in(edge, "type")
        if isinstance(to, Scalar) and isinstance(to.value, str) and to.value.strip():
            target, fragment, kind = _target(to.value.strip())
            yield Ref("ops.graph", target, kind, to.span, rel=rel, fragment=fragment)


def _target(text: str) -> tuple[str, str, RefKind]:
    """What an edge names: a wikilink, an address, a file, or the stem of one."""
    match = _WIKILINK.fullmatch(text)
    if match:
        return match[1].strip(), match[2] or "", "stem"
    if _URL.match(text):
        return text, "", "url"
    path, _, fragment = text.partition("#")
    return (path, fragment, "path") if "/" in path or _FILE.fullmatch(path) else (text, "", "stem")


def _attachments(model: YmjModel) -> Iterator[Ref]:
    for each in model.attachments:
        if each.uri is None:
            continue
        path = local_path(each.uri, Path())
        kind: RefKind = "url" if path is None else "path"
        yield Ref("front-matter", each.uri if path is None else path.as_posix(), kind, each.span, rel="attachment")
