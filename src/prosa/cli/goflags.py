"""Flags as Go's `flag` package reads them: `-name value`, `-name=value`, one dash or two, booleans without a value.

In: the flags a command knows, the arguments. Out: a value for each flag given, and the words behind the flags; or
`WrongUse`. It checks no meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from prosa.cli.parser import WrongUse, nearest

# The spellings that Go's strconv.ParseBool takes.
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))


class Flag(Struct, frozen=True):
    """One flag: its name without dashes, its purpose, the word for its value (empty for a boolean)."""

    name: str
    help: str
    value: str = ""


class Given(Struct, frozen=True):
    """The parsed arguments: texts, booleans, and the words after the flags. A later flag wins."""

    texts: Mapping[str, str]
    switches: Mapping[str, bool]
    words: tuple[str, ...]


def parse(flags: Sequence[Flag], argv: Sequence[str]) -> Given:
    """Read flags up to the first word that is none, as Go does. Raises `WrongUse`."""
    known = {flag.name: flag for flag in flags}
    texts: dict[str, str] = {}
    switches: dict[str, bool] = {}
    rest = list(argv)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        item = rest.pop(0)
        if item == "--":
            break
        flag, equals, value = _split(item, known)
        if not flag.value:
            switches[flag.name] = _boolean(flag.name, value) if equals else True
        elif equals:
            texts[flag.name] = value
        elif rest:
            texts[flag.name] = rest.pop(0)
        else:
            raise WrongUse(f"flag needs a value: -{flag.name} {flag.value}", hint="see: markdownlang -help")
    return Given(texts, switches, tuple(rest))


def describe(flags: Sequence[Flag]) -> str:
    """Return one line for each flag."""
    heads = [f"-{flag.name} {flag.value}".rstrip() for flag in flags]
    width = max(map(len, heads))
    return "\n".join(f"  {head:<{width}}  {flag.help}" for head, flag in zip(heads, flags, strict=True))


def _split(item: str, known: Mapping[str, Flag]) -> tuple[Flag, str, str]:
    """Return the flag that an argument names, whether ``=`` follows, and what follows it."""
    name, equals, value = item[2 if item.startswith("--") else 1 :].partition("=")
    flag = known.get(name)
    if flag is None:
        near = nearest(name, list(known))
        hint = f"did you mean -{near}?" if near else "see: markdownlang -help"
        raise WrongUse(f"unknown flag: -{name}", hint=hint)
    return flag, equals, value


def _boolean(name: str, value: str) -> bool:
    """Return a boolean as Go writes it."""
    if value in _TRUE or value in _FALSE:
        return value in _TRUE
    raise WrongUse(f"-{name} is true or false, not {value!r}", hint=f"write -{name} or -{name}=false")
