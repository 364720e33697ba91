"""Skills beside each other: a model chooses among them by their descriptions alone (X32)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from prosa.diagnostics import Severity
from prosa.dialects.context.hosts import HOSTS
from prosa.dialects.fields import shown
from prosa.regex import regex
from prosa.rules.rule import Corpus, DocumentFacts, Finding
from prosa.rules.skill_md import RULES
from prosa.source import Span

if TYPE_CHECKING:
    from prosa.dialects.skill_md.as_dialect import CorpusFacts

ALIKE = 0.75
"""The share of their words that two descriptions have in common, from which they are nearly the same."""

MIN_WORDS = 4
"""Shorter descriptions say too little to be compared."""

MAX_NAMED = 8
"""Words that a note names."""

_WORD = regex(r"[^\W_]+")


class _Described(Struct, frozen=True):
    """A skill, by the words of its description."""

    real: Path
    path: str
    words: frozenset[str]
    span: Span


@RULES.corpus("SK007", "near-duplicate-description", Severity.WARNING)
def near_duplicate_description(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find a description that is nearly that of another skill in the folders beside. The finding points at the later
    one of the two."""
    by_folder: dict[Path, list[_Described]] = {}
    for real, facts in corpus.entries.items():
        extra = _extra(facts)
        if extra is not None:
            words = frozenset(_WORD.findall(extra["description"].casefold()))
            skill = _Described(real, facts.path, words, Span(*extra["at"]))
            by_folder.setdefault(real.parent.parent, []).append(skill)
    for beside in by_folder.values():
        for earlier, later in _alike([described for described in beside if len(described.words) >= MIN_WORDS]):
            message = f"the description is almost the same as that of the skill in `{shown(earlier.path, 80)}`"
            notes = ["a model that sees both cannot tell which one to load: say what each is for"]
            notes += _only("this one", later, earlier) + _only("the other", earlier, later)
            yield later.real, Finding(message, later.span, tuple(notes))


@RULES.corpus("SK011", "skills-beyond-listing", Severity.INFO)
def skills_beyond_listing(corpus: Corpus) -> Iterator[tuple[Path, Finding]]:
    """Find more skills in the folder of a host than it lists with their descriptions. The finding points at the
    description of the first skill beyond, in the order of their names. Which ones the host leaves out is its own
    choice."""
    for host in HOSTS:
        for folder in host.skills if host.budget.characters else ():
            for real, extra, used in _beyond(corpus, folder, host.budget.characters):
                most = f"{host.budget.characters:,}"
                message = f"{host.title} lists {most} characters of skills; those of {folder} take {used:,}"
                notes = ("it cuts or leaves out descriptions of those used least", f"source: {host.budget.source}")
                yield real, Finding(message, Span(*extra["at"]), notes)


def _extra(facts: DocumentFacts) -> CorpusFacts | None:
    """Return what a skill with a description has for these rules; None for any other document."""
    return cast("CorpusFacts", facts.extra) if facts.dialect == "skill_md" and facts.extra else None


def _beyond(corpus: Corpus, folder: str, most: int) -> Iterator[tuple[Path, CorpusFacts, int]]:
    """Yield the first skill that is beyond a budget, for each folder of this name, with the size of all."""
    groups: dict[Path, list[tuple[Path, CorpusFacts]]] = {}
    for real, facts in corpus.entries.items():
        extra = _extra(facts)
        if extra is not None and real.parent.parent.as_posix().endswith(f"/{folder}"):
            groups.setdefault(real.parent.parent, []).append((real, extra))
    for skills in groups.values():
        sizes = [len(extra["description"]) + len(real.parent.name) + LIST_MARKS for real, extra in skills]
        if sum(sizes) > most:
            past = next(at for at, _ in enumerate(sizes) if sum(sizes[: at + 1]) > most)
            yield (*skills[past], sum(sizes))


LIST_MARKS = 5
"""Characters around the name and the description of a skill in a list."""


def _only(which: str, one: _Described, other: _Described) -> list[str]:
    words = sorted(one.words - other.words)[:MAX_NAMED]
    return [f"only {which} says {', '.join(shown(word) for word in words)}"] if words else []


def _alike(skills: Sequence[_Described]) -> Iterator[tuple[_Described, _Described]]:
    """Yield each skill that is like an earlier one, with the first such. Two sets of words that are alike share one of
    their rarest words: only those are compared, so that hundreds of skills do not take hundreds of thousands of
    steps."""
    counts = Counter(word for described in skills for word in described.words)
    holders: dict[str, list[_Described]] = {}
    for skill in skills:
        rare = sorted(skill.words, key=lambda word: (counts[word], word))
        rare = rare[: len(rare) - ceil(ALIKE * len(rare)) + 1]
        near = dict.fromkeys(earlier.real for word in rare for earlier in holders.get(word, ()))
        known = {earlier.real: earlier for word in rare for earlier in holders.get(word, ())}
        first = next((known[real] for real in near if _share(known[real].words, skill.words) >= ALIKE), None)
        if first is not None:
            yield first, skill
        for word in rare:
            holders.setdefault(word, []).append(skill)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common)
