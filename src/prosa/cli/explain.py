"""`prosa explain`: the page of a rule or a dialect; without an argument the list of both."""

from __future__ import annotations

import argparse
from importlib.resources import files

from prosa.cli.console import Console
from prosa.cli.documents import add_format
from prosa.cli.parser import WrongUse
from prosa.data import Value
from prosa.diagnostics.nearest import nearest
from prosa.dialects.table import DIALECTS
from prosa.rules.registry import all_rules, find_rule, names_and_codes, page_of, removed


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `explain`."""
    parser.add_argument("name", nargs="?", metavar="RULE", help="a rule's name or code, or a dialect's name")
    add_format(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the page. Raises `WrongUse` for a name that is neither."""
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump({"name": args.name, "page": page(args.name)} if args.name else lists(), indent=2))
    else:
        console.out(page(args.name) if args.name else overview())
    return 0


def page(name: str) -> str:
    """Return the page of a rule or a dialect as Markdown."""
    rule = find_rule(name)
    if rule is not None:
        return page_of(rule)
    gone = removed(name)
    if gone is not None:
        return f"# {gone.name}\n\nThis rule was removed, and naming it has no effect. {gone.instead}"
    explained = [row.name for row in DIALECTS]
    if name in explained:
        return files("prosa.dialects").joinpath("docs", f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
    known = (*names_and_codes(), *explained)
    guess = nearest(name, known)
    hint = f"did you mean {guess}?" if guess else "prosa explain lists all rules"
    raise WrongUse(f"there is no rule and no dialect {name!r}", hint=hint)


def overview() -> str:
    """Return every rule with its code and severity, then the dialects that have a page."""
    rules = all_rules()
    width = max(len(rule.name) for rule in rules)
    lines = [f"{rule.code}  {rule.name:<{width}}  {_severity(rule.severity, rule.strict)}" for rule in rules]
    dialects = [f"{row.name}: {row.title}" for row in DIALECTS]
    return "\n".join((*lines, "", "dialects:", *dialects))


def lists() -> dict[str, Value]:
    """Return what `overview` shows, as data."""
    rules: list[Value] = [
        {"code": rule.code, "name": rule.name, "severity": rule.severity, "strict": rule.strict} for rule in all_rules()
    ]
    return {"rules": rules, "dialects": [{"name": row.name, "title": row.title} for row in DIALECTS]}


def _severity(usual: str, strict: str) -> str:
    return usual if usual == strict else f"{usual} ({strict} with --strict)"
