"""What a host reads at a path, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.data import Value
from prosa.dialects.context.view import HostFile, HostView

_WHEN = {
    "start": "before the first word",
    "match": "with matching files",
    "choice": "listed, read when the model chooses it",
    "call": "when a user calls it",
}


def render_host(view: HostView) -> str:
    """Return the files in the order of the host: those that it reads at once with their text, then the others."""
    return "\n".join(_lines(view))


def _lines(view: HostView) -> Iterator[str]:
    host = view.host
    yield f"{host.title} {host.versions} in {view.path}: about {view.tokens:,} tokens before the first word"
    for each in view.files:
        if each.loaded == "start":
            yield f"\n--- {_about(each)}"
            yield each.text
    rest = [each for each in view.files if each.loaded != "start"]
    if rest:
        yield ""
    for each in rest:
        yield f"{_about(each)}: {_WHEN[each.loaded]}"
    if not view.files:
        yield "it reads no file here"


def _about(each: HostFile) -> str:
    by = f", imported by {each.imported_by}" if each.imported_by else ""
    cut = ", cut by the limit of the host" if each.cut else ""
    return f"{each.path} ({each.kind}{by}, about {each.tokens:,} tokens{cut})"


def render_tokens(views: Sequence[HostView]) -> str:
    """Return a line for each host."""
    if not views:
        return "no host reads a file here"
    width = max(len(each.host.title) for each in views)
    return "\n".join(
        f"{each.host.title:<{width}}  about {each.tokens:>8,} tokens in {_count(each)} before the first word"
        for each in views
    )


def _count(view: HostView) -> str:
    count = sum(each.loaded in ("start", "choice") for each in view.files)
    return f"{count} file{'' if count == 1 else 's'}"


def host_object(view: HostView, *, texts: bool = True) -> dict[str, Value]:
    """Return the same as plain data, with ``texts`` or without."""
    return {
        "host": view.host.name,
        "versions": view.host.versions,
        "path": view.path,
        "tokens": view.tokens,
        "files": [_file(each, texts=texts) for each in view.files],
    }


def _file(each: HostFile, *, texts: bool) -> dict[str, Value]:
    found: dict[str, Value] = {
        "path": each.path,
        "kind": each.kind,
        "loaded": each.loaded,
        "tokens": each.tokens,
        "imported_by": each.imported_by or None,
        "cut": each.cut,
    }
    return found | ({"text": each.text} if texts else {})
