"""What a URL path on a site leads to when it is no document: an action or a file beside the nodes (HA5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct, field

from prosa.source import FileProblem, Files

_SITE_INDEXES = frozenset(("/mdh/nodes.json", "/mdh/actions.json"))
"""Indexes that a server makes (HA1)."""


class Leads(Struct, frozen=True, dict=True):
    """The files below ``root`` and the actions of one site, as pairs of URL and id. Every path is looked up once."""

    root: Path
    declared: Sequence[tuple[str, str]]
    files: Files
    _known: dict[str, str | None] = field(default_factory=dict)

    def what(self, path: str) -> str | None:
        """Return a few words for the target of a decoded URL path, or None for nothing."""
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def _look(self, path: str) -> str | None:
        action = self._actions.get(path) or self._templated(path)
        if action is not None:
            return f"the URL of the action `{action}`"
        if path in _SITE_INDEXES:
            return "an index of the site"
        return "a file of the site" if self._is_file(path) else None

    @cached_property
    def _actions(self) -> Mapping[str, str]:
        """The id of the first action at every decoded URL path."""
        found: dict[str, str] = {}
        for url, name in self.declared:
            found.setdefault(unquote("/" + url.partition("?")[0].lstrip("/")), name)
        return found

    @cached_property
    def _templates(self) -> Mapping[int, list[tuple[list[str], str]]]:
        """Paths with `{name}` in them (HA10), by the number of their parts."""
        found: dict[int, list[tuple[list[str], str]]] = {}
        for path, name in self._actions.items():
            if "{" in path:
                parts = path.split("/")
                found.setdefault(len(parts), []).append((parts, name))
        return found

    def _templated(self, path: str) -> str | None:
        parts = path.split("/")
        for pattern, name in self._templates.get(len(parts), ()):
            if all(_fits(part, wanted) for part, wanted in zip(parts, pattern, strict=True)):
                return name
        return None

    def _is_file(self, path: str) -> bool:
        """Return whether a file is there that a server of static files would serve: none that is hidden (X23)."""
        parts = [part for part in path.split("/") if part]
        hidden = any(part.startswith(".") and part != ".well-known" for part in parts)
        if not parts or hidden or path.endswith("/") or "\0" in path:
            return False
        file = Path(self.root, *parts)
        return self.files.exists(file) and (bool(file.suffix) or self._can_be_opened(file))

    def _can_be_opened(self, file: Path) -> bool:
        """Return whether it is a file and no folder."""
        try:
            self.files.read(file)
        except FileProblem as problem:
            return problem.kind not in ("missing", "not-a-file", "outside-root")
        return True


def _fits(part: str, pattern: str) -> bool:
    """Return whether a part of a path may come from a part of a template: what stands around the braces is equal."""
    head, opened, rest = pattern.partition("{")
    if not opened:
        return part == pattern
    tail = rest.rpartition("}")[2]
    return len(part) > len(head) + len(tail) and part.startswith(head) and part.endswith(tail)
