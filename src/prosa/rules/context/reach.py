"""Context files that no host reads, and rules that no file is for."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from prosa.diagnostics import Severity
from prosa.dialects.context.hosts import unread_at, uses_of
from prosa.dialects.context.places import HOST_SUFFIXES
from prosa.dialects.fields import shown
from prosa.rules.context import RULES, extra_of
from prosa.rules.context.project import MADE, Project, project_of
from prosa.rules.corpus_names import corpus_names
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.source import Span
from prosa.source.wildmatch import MAX_GLOB, as_bytes, path_glob

MAX_EXPANDED = 256
"""Patterns that the braces of one glob stand for; a glob with more is not judged."""

MAX_STEPS = 4_000_000
"""Comparisons of one glob with the files of a project; beyond that it is not judged."""


@RULES.one_of_many("CX001", "file-no-host-reads", Severity.WARNING)
def file_no_host_reads(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a file in the folder of a host that it passes over because of its name. The finding points at the first
    character. A README, and a file that another one links to, are left alone."""
    relative = _relative(corpus, path)
    stem = posixpath.basename(relative).partition(".")[0]
    if stem.lower() == "readme" or stem.startswith("_"):
        return
    for host, row in unread_at(relative):
        if path.as_posix() in _linked(corpus) or _is_mentioned(corpus, relative):
            return
        name = posixpath.basename(relative)
        notes = [f"source: {row.source}"]
        if row.suffix and not name.endswith(HOST_SUFFIXES):
            better = name.removesuffix(".mdc").removesuffix(".md") + row.suffix
            notes.insert(0, f"call it `{better}`")
        inner = not relative.startswith(".")
        yield Finding(
            f"{host.title} does not read `{shown(name)}`: {row.why}",
            Span(0, 0),
            tuple(notes),
            severity=Severity.INFO if inner else None,
        )


def _is_mentioned(corpus: Corpus, relative: str) -> bool:
    """Return whether a command or a workflow in the same folder of a host names the file, so that it is read there."""
    project = project_of(corpus)
    top, name = relative.partition("/")[0], posixpath.basename(relative)
    if project is None:
        return False
    beside = (file for file in project.files if file.startswith(f"{top}/") and file.endswith(_COMMANDS))
    return any(name in (text or "") for _, text in project.texts(sorted(beside)))


_COMMANDS = (".toml", ".yml", ".yaml", ".json", ".sh", ".js", ".ts", ".py")
"""Files that may hand on another one."""


def _relative(corpus: Corpus, path: Path) -> str:
    def root() -> str:
        return f"{corpus.files.real(corpus.root).as_posix()}/" if corpus.root is not None else ""

    return path.as_posix().removeprefix(corpus_names(corpus).derived("root", "paths", root))


def _linked(corpus: Corpus) -> frozenset[str]:
    """Return the real paths that documents of agents link to or import."""

    def targets(facts: DocumentFacts) -> Iterator[str]:
        yield from (link.target for link in facts.links)
        yield from (item[0] for item in extra_of(facts).get("imports", ()))

    def look() -> frozenset[str]:
        return frozenset(
            posixpath.normpath(posixpath.join(real.parent.as_posix(), target))
            for real, facts in corpus.entries.items()
            if facts.dialect in ("context", "skill_md")
            for target in targets(facts)
        )

    return corpus_names(corpus).derived("linked by agents", "links", look)


