"""Imports: `@path` in a file whose host expands it, and in one whose host does not."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from prosa.diagnostics import Severity
from prosa.dialects.context.hosts import Host, uses_of
from prosa.dialects.context.mentions import imports_in
from prosa.dialects.fields import shown
from prosa.document import parse
from prosa.rules.context import RULES, extra_of
from prosa.rules.corpus_names import corpus_names
from prosa.rules.moves import moved_to, replacement
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.source import FileProblem, Span

MAX_IMPORTED = 500
"""Files that are followed from one file."""

MAX_IMPORTED_BYTES = 1_000_000
"""Characters of an imported file that are examined for further imports."""


def _hosts(path: Path) -> tuple[Host, ...]:
    """Return the hosts that read a file as instructions or as a rule."""
    hosts = (use.host for use in uses_of(path.as_posix()) if use.place.kind in ("instructions", "rule"))
    return tuple(dict.fromkeys(hosts))


def _expanding(path: Path) -> Host | None:
    """Return the host that expands the imports of a file."""
    own = PurePosixPath(path.as_posix()).name in ("CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
    return next((host for host in _hosts(path) if host.imports), None) if own else None


def _target(real: Path, written: str) -> Path | None:
    """Return the path that an import names; None in the home folder, which is not looked at."""
    if written.startswith("~"):
        return None
    return Path(posixpath.normpath(posixpath.join(real.parent.as_posix(), written)))


@RULES.one_of_many("CX004", "unexpanded-import", Severity.INFO)
def unexpanded_import(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find `@path` on a line of its own, of a file that exists, where no host that reads the file expands it. The
    finding points at the path."""
    hosts = _hosts(path)
    if not hosts or path.name not in ("AGENTS.md", "copilot-instructions.md") or _is_imported(corpus, path):
        return
    for target, start, end, _clear in extra_of(facts).get("imports", ()):
        place = _target(path, target)
        if place is not None and corpus.files.inside_root(place) and corpus.files.exists(place):
            names = ", ".join(host.title for host in hosts if not host.imports)
            message = (
                f"{names} do not expand `@{shown(target)}`"
                if "," in names
                else f"{names} does not expand `@{shown(target)}`"
            )
            yield Finding(message, Span(start, end), ("say in words when the file is to be read",))


def _is_imported(corpus: Corpus, path: Path) -> bool:
    """Return whether a file of a host that expands imports imports this one."""

    def look() -> frozenset[str]:
        return frozenset(
            target.as_posix()
            for real, facts in corpus.entries.items()
            if _expanding(real) is not None
            for entry in extra_of(facts).get("imports", ())
            if (target := _target(real, entry[0])) is not None
        )

    imported = corpus_names(corpus).derived("imported by hosts", "hosts", look)
    beside = [path.with_name(name) for name in ("CLAUDE.md", "GEMINI.md")]
    return path.as_posix() in imported or any(f"@{path.name}" in _text(corpus, sibling) for sibling in beside)


def _text(corpus: Corpus, path: Path) -> str:
    def look() -> str:
        try:
            return corpus.files.read(path).text if corpus.files.exists(path) else ""
        except FileProblem:
            return ""

    return corpus_names(corpus).of_text("text of", path, look)


@RULES.one_of_many("CX005", "missing-import", Severity.WARNING)
def missing_import(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an import of a file that does not exist. The finding points at the path. An import is `@path` outside code
    that ends like a text; what may be a name of another kind is not judged."""
    if _expanding(path) is None:
        return
    for target, start, end, clear in extra_of(facts).get("imports", ()):
        place = _target(path, target)
        if clear and place is not None and corpus.files.inside_root(place) and not corpus.files.exists(place):
            moved = moved_to(corpus, place)
            note = moved.note if moved is not None else _FROM_FILE
            fix = replacement(Span(start, end), moved.seen_from(path)) if moved is not None else None
            yield Finding(f"the import `@{shown(target)}` does not exist", Span(start, end), (note,), fix=fix)


_FROM_FILE = "an import starts at the folder of the file that it is in"


@RULES.one_of_many("CX006", "import-of-outside-file", Severity.INFO)
def import_of_outside_file(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an import from outside the root, which is not opened here (X5). The finding points at the path."""
    if _expanding(path) is None:
        return
    for target, start, end, clear in extra_of(facts).get("imports", ()):
        place = _target(path, target)
        if clear and (place is None or not corpus.files.inside_root(place)):
            message = f"the import `@{shown(target)}` lies outside the root and was not looked at"
            yield Finding(message, Span(start, end), ("others who work on the project may not have it",))


@RULES.one_of_many("CX007", "circular-import", Severity.WARNING)
def circular_import(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an import that leads back to the file that it is in. The finding points at the path."""
    host = _expanding(path)
    for target, start, end, _ in extra_of(facts).get("imports", ()) if host is not None else ():
        place = _target(path, target)
        if place is not None and path in {file for file, _ in _followed(corpus, place)}:
            yield Finding(f"`@{shown(target)}` leads back to this file", Span(start, end), ("hosts stop there",))


@RULES.one_of_many("CX008", "import-beyond-host", Severity.WARNING)
def import_beyond_host(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an import below which a file stands that its host does not reach any more. The finding points at the
    path."""
    host = _expanding(path)
    for target, start, end, _ in extra_of(facts).get("imports", ()) if host is not None else ():
        assert host is not None
        place = _target(path, target)
        beyond = [file for file, depth in _followed(corpus, place) if depth > host.imports] if place is not None else []
        if beyond:
            message = f"{host.title} does not reach `{shown(beyond[0].name)}` by this import"
            yield Finding(message, Span(start, end), (f"it expands imports {host.imports} files deep",))


def _followed(corpus: Corpus, start: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files that imports lead to, each once with its depth, from ``start``, which is 1 deep."""
    seen: set[Path] = set()
    waiting = [(start, 1)]
    while waiting and len(seen) < MAX_IMPORTED:
        place, depth = waiting.pop(0)
        if place in seen or not corpus.files.inside_root(place) or not corpus.files.exists(place):
            continue
        seen.add(place)
        yield place, depth
        waiting += [(path, depth + 1) for path in _imports_of(corpus, place)]


def _imports_of(corpus: Corpus, place: Path) -> tuple[Path, ...]:
    """Return the files that a file imports."""

    def look() -> tuple[Path, ...]:
        facts = corpus.entries.get(place)
        if facts is not None and facts.dialect == "context":
            written = [entry[0] for entry in extra_of(facts).get("imports", ())]
        else:
            written = _read(corpus, place)
        return tuple(path for target in written if (path := _target(place, target)) is not None)

    return corpus_names(corpus).of_text("imports of", place, look)


def _read(corpus: Corpus, place: Path) -> list[str]:
    try:
        source = corpus.files.read(place)
    except FileProblem:
        return []
    if "@" not in source.text or len(source.text) > MAX_IMPORTED_BYTES:
        return []
    return [imported.target for imported in imports_in(parse(source))]
