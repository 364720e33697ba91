"""The registry of all rules. `rules/docs/NAME.md` is the page of a rule.

In: the name of a dialect, of a rule, or a selector. Out: rules. The rules of a dialect are loaded on first use, so
that a check of one dialect never loads those of the others. Codes: `CX` context files, `MD` any document, `MA` MDA,
`MG` MAGI, `ML` programs, `YM` YMJ, `MH` MDH, `PR` Prapti, `SE` cases of skills, `SK` skills, `TS` tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

from prosa.diagnostics import Problem
from prosa.diagnostics.nearest import UnknownName
from prosa.dialects import DialectName
from prosa.regex import regex
from prosa.rules.rule import Removed, Rule, RuleSet

if TYPE_CHECKING:
    from prosa.rules.rule import AmongCheck, Bound, CorpusCheck, DocumentCheck, ProgramCheck

_Check = TypeVar("_Check")

FOLDERS = ("context", "mda", "document", "magi", "mdh", "markdownlang", "prapti", "evals", "skill_md", "test", "ymj")
"""The folders with rules: one for every document, and one for every dialect that has rules of its own."""

_PLACES = {"evals": "evals.suite", "test": "evals.document"}
"""The folders of dialects whose rules are not in a folder of the same name."""

REMOVED = (
    Removed(
        "SK008", "skill-needs-host", "`prosa plan SKILL` lists what a skill asks for and a run here does not have."
    ),
)
"""Removed rules. Their codes are not reused."""

_FURTHER = "\n## Further examples\n"

_NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)+")
"""The form of a name; codes do not match it."""

_sets: dict[str, RuleSet[object]] = {}
"""The requested rules."""


@cache
def document_checks(dialect: DialectName) -> tuple[Bound[DocumentCheck[object]], ...]:
    """Return the rules of one document that hold in a dialect."""
    return tuple(bound for rules in _sets_of(dialect, corpus=False) for bound in _in_order(rules.documents))


@cache
def program_checks() -> tuple[Bound[ProgramCheck], ...]:
    """Return the rules of a program with its imports; those of any document are not loaded for them."""
    rules = rule_set("markdownlang")
    rules.load(corpus=False)
    return tuple(_in_order(rules.programs))


@cache
def corpus_checks(dialects: frozenset[DialectName]) -> tuple[Bound[CorpusCheck], ...]:
    """Return the rules of many documents, where there are documents of these dialects."""
    sets = dict.fromkeys(rules for name in sorted(dialects) for rules in _sets_of(name, corpus=True))
    return tuple(bound for rules in sets for bound in _in_order(rules.corpora))


@cache
def among_checks(dialects: frozenset[DialectName]) -> tuple[Bound[AmongCheck], ...]:
    """Return the rules of one document among others, where there are documents of these dialects."""
    sets = dict.fromkeys(rules for name in sorted(dialects) for rules in _sets_of(name, corpus=True))
    return tuple(bound for rules in sets for bound in _in_order(rules.among))


def rule_named(name: str) -> Rule:
    """Return the rule of a name; of those that are not loaded, as few as possible are. Raises KeyError."""
    for rules in _sets.values():
        if (rule := rules.rules.get(name)) is not None:
            return rule
    for folder in ("document", *FOLDERS):
        if (rule := _whole(folder).rules.get(name)) is not None:
            return rule
    raise KeyError(name)


def rules_of(problems: Iterable[Problem]) -> tuple[Rule, ...]:
    """Return the rules that problems are about, each once."""
    return tuple(rule_named(name) for name in dict.fromkeys(problem.rule for problem in problems))


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return every rule by code. Loads all of them."""
    return tuple(sorted((rule for name in FOLDERS for rule in _whole(name).rules.values()), key=attrgetter("code")))


def find_rule(text: str) -> Rule | None:
    """Return the rule with this code (any case) or name."""
    return next((rule for rule in selected(text) if text in (rule.name, rule.code) or text.upper() == rule.code), None)


def page_of(rule: Rule) -> str:
    """Return the page of a rule for those who broke it, as Markdown: without the examples for those who change it."""
    from importlib.resources import files

    text = files("prosa.rules").joinpath("docs", f"{rule.name}.md").read_text(encoding="utf-8")
    return text.partition(_FURTHER)[0].rstrip("\n")


def selects(selector: str, rule: Rule) -> bool:
    """Return whether a selector, a rule name or the beginning of a code, names this rule. `ALL` names every rule."""
    upper = selector.upper()
    return selector == rule.name or upper == "ALL" or (bool(upper) and rule.code.startswith(upper))


def selected(selector: str) -> tuple[Rule, ...]:
    """Return the rules that a selector names, by code."""
    if _NAME.fullmatch(selector):
        try:
            return (rule_named(selector),)
        except KeyError:
            return ()
    return tuple(rule for name in _folders_of(selector.upper()) for rule in _by_code(name) if selects(selector, rule))


def is_selector(text: str) -> bool:
    """Return whether a selector names any rule, a removed one included. A name is known by its page, so that no rules
    are loaded for it."""
    if _NAME.fullmatch(text):
        from importlib.resources import files  # only here: a check without selectors starts without it

        return files("prosa.rules").joinpath("docs", f"{text}.md").is_file() or removed(text) is not None
    return bool(selected(text)) or removed(text) is not None


def removed(selector: str) -> Removed | None:
    """Return the removed rule that has this name or code, None where there is none."""
    return next((rule for rule in REMOVED if selector == rule.name or selector.upper() == rule.code), None)


def known_rules(values: Iterable[str]) -> tuple[str, ...]:
    """Rule names and beginnings of codes, each value one or several with commas. Raises `UnknownName`."""
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    for name in names:
        if not is_selector(name):
            raise UnknownName("rule", name, names_and_codes())
    return names


def names_and_codes() -> tuple[str, ...]:
    """Return everything that names one rule. Loads all of them."""
    return (*(rule.name for rule in all_rules()), *(rule.code for rule in all_rules()))


def rule_set(folder: str) -> RuleSet[object]:
    """Return the rules of one of `FOLDERS`, as far as they are loaded."""
    if folder not in _sets:
        _sets[folder] = import_module(f"prosa.rules.{_PLACES.get(folder, folder)}").RULES
    return _sets[folder]


def _whole(folder: str) -> RuleSet[object]:
    rules = rule_set(folder)
    rules.load(corpus=False)
    rules.load(corpus=True)
    return rules


def _by_code(folder: str) -> list[Rule]:
    return sorted(_whole(folder).rules.values(), key=attrgetter("code"))


def _folders_of(code: str) -> Iterator[str]:
    """Yield the folders whose codes have this prefix."""
    for folder in FOLDERS if code else ():
        prefix = rule_set(folder).prefix
        if code == "ALL" or prefix.startswith(code) or code.startswith(prefix):
            yield folder


def _sets_of(dialect: DialectName, *, corpus: bool) -> Iterator[RuleSet[object]]:
    for folder in ("document", *((dialect,) if dialect in FOLDERS else ())):
        rules = rule_set(folder)
        rules.load(corpus=corpus)
        yield rules


def _in_order(bound: Iterable[Bound[_Check]]) -> list[Bound[_Check]]:
    return sorted(bound, key=lambda item: item.rule.code)
