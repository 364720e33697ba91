"""Nunjucks, as promptfoo's prompts use it, to templates in Go's language.

In: a text. Out: a Go template, and the tags that have no counterpart there: they become text. Values, `if`, `for`,
`raw`, comments and a few filters have one. Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from prosa.convert.body import spelled
from prosa.data import Value
from prosa.regex import regex

MAX_TAGS = 10_000
MAX_BLOCKS = 50
"""Tags of a text, and blocks inside one another; a prompt has not many more."""

MAX_TAG = 2_000
"""Characters inside a tag; a longer one is text."""

_OPENED = regex(r"\{[{%#]")
_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_SPACE = regex(r"\s*")
_PATH = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[(?:'[^'\"\\\]]*'|\"[^'\"\\\]]*\"|[0-9]{1,6})\])*", re.ASCII)
_STEP = regex(r"\.?([A-Za-z_]\w*)|\[['\"]([^'\"]*)['\"]\]|\[([0-9]+)\]", re.ASCII)
_TEXT = regex(r"'([^'\"\\\n]*)'|\"([^'\"\\\n]*)\"")
_LITERAL = regex(r"-?[0-9]+(?:\.[0-9]+)?|true|false", re.ASCII)
_LOOP = regex(r"for\s+([A-Za-z_]\w*)\s+in\s+(\S+)", re.ASCII)
_COMPARED = regex(r"===?|!==?|>=|<=|>|<")
_OPERATORS = {"==": "eq", "===": "eq", "!=": "ne", "!==": "ne", ">": "gt", "<": "lt", ">=": "ge", "<=": "le"}
_FILTERS = {"upper": "upper", "lower": "lower", "title": "title", "length": "len", "dump": "", "safe": "", "string": ""}
"""Filters with a function of Go's language; a list or a mapping is printed as JSON there anyway."""


class FromNunjucks(Struct, frozen=True):
    """A Go template, whether it looks anything up, and the tags that became text."""

    template: str
    acts: bool
    unknown: tuple[str, ...] = ()


def from_nunjucks(text: str) -> FromNunjucks:
    """Return a text as a template in Go's language."""
    return _Reading().run(text)


