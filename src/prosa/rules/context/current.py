"""What a context file says of its project and is no longer true: paths, scripts, targets, numbers."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.diagnostics import Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.context.model import Tool
from prosa.dialects.fields import shown
from prosa.regex import regex
from prosa.rules.context import RULES, extra_of
from prosa.rules.context.definitions import DEFINITIONS, Defined
from prosa.rules.context.project import MADE, Project, project_of
from prosa.rules.corpus_names import corpus_names
from prosa.rules.moves import moved_to, replacement
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.source import Span


@RULES.one_of_many("CX020", "missing-path", Severity.INFO)
def missing_path(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a path in backticks that does not exist, neither from the root nor from the folder of the file. The finding
    points at the path. Only a path whose first folder exists is judged: others may be examples."""
    mentioned = extra_of(facts).get("mentioned", ())
    project = project_of(corpus) if mentioned else None
    relative = project.relative(path) if project is not None else None
    if project is None or relative is None:
        return
    bases = dict.fromkeys(("", posixpath.dirname(relative), posixpath.dirname(relative).partition("/.")[0]))
    for text, start, end in mentioned:
        if _is_missing(text, bases, project):
            note, fix = _meant(text, Span(start, end), bases, project)
            yield Finding(f"`{shown(text)}` does not exist", Span(start, end), (note,), fix=fix)


def _meant(text: str, span: Span, bases: Iterable[str], project: Project) -> tuple[str, Fix | None]:
    """Return a note about a missing path, and the fix that writes the path that was meant: the same in other case, the
    one that git has moved it to, or else, unsafely, that of the only file with its name."""
    for base in bases:
        place = posixpath.normpath(posixpath.join(base, text))
        there = project.in_other_case(place)
        if there is not None:
            written = _as_written(there, text, base)
            note = f"there is `{written}`: upper and lower case matter on most systems"
            return note, replacement(span, written, Applicability.SAFE)
        moved = moved_to(project.corpus, project.root / place)
        if moved is not None:
            return moved.note, replacement(span, _as_written(moved.path, text, base), Applicability.SAFE)
    same = project.by_name.get(posixpath.basename(text.rstrip("/")), ())
    if len(same) == 1:
        return f"the only file of this name is `{same[0]}`", replacement(span, same[0], Applicability.UNSAFE)
    return "a path starts at the root of the project", None


def _as_written(path: str, text: str, base: str) -> str:
    """Return a path below the root as a file in ``base`` writes it that wrote ``text``."""
    inside = path.removeprefix(f"{base}/") if base else path
    begin = "./" if text.startswith("./") and (inside != path or not base) else ""
    return f"{begin}{inside}{'/' if text.endswith('/') else ''}"


def _is_missing(text: str, bases: dict[str, None], project: Project) -> bool:
    bare = text.removeprefix("./").rstrip("/")
    first = bare.partition("/")[0]
    placed = [posixpath.join(base, bare) for base in bases]
    if any(project.exists(candidate) for candidate in placed):
        return False
    starts = [posixpath.join(base, first) for base in bases]
    known = any(start in project.folders for start in starts)
    ends_like_a_file = "." in posixpath.basename(bare) and not bare.endswith(".")
    return known and (ends_like_a_file or text.endswith("/")) and "[" not in bare and not _is_made(bare)


def _is_made(bare: str) -> bool:
    """Return whether a path may be one that git ignores or that is made."""
    parts = bare.split("/")
    return not MADE.isdisjoint(parts) or any(part.startswith(".env") for part in parts)


class Undefined(NamedTuple):
    """A name that a command line gives to a tool and that the project does not define. ``doubtful`` is true where the
    file may speak of another project than this one."""

    name: str
    span: Span
    defined: Defined
    doubtful: bool


def _undefined(corpus: Corpus, path: Path, facts: DocumentFacts, tool: Tool) -> Iterator[Undefined]:
    """Yield what the command lines of a file name and the project does not define, where it is known what it
    defines."""
    named = [command for command in extra_of(facts).get("commands", ()) if command[0] == tool]
    project = project_of(corpus) if named else None
    relative = project.relative(path) if project is not None else None
    if project is None or relative is None:
        return
    defined = corpus_names(corpus).derived(f"defined for {tool}", "paths", lambda: DEFINITIONS[tool](project))
    if defined is None or not defined.where:
        return
    folder = home_of(relative)
    beside = not folder or any(posixpath.dirname(source) == folder for source in defined.where)
    doubtful = not beside or is_sample(folder)
    for _, name, start, end in named:
        if not defined.has(name):
            yield Undefined(name, Span(start, end), defined, doubtful)


