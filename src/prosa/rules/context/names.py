"""Skills and agents that a context file names, and names that two files share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from prosa.diagnostics import Annotation, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.context.hosts import uses_of
from prosa.dialects.fields import shown
from prosa.rules.context import RULES, extra_of
from prosa.rules.context.project import Project, project_of
from prosa.rules.corpus_names import corpus_names
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.source import FileProblem, Span

_BUILT_IN = frozenset({"agent", "ask", "edit", "plan", "default", "*", "vscode", "copilot"})
"""Agents of hosts themselves."""

MAX_AGENTS = 1_000
"""Agents of a project whose names are known."""


@RULES.one_of_many("CX015", "unknown-skill", Severity.INFO, Severity.WARNING)
def unknown_skill(corpus: Corpus, path: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find a skill that an agent names and that the project does not have, where a similar one is there. The finding
    points at the name. A skill of a user or a plugin may have any name: without a similar one it is information."""
    named = extra_of(facts).get("skills", ())
    project = project_of(corpus) if named and uses_of(path.as_posix()) else None
    if project is None:
        return
    known = corpus_names(corpus).derived("skills", "called", lambda: _skills(project))
    for name, start, end in named:
        if not name or ":" in name or name in known:
            continue
        guess = nearest(name, known, cutoff=0.8)
        notes = (f"did you mean `{guess}`?",) if guess else ("a skill of a user or of a plugin is not looked for",)
        meant = Misspelling(name, guess) if guess else None
        severity = None if guess else Severity.INFO
        message = f"the project has no skill `{shown(name)}`"
        yield Finding(message, Span(start, end), notes, severity=severity, misspelling=meant)


def _skills(project: Project) -> frozenset[str]:
    """Return the names of the skills of a project, which are those of their folders, and the names that they have in
    their front matter where these were read."""
    folders = (path.split("/")[-2] for path in project.by_name.get("SKILL.md", ()) if "/" in path)
    entries = project.corpus.entries.values()
    return frozenset(
        (*folders, *(definition.name for facts in entries if facts.dialect == "skill_md" for definition in facts.defs))
    )


@RULES.one_of_many("CX016", "unknown-agent", Severity.INFO, Severity.WARNING)
def unknown_agent(corpus: Corpus, _: Path, facts: DocumentFacts) -> Iterator[Finding]:
    """Find an agent that a file hands over to and that the project does not have, where a similar one is there. The
    finding points at the name. Without a similar one it is information."""
    named = extra_of(facts).get("agents", ())
    project = project_of(corpus) if named else None
    if project is None:
        return
    known = corpus_names(corpus).derived("agents", "hosts", lambda: _agents(project))
    lowered = {name.lower() for name in known}
    for name, start, end in named:
        if not name or name.lower() in lowered or name.lower() in _BUILT_IN or ":" in name or "/" in name:
            continue
        guess = nearest(name, sorted(known), cutoff=0.85)
        notes = (f"did you mean `{guess}`?",) if guess else ("an agent of a user or of a client is not looked for",)
        meant = Misspelling(name, guess) if guess else None
        severity = None if guess else Severity.INFO
        message = f"the project has no agent `{shown(name)}`"
        yield Finding(message, Span(start, end), notes, severity=severity, misspelling=meant)


def _agents(project: Project) -> frozenset[str]:
    """Return the names of agents: of their files, and in their front matter."""
    names: set[str] = set()
    for path in [file for file in project.files if _is_agent(file)][:MAX_AGENTS]:
        name = path.rpartition("/")[2]
        names.add(name.removesuffix(".md").removesuffix(".agent").removesuffix(".chatmode"))
        real = project.root / path
        facts = project.corpus.entries.get(real) or project.corpus.load(real)
        if facts is not None and facts.dialect == "context" and (own := extra_of(facts).get("name")):
            names.add(own[0])
    return frozenset(names)


def _is_agent(path: str) -> bool:
    return path.endswith((".agent.md", ".chatmode.md")) or (
        path.endswith(".md") and any(use.place.kind == "agent" for use in uses_of(path))
    )


@RULES.corpus("CX018", "duplicate-agent-name", Severity.WARNING)
def duplicate_agent_name(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find an agent with the name of another one in the same folder of a host, which loads only one of them. The
    finding points at the name of the later one."""
    for beside in _by_folder(corpus).values():
        first: dict[str, Path] = {}
        for real, (name, start, end) in beside:
            earlier = first.setdefault(name, real)
            if earlier is not real:
                message = f"two agents are named `{shown(name)}`; Claude Code loads one of them"
                note = f"the other is in {earlier.name}"
                yield real, Finding(message, Span(start, end), (note,), _other(corpus, earlier))


def _by_folder(corpus: Corpus) -> Mapping[str, list[tuple[Path, tuple[str, int, int]]]]:
    """Return the named agents of Claude Code by the folder that it looks through."""
    by_folder: dict[str, list[tuple[Path, tuple[str, int, int]]]] = {}
    for real, facts in corpus.entries.items():
        folder, inside, _ = real.as_posix().rpartition("/.claude/agents/")
        name = extra_of(facts).get("name") if inside and facts.dialect == "context" else None
        if name:
            by_folder.setdefault(folder, []).append((real, (name[0], name[1], name[2])))
    return by_folder


def _other(corpus: Corpus, real: Path) -> tuple[Annotation, ...]:
    try:
        source = corpus.files.read(Path(corpus.entries[real].path))
    except FileProblem:
        return ()
    name = extra_of(corpus.entries[real]).get("name")
    return (Annotation(Span(name[1], name[2]), "also here", source),) if name else ()