class _Tag(Struct, frozen=True):
    """A tag in a text: how it begins, what is in it, and where it is."""

    kind: str
    inner: str
    text: str
    start: int
    end: int


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags of a text in order; one that is never closed, or too long, counts as text."""
    at = 0
    missing: set[str] = set()
    while (opened := _OPENED.search(text, at)) is not None:
        kind, start = opened[0], opened.start()
        at = opened.end()
        end = -1 if kind in missing else text.find(_CLOSES[kind], at)
        if end < 0:
            missing.add(kind)
        elif kind == "{#" or end - at <= MAX_TAG:
            yield _Tag(kind, text[at:end].strip("-").strip(), text[start : end + 2], start, end + 2)
            at = end + 2


def filled(text: str, values: Mapping[str, Value]) -> str | None:
    """Return a text with the values that its tags name; None where a tag is more than a name, or has no value."""
    parts, at = [], 0
    for tag in _tags(text):
        value = _looked_up(tag.inner, values) if tag.kind == "{{" else None
        if value is None:
            return None
        parts += [text[at : tag.start], value]
        at = tag.end
    return "".join((*parts, text[at:]))


def _looked_up(tag: str, values: Mapping[str, Value]) -> str | None:
    names = _names(tag)
    value: Value = dict(values)
    for name in names or ("",):
        if isinstance(name, int):
            value = value[name] if isinstance(value, list) and name < len(value) else None
        else:
            value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


class _Reading(Struct):
    """The state of reading a text. ``blocks`` are the open ones: what ends each, and whether it has a counterpart;
    ``loops`` are the names of the innermost elements."""

    parts: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    blocks: list[tuple[str, bool]] = field(default_factory=list)
    loops: list[str] = field(default_factory=list)
    acts: bool = False
    raw: bool = False

    def run(self, text: str) -> FromNunjucks:
        at = 0
        for number, tag in enumerate(_tags(text)):
            if number == MAX_TAGS:
                break
            before = text[at : tag.start]
            self.parts.append(spelled(before.rstrip() if tag.text.startswith(("{{-", "{%-")) else before))
            self.tag(tag)
            at = tag.end
            if tag.text.endswith(("-}}", "-%}")) and (space := _SPACE.match(text, at)) is not None:
                at = space.end()
        self.parts.append(spelled(text[at:]))
        self.parts += ["{{ end }}" for _, known in self.blocks if known]
        self.unknown += [f"{{% {name} %}}" for name, _ in self.blocks]
        return FromNunjucks("".join(self.parts), self.acts, tuple(dict.fromkeys(self.unknown)))

    def tag(self, tag: _Tag) -> None:
        inner = tag.inner if tag.kind == "{%" else ""
        if self.raw and inner != "endraw":
            self.parts.append(spelled(tag.text))
            return
        if inner in ("raw", "endraw"):
            self.raw = inner == "raw"
            return
        if tag.kind == "{#":
            return
        action = self.value(tag.inner) if tag.kind == "{{" else self.block(inner)
        if action is None:
            self.unknown.append(tag.text)
            self.parts.append(spelled(tag.text))
        else:
            self.acts = True
            self.parts.append(f"{{{{ {action} }}}}")

    def value(self, inner: str) -> str | None:
        """Return what a value is in Go's language, with its filters; None where it has no counterpart."""
        first, *filters = (part.strip() for part in inner.split("|"))
        path = self.operand(first)
        for applied in filters:
            name = _FILTERS.get(applied)
            default = regex(r"default\((.+)\)").fullmatch(applied)
            if path is None or (name is None and default is None):
                return None
            if default is not None:
                operand = self.operand(default[1])
                path = None if operand is None else f"default {operand} {_inner(path)}"
            elif name:
                path = f"{name} {_inner(path)}"
        return path

    def block(self, inner: str) -> str | None:
        word, _, rest = inner.partition(" ")
        if word == "if" and len(self.blocks) < MAX_BLOCKS:
            condition = self.condition(rest.strip())
            self.blocks.append(("if", condition is not None))
            return None if condition is None else f"if {condition}"
        if word == "for" and len(self.blocks) < MAX_BLOCKS:
            return self.loop(inner)
        if not self.blocks:
            return None
        name, known = self.blocks[-1]
        if word in ("elif", "elseif") and known and name == "if":
            condition = self.condition(rest.strip())
            return None if condition is None else f"else if {condition}"
        if inner == "else" and known:
            return "else"
        if inner != f"end{name}":
            return None
        self.blocks.pop()
        if name == "for":
            self.loops.pop()
        return "end" if known else None

    def loop(self, inner: str) -> str | None:
        match = _LOOP.fullmatch(inner)
        path = self.operand(match[2]) if match else None
        self.blocks.append(("for", path is not None))
        self.loops.append(match[1] if match else "")
        return None if match is None or path is None else f"range $_, ${match[1]} := {path}"

    def condition(self, text: str) -> str | None:
        for word in ("or", "and"):
            several = regex(rf"\s+{word}\s+").split(text)
            if len(several) > 1:
                parts = [self.condition(part) for part in several]
                return None if None in parts else f"{word} {' '.join(_inner(part or '') for part in parts)}"
        if text.startswith("not "):
            inner = self.condition(text.removeprefix("not ").strip())
            return None if inner is None else f"not {_inner(inner)}"
        if (match := _COMPARED.search(text, 1)) is not None and match.end() < len(text):
            operands = [self.operand(side.strip()) for side in (text[: match.start()], text[match.end() :])]
            return None if None in operands else f"{_OPERATORS[match[0]]} {operands[0]} {operands[1]}"
        return self.operand(text)

    def operand(self, text: str) -> str | None:
        """Return a path or a literal in Go's language."""
        if (quoted := _TEXT.fullmatch(text)) is not None:
            return f'"{quoted[1] if quoted[1] is not None else quoted[2]}"'
        if _LITERAL.fullmatch(text):
            return text
        names = _names(text)
        if names is None or names[0] in ("env", "loop"):
            return None
        if names[0] in self.loops:
            first, *names = names
            return _joined(f"${first}", names)
        return _joined("$" if self.loops else "", names)


def _names(text: str) -> list[str | int] | None:
    """Return the names and indexes of a path; None for anything else."""
    if not _PATH.fullmatch(text):
        return None
    steps = _STEP.finditer(text)
    return [int(step[3]) if step[3] else step[1] if step[1] is not None else step[2] for step in steps]


def _joined(start: str, names: Sequence[str | int]) -> str:
    if all(isinstance(name, str) and regex(r"[A-Za-z_]\w*", re.ASCII).fullmatch(name) for name in names):
        return start + "".join(f".{name}" for name in names) if names or start else "."
    return f"index {start or '.'} {' '.join(str(name) if isinstance(name, int) else _quoted(name) for name in names)}"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _inner(expression: str) -> str:
    return f"({expression})" if " " in expression and not expression.startswith('"') else expression
