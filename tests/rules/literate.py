"""The pages of the rules as tests: documents in fences, and the diagnostics they give.

An example of a page is one or more fences with a file name (`markdown main.md`), the first of which is checked, and one
fence `diagnostics`, whose info string may add `strict`, `as=DIALECT`, `profile=NAME`, and `corpus`: then all are
checked together; `listed` does the same in a project whose files are those of the example, documents or not. A document
`prosa.toml` or `pyproject.toml` holds the settings of the project, and all are checked under them. A fence `generate`
holds Python that sets `documents`, for what cannot be written down; None there is a file that is not UTF-8. A name that
begins with `outside/` lies outside the root; the flag `escaped` turns backslash escapes into characters. A fence
without a name illustrates and is not checked.

A line of diagnostics is `FILE LINE:COLUMN CODE SEVERITY «TEXT OF THE SPAN» MESSAGE`. `PROSA_UPDATE=1` rewrites them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from prosa.diagnostics import Diagnostic
from prosa.dialects.table import DOCUMENT_SUFFIXES, dialect_of_path
from prosa.document import Fence, parse
from prosa.rules.analyzer import Analyzer
from prosa.rules.engine import Checked, CorpusScope, check, check_documents
from prosa.rules.policy import Profile, specification
from prosa.rules.project import nav_diagnostics, project_diagnostics, schema_diagnostics
from prosa.rules.registry import rule_named
from prosa.source import Edit, FileProblem, SourceText, Span, apply_edits
from prosa.source.credentials import masked

FOLDER = Path(str(resources.files("prosa.rules"))) / "docs"
ROOT = PurePosixPath("/project")
SHOWN = 40
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
"""When every example is checked."""


class Example(Struct, frozen=True):
    """One example of a page: documents by name, flags, and the fence with what is expected."""

    documents: dict[str, str | None]
    flags: frozenset[str]
    expected: str
    fence: Fence

    def checked(self) -> Checked:
        files = MemoryFiles({str(ROOT / name): text for name, text in self.documents.items()})
        paths = [Path(ROOT / name) for name in self.documents if _is_document(name)]
        dialect = next((flag[3:] for flag in self.flags if flag.startswith("as=")), None)
        strict = "strict" in self.flags or None
        if name := next((flag[8:] for flag in self.flags if flag.startswith("profile=")), None):
            profile = Profile(specification=specification(name))
            return check(paths[:1], Analyzer(files, profile.hints, now=NOW), profile)
        if "listed" in self.flags:
            return self._listed(files)
        if any(name.endswith(".toml") for name in self.documents):
            return self._in_project(paths, files)
        return check_documents(
            paths if "corpus" in self.flags else paths[:1], files, dialect=dialect, strict=strict, now=NOW
        )

    def _listed(self, files: MemoryFiles) -> Checked:
        """All documents together, in a project of which every file is known."""
        names = [name for name in self.documents if name.endswith((*DOCUMENT_SUFFIXES, ".json")) and _is_document(name)]
        scope = CorpusScope(Path(ROOT), listing=lambda: [*self.documents])
        return check([Path(ROOT / name) for name in names], Analyzer(files, Profile().hints, now=NOW), Profile(), scope)

    def _in_project(self, paths: list[Path], files: MemoryFiles) -> Checked:
        """With the settings of the project, and what is wrong with them."""
        names = [*self.documents]
        name = next(name for name in names if name.endswith(".toml"))
        source = SourceText(self.documents[name] or "", str(ROOT / name))
        settings, found = project_diagnostics(source)
        schemas = schema_diagnostics(settings, source, Path(ROOT), files)
        pages = nav_diagnostics(settings, source, lambda path: any(f"/{each}".endswith(f"/{path}") for each in names))
        profile = Profile(settings=settings, root=Path(ROOT))
        checked = check(
            paths, Analyzer(files, profile.hints, now=NOW), profile, CorpusScope(Path(ROOT), rooted="project")
        )
        return replace(checked, diagnostics=(*found, *schemas, *pages, *checked.diagnostics))

    def actual(self) -> str:
        return "".join(f"{line(each)}\n" for each in self.checked().diagnostics)


def _is_document(name: str) -> bool:
    return dialect_of_path(name) in ("evals", "context") or not name.endswith((".toml", ".json"))


class MemoryFiles(Struct, frozen=True):
    """Files in memory under `/project`; None is a file that is not UTF-8."""

    texts: dict[str, str | None]

    def read(self, path: Path) -> SourceText:
        name = str(self.real(path))
        if name not in self.texts:
            raise FileProblem(path, "missing", "no such file")
        text = self.texts[name]
        if text is None:
            raise FileProblem(path, "not-utf-8", "is not UTF-8 text")
        return SourceText(text, str(path))

    def real(self, path: Path) -> Path:
        parts: list[str] = []
        for part in path.parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        return Path(*parts)

    def inside_root(self, path: Path) -> bool:
        real = PurePosixPath(self.real(path))
        return real.is_relative_to(ROOT) and not real.is_relative_to(ROOT / "outside")

    def exists(self, path: Path) -> bool:
        real = str(self.real(path))
        return self.inside_root(path) and any(name == real or name.startswith(f"{real}/") for name in self.texts)

    def digest(self, path: Path, limit: int) -> str:
        if not self.inside_root(path):
            raise FileProblem(path, "outside-root", "lies outside the root")
        text = self.texts.get(str(self.real(path)), "")
        if str(self.real(path)) not in self.texts:
            raise FileProblem(path, "missing", "no such file")
        data = b"\xff" if text is None else text.encode()
        if len(data) > limit:
            raise FileProblem(path, "too-large", f"is larger than {limit:,} bytes")
        return hashlib.sha256(data).hexdigest()


def pages() -> list[Path]:
    return sorted(FOLDER.glob("*.md"))


def page_of_each_family(number: int) -> list[Path]:
    """One page of each family of rules, the one with a number: for tests that take too long over all pages."""
    families: dict[str, list[Path]] = {}
    for page in pages():
        families.setdefault(rule_named(page.stem).code[:2], []).append(page)
    return [each[number % len(each)] for each in families.values()]


def examples(text: str) -> Iterator[Example]:
    """The examples of a page in order."""
    documents: dict[str, str | None] = {}
    for fence in parse(SourceText(text)).fences:
        content = "".join(piece.of(text) for piece in fence.content)
        words = fence.info.split() or [""]
        if words[0] == "diagnostics":
            yield Example(documents, frozenset(words[1:]), content, fence)
            documents = {}
        elif words[0] == "generate":
            space: dict[str, dict[str, str | None]] = {}
            exec(content, space)
            documents |= space["documents"]
        elif len(words) > 1:
            documents[words[1]] = content.encode().decode("unicode_escape") if "escaped" in words else content


def line(each: Diagnostic) -> str:
    """One expected diagnostic."""
    path = PurePosixPath(each.path).relative_to(ROOT)
    place = f"{path} {each.start.line}:{each.start.column}"
    marked = masked(each.source.slice(each.span)).encode("unicode_escape").decode().replace("\\xb7", "·")
    marked = marked if len(marked) <= SHOWN else marked[:SHOWN] + "…"
    return f"{place} {each.code} {each.severity} «{marked}» {each.message}"


def rewritten(text: str) -> str:
    """The page with its expectations replaced by what is found now."""
    edits = []
    for example in examples(text):
        start = text.index("\n", example.fence.span.start) + 1
        end = text.rindex("\n", start - 1, example.fence.span.end) + 1
        edits.append(Edit(Span(start, max(start, end)), example.actual()))
    return apply_edits(text, edits)
