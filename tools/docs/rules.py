"""A page for each rule: what is known of it, and its page as `prosa explain` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from prosa.dialects.table import DIALECTS
from prosa.rules.registry import all_rules, page_of
from prosa.rules.rule import Rule
from tools.docs.writing import Made, page, prose, table

_STOPS = {
    "everything": "A document with it is neither rendered nor run.",
    "run": "A program with it is not run.",
    "nothing": "",
}
_SCOPES = {
    "reader": "Found while a document is read.",
    "document": "Found in one document.",
    "program": "Found in a program with its imports.",
    "corpus": "Found among all documents.",
}


def rule_pages() -> Iterator[Made]:
    """Yield all of them, and their list by dialect."""
    rules = all_rules()
    for rule in rules:
        yield Made(f"rules/{rule.name}.md", _rule(rule))
    titles: dict[str | None, str] = {None: "Any document", **{row.name: row.title for row in DIALECTS}}
    parts: list[str] = []
    for dialect in dict.fromkeys(rule.dialect for rule in rules):
        rows = [_row(rule) for rule in rules if rule.dialect == dialect]
        parts += (f"## {titles[dialect]}", table(("code", "rule", "severity"), rows))
    about = (
        f"The {len(rules)} rules by what they look at. `--select` and `--ignore` take a name, a code or the beginning "
        "of a code; [Checking](../../checking.md) explains how to select rules and suppress findings."
    )
    yield Made("rules/README.md", page("Rules", about, *parts))


def _row(rule: Rule) -> tuple[str, str, str]:
    return rule.code, f"[`{rule.name}`]({rule.name}.md)", _severity(rule)


def _severity(rule: Rule) -> str:
    return (
        str(rule.severity.value)
        if rule.severity is rule.strict
        else f"{rule.severity.value}, {rule.strict.value} with `--strict`"
    )


def _rule(rule: Rule) -> str:
    title, _, text = page_of(rule).partition("\n")
    said = " ".join(filter(None, (_SCOPES[rule.scope], _STOPS[rule.stops])))
    facts = f"`{rule.code}` · {_severity(rule)} · {prose(_of(rule))}"
    return page(title.removeprefix("# "), f"{facts}\n\n{said}", text)


def _of(rule: Rule) -> str:
    return rule.dialect or "any document"
