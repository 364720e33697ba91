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
    for file in view.files:
        if file.loaded == "start":
            yield f"\n--- {_about(file)}"
            yield file.text
    rest = [file for file in view.files if file.loaded != "start"]
    if rest:
        yield ""
    for file in rest:
        yield f"{_about(file)}: {_WHEN[file.loaded]}"
    if not view.files:
        yield "it reads no file here"


def _about(file: HostFile) -> str:
    by = f", imported by {file.imported_by}" if file.imported_by else ""
    cut = ", cut by the limit of the host" if file.cut else ""
    return f"{file.path} ({file.kind}{by}, about {file.tokens:,} tokens{cut})"


def render_tokens(views: Sequence[HostView]) -> str:
    """Return a line for each host."""
    if not views:
        return "no host reads a file here"
    width = max(len(view.host.title) for view in views)
    return "\n".join(
        f"{view.host.title:<{width}}  about {view.tokens:>8,} tokens in {_count(view)} before the first word"
        for view in views
    )


def _count(view: HostView) -> str:
    count = sum(file.loaded in ("start", "choice") for file in view.files)
    return f"{count} file{'' if count == 1 else 's'}"


def host_object(view: HostView, *, texts: bool = True) -> dict[str, Value]:
    """Return the same as plain data, with ``texts`` or without."""
    return {
        "host": view.host.name,
        "versions": view.host.versions,
        "path": view.path,
        "tokens": view.tokens,
        "files": [_file(file, texts=texts) for file in view.files],
    }


def _file(file: HostFile, *, texts: bool) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "path": file.path,
        "kind": file.kind,
        "loaded": file.loaded,
        "tokens": file.tokens,
        "imported_by": file.imported_by or None,
        "cut": file.cut,
    }
    return fields | ({"text": file.text} if texts else {})
