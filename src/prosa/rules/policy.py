"""How each document is checked: by flags first, then by the document itself, then by the project's settings (X3, X4,
YA11); and problems ranked into diagnostics under that policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard

from msgspec import Struct

from prosa.diagnostics import Applicability, Diagnostic, Fix, Problem, Severity
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.dialects.context.places import is_agent_place
from prosa.dialects.dialect import Hints
from prosa.dialects.table import DIALECTS
from prosa.rules.registry import rule_named, selects
from prosa.rules.rule import Rule
from prosa.settings.model import GlobSettings, Settings
from prosa.source import Edit, SourceText, Span


class Policy(Struct, frozen=True):
    """The user's selection. ``strict`` turns tolerated forms into errors (X4).

    ``select`` and ``ignore`` hold rule names and beginnings of codes; an empty ``select`` selects every rule, and
    ``ignore`` wins. ``profile`` has the severities of the only rules that are reported, if one judges the document.
    """

    strict: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profile: Mapping[str, Severity] | None = None

    def wants(self, rule: Rule) -> bool:
        """Return whether diagnostics of this rule are reported."""
        if any(selects(selector, rule) for selector in self.ignore):
            return False
        if self.profile is not None and rule.name not in self.profile:
            return False
        if rule.on_request and self.profile is None:
            return rule.name in self.select or rule.code in self.select
        return not self.select or any(selects(selector, rule) for selector in self.select)

    def severity(self, problem: Problem, rule: Rule) -> Severity:
        """Return the severity by the profile, else by the problem itself, which is taken at its word, else by the
        rule."""
        if self.profile is not None:
            return self.profile[rule.name]
        return problem.severity or (rule.strict if self.strict else rule.severity)


def diagnosed(
    problems: Iterable[Problem], source: SourceText, policy: Policy, known: Mapping[str, Rule] | None = None
) -> list[Diagnostic]:
    """Return the diagnostics that the policy selects, in the order of the problems. Rules that are ``known`` by name
    are not looked up. An unknown rule name raises KeyError."""
    diagnostics: list[Diagnostic] = []
    for problem in problems:
        rule = (known or {}).get(problem.rule) or rule_named(problem.rule)
        if policy.wants(rule):
            diagnostics.append(_diagnostic(problem, rule, source, policy))
    return diagnostics


def ordered(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By path, place and code, each once: the same findings always print in the same order."""
    unique: dict[tuple[str, int, int, str, str], Diagnostic] = {}
    for diagnostic in diagnostics:
        unique.setdefault(
            (diagnostic.path, diagnostic.span.start, diagnostic.span.end, diagnostic.code, diagnostic.message),
            diagnostic,
        )
    return tuple(unique[key] for key in sorted(unique))


def _diagnostic(problem: Problem, rule: Rule, source: SourceText, policy: Policy) -> Diagnostic:
    return Diagnostic(
        code=rule.code,
        rule=rule.name,
        severity=policy.severity(problem, rule),
        message=problem.message,
        source=source,
        span=problem.span,
        notes=problem.notes,
        annotations=problem.annotations,
        fix=problem.fix or _respelled(problem, source),
    )


def _respelled(problem: Problem, source: SourceText) -> Fix | None:
    """Return the fix that writes the known name in place of the one that was found, where the span holds that once. It
    may change a meaning: that it was meant is a guess."""
    if problem.misspelling is None:
        return None
    written, meant = problem.misspelling.written, problem.misspelling.meant
    text = source.slice(problem.span)
    written = written or text
    if not written or text.count(written) != 1:
        return None
    start = problem.span.start + text.index(written)
    return Fix(f"write `{meant}`", (Edit(Span(start, start + len(written)), meant),), Applicability.UNSAFE)


# How each document is checked: flags first, then the document itself, then the project's settings (X3, X4, YA11).


class Specification(Struct, frozen=True):
    """What a profile judges: documents in files with one of the ``file_names``, of which a suffix stands for all with
    it, by ``severities``, which has the severity of each of its rules. They are read as ``dialect``
    where it has one."""

    name: str
    file_names: tuple[str, ...]
    severities: Mapping[str, Severity]
    dialect: DialectName | None = None

    def judges(self, path: Path) -> bool:
        """Return whether the specification is about the document at a path."""
        name = path.name.lower()
        return any(name.endswith(entry) if entry[0] == "." else name == entry.lower() for entry in self.file_names)


_UNREADABLE = (
    *("unreadable-file", "yaml-syntax", "duplicate-key", "custom-tag", "alias-bomb", "nested-too-deep"),
    *("several-documents", "complex-key", "lone-surrogate", "unclosed-front-matter", "front-matter-too-large"),
    "front-matter-not-a-mapping",
)
"""Front matter that no reader of the specification reads."""

_SKILL = (
    *("skill-without-front-matter", "missing-field", "wrong-type", "wrong-form", "unknown-field", "client-field"),
    *("skill-name-form", "skill-name-unlike-folder"),
)

_MDA = (
    *("mda-without-front-matter", "missing-field", "wrong-type", "wrong-form", "unknown-value", "unknown-field"),
    *("unquoted-text", "bad-namespace", "bad-capability", "relationship-syntax", "differing-relationships"),
    *("repeated-footnote-label", "signature-without-integrity", "signature-of-other-digest", "wrong-rekor-entry"),
    *("digest-of-other-algorithm", "unsatisfied-range", "dependency-digest-mismatch", "dependency-cycle"),
    *("output-name-unlike-folder", "bad-mcp-sidecar"),
)

