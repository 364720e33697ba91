"""What a project defines: scripts, targets, recipes, binaries, packages, modules. Files are parsed, nothing is run.

In: a `Project`. Out: a `Defined` for each kind, or None where the files do not say it: an include that is not here, a
target that is made of a variable.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import MsgspecError, Struct, json

from prosa.data import Value
from prosa.dialects.context.model import Tool
from prosa.regex import regex
from prosa.rules.context.project import MAX_READ, Project

MAX_INCLUDES = 50
"""Makefiles that others include."""

MAX_BYTES = 2_000_000
"""Characters of a file that is parsed; a longer one says nothing."""


class Defined(Struct, frozen=True):
    """``names`` are all names of a kind in all files of the project, ``where`` the files. ``patterns`` are beginnings
    and ends of names that are made by a rule."""

    names: frozenset[str]
    where: tuple[str, ...]
    patterns: tuple[tuple[str, str], ...] = ()

    def has(self, name: str) -> bool:
        """Return whether a name is defined, or may be."""
        return name in self.names or any(name.startswith(one) and name.endswith(other) for one, other in self.patterns)


def npm_scripts(project: Project) -> Defined | None:
    """Return the scripts of every `package.json`."""
    paths = project.named("package.json")
    names: set[str] = set()
    for _, text in project.texts(paths):
        scripts = _scripts(text)
        if scripts is None:
            return None
        names.update(scripts)
    return _defined(names, paths)


def _scripts(text: str | None) -> Iterable[str] | None:
    """Return the scripts of one; None for a file that cannot be read as JSON."""
    try:
        top = json.decode(text) if text is not None and len(text) <= MAX_BYTES else None
    except (MsgspecError, RecursionError):
        return None
    if not isinstance(top, dict):
        return None
    scripts = top.get("scripts")
    return scripts if isinstance(scripts, dict) else ()


_TARGET = regex(r"([^\s:=#][^:=#\t]*+)\t*+::?(?![=:])")
_INCLUDE = regex(r"-?s?include[ \t]+(\S[^#]*)")


def make_targets(project: Project) -> Defined | None:
    """Return the targets of every makefile, with what they include."""
    paths = [*project.named("Makefile", "makefile", "GNUmakefile"), *_ending(project, ".mk", ".make")]
    names: set[str] = set()
    patterns: list[tuple[str, str]] = []
    waiting, seen = paths[:MAX_READ], set[str]()
    while waiting:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        text = project.text(path)
        if text is None or len(text) > MAX_BYTES or len(seen) > MAX_READ + MAX_INCLUDES:
            return None
        for line in text.replace("\\\n", " ").splitlines():
            if include := _INCLUDE.match(line):
                targets = _included(include[1], path, project)
                if targets is None:
                    return None
                waiting += targets
            elif not line.startswith(("\t", "#", " ")) and (target := _TARGET.match(line)):
                if "$" in target[1]:
                    return None
                for word in target[1].split():
                    before, percent, after = word.partition("%")
                    if percent:
                        patterns.append((before, after))
                    names.add(word)
    return _defined(names - {".PHONY"}, paths, patterns)


def _included(words: str, path: str, project: Project) -> list[str] | None:
    """Return the files that an `include` names; None where a variable or a pattern names them."""
    paths: list[str] = []
    for word in words.split():
        name = posixpath.normpath(posixpath.join(posixpath.dirname(path), word))
        if "$" in word or "*" in word or name.startswith("..") or posixpath.isabs(word):
            return None
        if name not in project.files:
            return None
        paths.append(name)
    return paths


_RECIPE = regex(r"@?([A-Za-z_][\w-]*)(?:[ \t][^\n]*?)?:(?!=)")
_ALIAS = regex(r"alias[ \t]+([\w-]+)[ \t]*:=")
_MODULE = regex(r"(?:mod|import)\??[ \t]")


def just_recipes(project: Project) -> Defined | None:
    """Return the recipes of every justfile; None where one has modules or imports."""
    paths = [*project.named("justfile", "Justfile", ".justfile", "JUSTFILE"), *_ending(project, ".just")]
    names: set[str] = set()
    for _, text in project.texts(paths):
        if text is None or len(text) > MAX_BYTES:
            return None
        for line in text.splitlines():
            if _MODULE.match(line):
                return None
            match = _ALIAS.match(line) or _RECIPE.match(line)
            if match:
                names.add(match[1])
    return _defined(names, paths)


def cargo_bins(project: Project) -> Defined | None:
    """Return the binaries of every crate: those that `Cargo.toml` names, its package, and the files of `src/bin`."""
    paths = project.named("Cargo.toml")
    names = {path.split("/")[-1].removesuffix(".rs") for path in project.files if "src/bin/" in path}
    names |= {path.split("/")[-2] for path in project.files if "src/bin/" in path}
    for data in _tomls(project, paths):
        if data is None:
            return None
        names |= {*_texts(data, "package", "name"), *_named(data.get("bin"))}
    return _defined(names, paths)


def cargo_packages(project: Project) -> Defined | None:
    """Return the packages of every `Cargo.toml` and what they depend on: cargo takes the names of both."""
    paths = project.named("Cargo.toml")
    names: set[str] = set()
    for data in _tomls(project, paths):
        if data is None:
            return None
        names |= {*_texts(data, "package", "name")}
        workspace = data.get("workspace")
        for table in (data, workspace if isinstance(workspace, dict) else {}):
            for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
                dependencies = table.get(kind)
                names |= {*dependencies} if isinstance(dependencies, dict) else set()
    lock = project.text("Cargo.lock") if "Cargo.lock" in project.files else None
    names |= {*_LOCKED.findall(lock[:MAX_BYTES])} if lock else set()
    return _defined(names, paths)


_LOCKED = regex(r'(?m)^name = "([^"]+)"')


def python_modules(project: Project) -> Defined | None:
    """Return the modules of the packages that lie in the root or in `src`."""
    modules: set[str] = set()
    for path in project.files:
        if path.endswith(".py"):
            for base in ("", "src/"):
                if path.startswith(base):
                    name = path[len(base) : -3].replace("/", ".")
                    modules.add(name.removesuffix(".__init__"))
                    while "." in name:
                        name = name.rpartition(".")[0]
                        modules.add(name)
    return _defined(modules, ["pyproject.toml"] if modules else [])


def python_scripts(project: Project) -> Defined | None:
    """Return the entry points of every `pyproject.toml`."""
    paths = project.named("pyproject.toml")
    names: set[str] = set()
    for data in _tomls(project, paths):
        if data is None:
            return None
        tool = data.get("tool")
        poetry = tool.get("poetry") if isinstance(tool, dict) else None
        for table in (data.get("project"), poetry):
            scripts = table.get("scripts") if isinstance(table, dict) else None
            names |= {*scripts} if isinstance(scripts, dict) else set()
    return _defined(names, paths)


def _tomls(project: Project, paths: Iterable[str]) -> Iterator[dict[str, Value] | None]:
    """Yield the data of TOML files; None for one that cannot be read."""
    for path, text in project.texts(paths):
        if path not in project.tomls:
            project.tomls[path] = _toml(text) if text is not None and len(text) <= MAX_BYTES else None
        yield project.tomls[path]


def _toml(text: str) -> dict[str, Value] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _texts(data: Mapping[str, Value], table: str, key: str) -> Iterator[str]:
    inner = data.get(table)
    value = inner.get(key) if isinstance(inner, dict) else None
    if isinstance(value, str):
        yield value


def _named(items: Value) -> Iterator[str]:
    for item in items if isinstance(items, list) else ():
        name = item.get("name") if isinstance(item, dict) else None
        if isinstance(name, str):
            yield name


def _ending(project: Project, *suffixes: str) -> list[str]:
    return sorted(path for path in project.files if path.endswith(suffixes))


def _defined(names: Iterable[str], paths: Iterable[str], patterns: Iterable[tuple[str, str]] = ()) -> Defined:
    return Defined(frozenset(names), tuple(paths), tuple(patterns))


DEFINITIONS: Mapping[Tool, Callable[[Project], Defined | None]] = {
    "npm": npm_scripts,
    "make": make_targets,
    "just": just_recipes,
    "cargo-bin": cargo_bins,
    "cargo-package": cargo_packages,
    "python-module": python_modules,
    "python-script": python_scripts,
}
"""What each tool may run."""
