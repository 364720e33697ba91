"""The table of rules: every diagnostic there is, one row each. `rules/docs/NAME.md` is its page.

The rows live beside the rules, in `rules/<folder>/table.py`. Codes: `MD` any document, `MG` MAGI, `ML` programs, `YM`
YMJ, `MH` MDH, `PR` Prapti, `SK` skills.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec

from prosa.diagnostics.nearest import UnknownName
from prosa.rules.rule import Rule

FOLDERS = ("document", "magi", "mdh", "markdownlang", "prapti", "skill_md", "ymj")
"""The folders with rules, one for every dialect that has rules of its own."""


def _rows() -> Iterator[Rule]:
    for folder in FOLDERS:
        package = f"prosa.rules.{folder}"
        if find_spec(package) and find_spec(f"{package}.table"):
            yield from import_module(f"{package}.table").RULES


RULES: tuple[Rule, ...] = tuple(sorted(_rows(), key=lambda rule: rule.code))

BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}


def find_rule(text: str) -> Rule | None:
    """The rule with this code (any case) or name."""
    return next((rule for rule in RULES if text in (rule.name, rule.code) or text.upper() == rule.code), None)


def selects(selector: str, rule: Rule) -> bool:
    """Whether a selector, a rule name or the beginning of a code, names this rule. `ALL` names every rule."""
    upper = selector.upper()
    return selector == rule.name or upper == "ALL" or (bool(upper) and rule.code.startswith(upper))


def is_selector(selector: str) -> bool:
    """Whether a selector names any rule at all."""
    return any(selects(selector, rule) for rule in RULES)


def known_rules(values: Iterable[str]) -> tuple[str, ...]:
    """Rule names and beginnings of codes, each value one or several with commas. Raises `UnknownName`."""
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    for name in names:
        if not is_selector(name):
            raise UnknownName("rule", name, (*(rule.name for rule in RULES), *(rule.code for rule in RULES)))
    return names