SPECIFICATIONS: Mapping[str, Specification] = {
    "agentskills": Specification(
        "agentskills",
        ("SKILL.md",),
        dict.fromkeys((*_UNREADABLE, *_SKILL), Severity.ERROR)
        | {
            "non-string-metadata": Severity.WARNING,
            "tools-without-spaces": Severity.WARNING,
            "long-skill": Severity.INFO,
        },
    ),
    "mda": Specification(
        "mda",
        (".mda", "SKILL.md", "AGENTS.md", "CLAUDE.md", "MCP-SERVER.md"),
        dict.fromkeys((*_UNREADABLE, *_MDA), Severity.ERROR)
        | dict.fromkeys(("integrity-mismatch", "unknown-dependency", "backticked-relationship"), Severity.WARNING)
        | {"signature-not-verified": Severity.INFO},
        "mda",
    ),
}
"""By name. The reference implementation of Agent Skills takes any metadata and any list of tools."""


def specification(name: str) -> Specification:
    """Return the specification of a profile. Raises `UnknownName`."""
    if name not in SPECIFICATIONS:
        raise UnknownName("profile", name, tuple(SPECIFICATIONS))
    return SPECIFICATIONS[name]


class Profile(Struct, frozen=True):
    """The flags, and below them the settings of the project at ``root``.

    ``strict`` None leaves it to the documents and the project. A ``select`` replaces the project's, an ``ignore`` is
    added to it; without any ``select`` every rule is checked. ``vault`` is true if the root is in a vault of Obsidian.
    With a ``specification`` only its rules count, regardless of the project, and it says how documents are read.
    """

    explicit: DialectName | None = None
    forced: DialectName | None = None
    strict: bool | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    settings: Settings | None = None
    root: Path | None = None
    vault: bool = False
    specification: Specification | None = None

    def hints(self, real: Path) -> Hints:
        """Return the hints about the dialect of the document at this real path. The last matching glob counts."""
        agents = is_agent_place(real.as_posix())
        if self.specification is not None and self.specification.dialect is not None:
            return Hints(self.explicit or self.specification.dialect, None, self.forced, self.vault, agents)
        if self.settings is None or not self.settings.dialects:
            return Hints(self.explicit, None, self.forced, self.vault, agents)
        path = self._below_root(real)
        named = [name for glob, name in self.settings.dialects if _fits(glob, path) and _is_dialect(name)]
        return Hints(self.explicit, named[-1] if named else None, self.forced, self.vault, agents)

    @property
    def hinted(self) -> str:
        """What identifies the hints about all documents."""
        named = self.settings.dialects if self.settings is not None else ()
        read_as = self.specification.dialect if self.specification is not None else None
        return repr((self.explicit, self.forced, self.vault, read_as, named, str(self.root)))

    @property
    def relations(self) -> tuple[tuple[str, str], ...]:
        """The fields of front matter that name other documents, with the type of relationship."""
        return self.settings.relations if self.settings is not None else ()

    @property
    def has_schemas(self) -> bool:
        """Whether any document has a schema for its front matter."""
        return self.settings is not None and bool(self.settings.schemas)

    def schemas(self, real: Path) -> tuple[str, ...]:
        """Return the schemas of the front matter of the document at this real path, as paths below the root."""
        if self.settings is None or not self.settings.schemas:
            return ()
        path = self._below_root(real)
        return tuple(dict.fromkeys(schema for glob, schema in self.settings.schemas if _fits(glob, path)))

    def policy(self, real: Path, asked: bool | None = None) -> Policy:
        """Return how the document at this real path is checked; ``asked`` is the strictness that the document
        requests."""
        if self.specification is not None:
            return Policy(True, self.select, self.ignore, self.specification.severities)
        if self.settings is None:
            return Policy(bool(self.strict if self.strict is not None else asked), self.select, self.ignore)
        matching = self._matching(real)
        select = self.select or self.settings.select
        if select and not self.select:
            select = (*select, *(name for settings in matching for name in settings.select))
        ignored = (*self.ignore, *self.settings.ignore, *(name for settings in matching for name in settings.ignore))
        return Policy(self._strict(matching, asked), select, ignored)

    def _strict(self, matching: tuple[GlobSettings, ...], asked: bool | None) -> bool:
        """Return the first strictness that is set: by flag, document, glob, or project."""
        by_glob = [settings.strict for settings in matching if settings.strict is not None]
        project = self.settings.strict if self.settings else None
        levels = (self.strict, asked, by_glob[-1] if by_glob else None, project)
        return next((choice for choice in levels if choice is not None), False)

    def _matching(self, real: Path) -> tuple[GlobSettings, ...]:
        per_glob = self.settings.per_glob if self.settings else ()
        path = self._below_root(real) if per_glob else ""
        return tuple(settings for settings in per_glob if _fits(settings.glob, path))

    def _below_root(self, real: Path) -> str:
        if self.root is not None and real.is_relative_to(self.root):
            return real.relative_to(self.root).as_posix()
        return real.as_posix()


def _is_dialect(name: str) -> TypeGuard[DialectName]:
    return any(row.name == name for row in DIALECTS)


def _fits(glob: str, path: str) -> bool:
    from prosa.source.wildmatch import glob_matches

    return glob_matches(glob, path)