@RULES.one_of_many("CX002", "glob-without-match", Severity.INFO, Severity.WARNING)
def glob_without_match(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a rule whose globs match no file of the project, so that its host never loads it. The finding points at the
    globs. One of several globs without a file is information. Files that git ignores are not known, so a glob into
    their folders is not judged."""
    globs = extra_of(facts).get("globs", ())
    project = project_of(corpus) if globs else None
    relative = project.relative(path) if project is not None else None
    if project is None or relative is None or not _at_root(relative):
        return
    dead = [glob for glob in globs if _is_dead(glob[0], project)]
    severity = None if len(dead) == len(globs) else Severity.INFO
    for text, start, end in dead:
        message = f"no file here matches `{shown(text)}`"
        note = "the rule is never loaded" if severity is None else "the other globs of the rule match"
        yield Finding(message, Span(start, end), (note,), severity=severity)


def _at_root(relative: str) -> bool:
    """Return whether a file is in a folder of a host that is in the root: only then its globs start there."""
    return relative.startswith(".") and bool(uses_of(relative))


def _is_dead(glob: str, project: Project) -> bool:
    """Return whether a glob certainly matches no file."""
    patterns = expanded(glob.strip().removeprefix("./").removeprefix("/"))
    if not patterns or len(patterns) * len(project.files) > MAX_STEPS:
        return False
    return all(_matches_none(pattern, project) for pattern in patterns)


def _matches_none(pattern: str, project: Project) -> bool:
    if not pattern or pattern.startswith(("!", "~", "..")) or len(pattern) > MAX_GLOB or "\\" in pattern:
        return False
    literal = pattern[: min((pattern.find(sign) for sign in "*?[" if sign in pattern), default=len(pattern))]
    folder = literal.rpartition("/")[0]
    parts = pattern.split("/")
    hidden = any(part.startswith(".") for part in parts) or not MADE.isdisjoint(parts)
    if (folder and folder not in project.folders and project.exists(folder)) or (hidden and "*" in pattern):
        return False
    if literal == pattern:
        return not project.exists(pattern.rstrip("/")) and "/" in pattern
    glob = path_glob(as_bytes(pattern))
    if glob.wildcard is None:
        return False
    files, folders = project.as_bytes
    return not any(glob.matches(path, is_folder=False) for path in files) and not any(
        glob.matches(path, is_folder=True) for path in folders
    )


def expanded(glob: str) -> list[str]:
    """Return the globs that one with braces stands for; none where there are more than `MAX_EXPANDED`, or a brace is
    not closed."""
    return list(islice(_expanded(glob), MAX_EXPANDED + 1))[: MAX_EXPANDED * _few(glob)]


def _few(glob: str) -> int:
    """Return 1 where a glob stands for few enough others, else 0."""
    count = 1
    for piece in glob.split("{")[1:]:
        inner, closed, _ = piece.partition("}")
        count *= inner.count(",") + 1 if closed else MAX_EXPANDED + 1
        if count > MAX_EXPANDED:
            return 0
    return 1


def _expanded(glob: str) -> Iterator[str]:
    before, opened, rest = glob.partition("{")
    inner, closed, after = rest.partition("}")
    if not opened or not closed or "{" in inner or not _few(glob):
        yield glob
        return
    for tail in _expanded(after):
        yield from (f"{before}{part}{tail}" for part in inner.split(","))


@RULES.one_of_many("CX003", "shadowed-context-file", Severity.WARNING)
def shadowed_context_file(corpus: Corpus, path: Path, _: DocumentFacts) -> Iterator[Finding]:
    """Find a file in whose place its host reads another one. The finding points at the first character."""
    relative, files = _relative(corpus, path), corpus.files
    if path.name == "AGENTS.md" and files.exists(path.with_name("AGENTS.override.md")):
        other = posixpath.join(posixpath.dirname(relative), "AGENTS.override.md")
        yield Finding(f"Codex reads `{other}` instead of this file", Span(0, 0), ("it reads one file of each folder",))
    base, inside, command = relative.rpartition(".claude/commands/")
    skill = f"{base}.claude/skills/{command.removesuffix('.md')}/SKILL.md"
    if inside and "/" not in command and files.exists(path.parents[1] / "skills" / path.stem / "SKILL.md"):
        message = f"Claude Code reads the skill `{skill}` instead of this command"
        yield Finding(message, Span(0, 0), ("both have the same name, and a skill takes precedence",))
