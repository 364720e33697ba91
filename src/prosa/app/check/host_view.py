"""What a host would read at a path: instructions and rules in its order, with what they import, and what it offers its
model to choose from (X38).

In: the name of a host, and a path. Out: a `HostView`. Files are read below the root alone (X5), and nothing is run.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_root
from prosa.adapters.files.read import real_path
from prosa.app.check.gather import Group
from prosa.app.check.project import project_at
from prosa.data import Mapping, Scalar
from prosa.data import Sequence as Items
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects.context.hosts import HOSTS, Host, HostPlace, host_named
from prosa.dialects.context.mentions import imports_in
from prosa.dialects.context.view import HostFile, HostView
from prosa.dialects.front import FrontReading
from prosa.dialects.reading import front_of
from prosa.document import parse
from prosa.rules.context.reach import expanded
from prosa.source import FileProblem, SourceText
from prosa.source.wildmatch import glob_matches

MAX_FILES = 1_000
"""Files of one view."""


def host_view(name: str, path: Path) -> HostView:
    """Return what the host called ``name`` reads where it works in ``path``, a folder or a file. Raises `UnknownName`,
    and `FileProblem` for a path that does not exist."""
    host = host_named(name)
    if host is None:
        raise UnknownName("host", name, [candidate.name for candidate in HOSTS])
    if not path.exists():
        raise FileProblem(path, "missing", "no such file or folder")
    return _Viewing.at(path).view(host)


def host_views(path: Path) -> tuple[HostView, ...]:
    """Return what every host reads in ``path``, without hosts that read nothing there."""
    viewing = _Viewing.at(path)
    views = (viewing.view(host) for host in HOSTS)
    return tuple(view for view in views if view.files)


class _Viewing(Struct, frozen=True):
    """A project, and where in it a host works: ``here`` is the path below the root, ``folder`` that of the folder."""

    root: Path
    files: RootedFiles
    listed: tuple[str, ...]
    here: str
    folder: str
    opened: dict[str, tuple[SourceText, FrontReading]] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> _Viewing:
        root = find_root(path)
        files = RootedFiles(root)
        group = Group(files, (), root, project_at(root, root), whole=True, agents=True)
        here = real_path(path).relative_to(root).as_posix()
        folder = here if path.is_dir() else posixpath.dirname(here)
        return cls(
            root, files, tuple(group.listing() or ()), "" if here == "." else here, folder if folder != "." else ""
        )

    def view(self, host: Host) -> HostView:
        files: list[HostFile] = []
        for place in host.places:
            if place.kind in ("servers", "settings", "plugin", "marketplace"):
                continue
            if any(self.text(name) is not None for name in place.without):
                continue
            for path in self.paths(place):
                files += self.loaded(host, place, path)
                if len(files) > MAX_FILES:
                    break
        return HostView(host, self.root, self.here or ".", tuple(_limited(host, _in_order(files))))

    def paths(self, place: HostPlace) -> Iterator[str]:
        """Yield the files of a place that are read here, from the root inwards."""
        for folder in self.folders(place):
            names = (file for name in place.names for file in self.matching(folder, name))
            present = (name for name in names if (self.text(name) or "").strip())
            yield from list(present)[: 1 if place.first else None]

    def folders(self, place: HostPlace) -> list[str]:
        if place.reach == "root":
            return [""]
        parts = PurePosixPath(self.folder).parts
        return ["", *("/".join(parts[: at + 1]) for at in range(len(parts)))]

    def matching(self, folder: str, name: str) -> list[str]:
        """Return the files that a glob of the table names in a folder."""
        path = posixpath.join(folder, name)
        if "*" not in path:
            return [path] if self.files.exists(self.root / path) else []
        start = path.partition("*")[0]
        return sorted(file for file in self.listed if file.startswith(start) and glob_matches(path, file))

    def loaded(self, host: Host, place: HostPlace, path: str) -> Iterator[HostFile]:
        source, front = self.open(path)
        when, body = self.when(place, front.fields), source.slice(front.body).strip("\n")
        if place.kind == "agent" and host.name == "claude" and _field(front.fields, "name") == "":
            return
        if when == "choice":
            listed = ": ".join(filter(None, (_field(front.fields, "name") or _name(path), _description(front.fields))))
            yield HostFile(path, place.kind, when, listed)
        elif when in ("start", "match", "call"):
            yield HostFile(path, place.kind, when, body)
            if host.imports and place.kind in ("instructions", "rule"):
                yield from self.imported(source, host.imports, when, {path})

    def open(self, path: str) -> tuple[SourceText, FrontReading]:
        """Return a text and its front matter; several hosts read the same file."""
        if path not in self.opened:
            source = SourceText(self.text(path) or "", path)
            self.opened[path] = source, front_of(source)
        return self.opened[path]

    def when(self, place: HostPlace, fields: Mapping | None) -> str:
        """Return when a file is loaded here, by its front matter where that decides."""
        if place.always and fields is not None and _field(fields, place.always) == "true":
            return "start"
        globs = list(_globs(fields, place.scope)) if place.scope else []
        if not globs:
            described = place.always and _description(fields)
            return ("choice" if described else "call") if place.when == "match" else place.when
        if "**" in globs or "*" in globs:
            return "start"
        hit = any(glob_matches(pattern, self.here) for glob in globs for pattern in expanded(glob))
        return "start" if hit else "match"

    def imported(self, source: SourceText, depth: int, when: str, seen: set[str]) -> Iterator[HostFile]:
        """Yield the files that a text imports, each once, and below each what that imports."""
        for imported in imports_in(parse(source)) if depth else ():
            path = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), imported.target))
            text = self.text(path) if not imported.target.startswith(("~", "/")) and path not in seen else None
            if text is None or len(seen) > MAX_FILES:
                continue
            seen.add(path)
            yield HostFile(path, "import", when, text.strip("\n"), source.path)
            yield from self.imported(SourceText(text, path), depth - 1, when, seen)

    def text(self, path: str) -> str | None:
        """Return the text of a file below the root; None where it is none, or lies elsewhere."""
        place = self.root / path
        if path.startswith("..") or not self.files.inside_root(place) or not self.files.exists(place):
            return None
        try:
            return self.files.read(place).text
        except FileProblem:
            return None


_ORDER = {"start": 0, "match": 1, "choice": 2, "call": 3}


def _in_order(files: Sequence[HostFile]) -> list[HostFile]:
    """Return what is loaded at the start first; all else in the order of the host."""
    return sorted(files, key=lambda file: _ORDER[file.loaded])


def _limited(host: Host, files: Sequence[HostFile]) -> Iterator[HostFile]:
    """Yield the files with their texts cut where the host's limit ends them."""
    left = host.limit
    for file in files:
        size = len(file.text.encode())
        if host.limit and file.loaded == "start" and size > left:
            yield replace(file, text=file.text.encode()[: max(left, 0)].decode("utf-8", "ignore"), cut=True)
            left = 0
        else:
            left -= size if file.loaded == "start" else 0
            yield file


def _field(fields: Mapping | None, name: str) -> str:
    node = fields.get(name) if fields is not None else None
    return node.text.strip() if isinstance(node, Scalar) and node.value is not None else ""


def _description(fields: Mapping | None) -> str:
    return " ".join(filter(None, (_field(fields, "description"), _field(fields, "when_to_use"))))


def _globs(fields: Mapping | None, name: str) -> Iterator[str]:
    node = fields.get(name) if fields is not None else None
    if isinstance(node, Items):
        yield from (item.text.strip() for item in node.items if isinstance(item, Scalar))
    elif isinstance(node, Scalar) and node.value is not None:
        yield from (glob for part in node.text.split(",") if (glob := part.strip()))


def _name(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.name == "SKILL.md" else pure.name.partition(".")[0]