def home_of(relative: str) -> str:
    """Return the folder that a context file speaks of: the one that it is in, or the one around that of its host."""
    folder = posixpath.dirname(relative)
    hidden = folder.find("/.") if not folder.startswith(".") else 0
    return folder[:hidden] if hidden >= 0 else folder


_SAMPLES = regex(
    r"(?:\A|/)(?:_?templates?|examples?|fixtures?|samples?|testdata|tests?|scaffolds?|boilerplates?)(?:/|\Z)"
)


def is_sample(folder: str) -> bool:
    """Return whether a folder is for other projects: templates, examples, fixtures of tests."""
    return _SAMPLES.search(folder) is not None


def _finding(what: str, undefined: Undefined) -> Finding:
    name, span, defined, doubtful = undefined
    guess = nearest(name, sorted(defined.names), cutoff=0.75)
    where = defined.where[0] if len(defined.where) == 1 else f"the {len(defined.where)} files that define them"
    notes = ((f"did you mean `{guess}`?",) if guess else ()) + (f"looked for in {where}",)
    meant = Misspelling(name, guess) if guess else None
    severity = Severity.INFO if doubtful else None
    return Finding(f"there is no {what} `{shown(name)}` here", span, notes, severity=severity, misspelling=meant)


@RULES.one_of_many("CX021", "missing-script", Severity.INFO, Severity.WARNING)
def missing_script(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find `npm run NAME`, or the same of pnpm, yarn or bun, where no `package.json` of the project has such a script.
    The finding points at the name."""
    for undefined in _undefined(corpus, path, facts, "npm"):
        yield _finding("script", undefined)


@RULES.one_of_many("CX022", "missing-target", Severity.INFO, Severity.WARNING)
def missing_target(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find `make NAME` where no makefile of the project has such a target. The finding points at the name. Makefiles
    with targets from variables, or with includes that are not here, are not judged."""
    for undefined in _undefined(corpus, path, facts, "make"):
        yield _finding("target", undefined)


@RULES.one_of_many("CX023", "missing-recipe", Severity.INFO, Severity.WARNING)
def missing_recipe(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find `just NAME` where no justfile of the project has such a recipe. The finding points at the name."""
    for undefined in _undefined(corpus, path, facts, "just"):
        yield _finding("recipe", undefined)


@RULES.one_of_many("CX024", "missing-entry-point", Severity.INFO, Severity.WARNING)
def missing_entry_point(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a binary or a package of cargo, a module of a package of the project, or an entry point of Python that the
    project does not have. The finding points at the name. What may come from elsewhere is not judged."""
    for undefined in _undefined(corpus, path, facts, "cargo-bin"):
        yield _finding("binary", undefined)
    for undefined in _undefined(corpus, path, facts, "cargo-package"):
        yield _finding("package", undefined)
    for undefined in _undefined(corpus, path, facts, "python-module"):
        if "." in undefined.name and undefined.name.partition(".")[0] in undefined.defined.names:
            yield _finding("module", undefined)
    for undefined in _undefined(corpus, path, facts, "python-script"):
        if nearest(undefined.name, sorted(undefined.defined.names), cutoff=0.85):
            yield _finding("entry point", undefined)


@RULES.one_of_many("CX025", "differing-numbers", Severity.INFO)
def differing_numbers(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a line that stands in another context file too, with other numbers. The finding points at the line of the
    later file."""
    figures = extra_of(facts).get("figures")
    if not figures:
        return
    lines = corpus_names(corpus).derived("figures", "hosts", lambda: _figures(corpus))
    for words, numbers, start, end in figures:
        for other, theirs in lines.get(words, ()):
            if other == path:
                break
            if list(theirs) != list(numbers):
                one, two = ", ".join(numbers), ", ".join(theirs)
                message = f"this line says {shown(one)}; in {shown(_name(corpus, other))} it says {shown(two)}"
                yield Finding(message, Span(start, end), ("hosts that read both follow either",))
                break


def _figures(corpus: Corpus) -> dict[str, list[tuple[Path, tuple[str, ...]]]]:
    """Return the lines with numbers of all context files by their words, in the order of the corpus."""
    figures: dict[str, list[tuple[Path, tuple[str, ...]]]] = {}
    for real, facts in corpus.entries.items():
        for words, numbers, _start, _end in extra_of(facts).get("figures", ()) if facts.dialect == "context" else ():
            figures.setdefault(words, []).append((real, tuple(numbers)))
    return figures


def _name(corpus: Corpus, real: Path) -> str:
    return corpus.entries[real].path
