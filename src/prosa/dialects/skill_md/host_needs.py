"""What a skill asks for that only the agent it was written for can give (X32): commands, tools, other languages.

In: a skill, and the paths of the files beside it where they are known. Out: what it asks for, with the place. Nothing
of it is executed here, and a run goes on without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from prosa.data import Entry
from prosa.dialects.skill_md.model import SkillModel
from prosa.regex import regex
from prosa.source import Span

MOST_NAMED = 5
"""Things of one kind that are named."""

SHELLS = frozenset(
    ("bash", "batch", "bat", "cmd", "console", "fish", "powershell", "ps1", "pwsh", "sh", "shell", "shell-session")
) | frozenset(("shellscript", "terminal", "zsh"))
"""Languages of code blocks that somebody is to type into a shell."""

_OTHERS = (
    *("bash", "bat", "cjs", "cmd", "fish", "go", "js", "jsx", "mjs", "php", "pl", "ps1", "r", "rb", "rs", "sh"),
    *("ts", "tsx", "zsh"),
)
_SUFFIXES = tuple(f".{each}" for each in _OTHERS)
_SCRIPT = regex(rf"(?:^|[^\w./-])(?:\./|[^\s/]+/)?(?P<path>scripts/[\w./-]*\w\.(?:{'|'.join(_OTHERS)}))\b")


_PYTHON = regex(r"(?:python3?\s+)?[^\s|&;<>]*scripts/[\w./-]+\.py(?:\s[^|&;<>]*)?$")
"""A command that runs a Python script of the skill."""


class HostNeed(Struct, frozen=True):
    """Something that a skill asks for: what it is, in words that follow "asks for", and where it does first."""

    words: str
    span: Span


def host_needs(model: SkillModel, hooks: Entry | None = None, files: Sequence[str] = ()) -> tuple[HostNeed, ...]:
    """What the skill asks for and cannot have here, one need of a kind. ``hooks`` is the field of that name, ``files``
    are the paths of the files beside it."""
    return tuple(_needs(model, hooks, files))


def _needs(model: SkillModel, hooks: Entry | None, files: Sequence[str]) -> Iterator[HostNeed]:
    document = model.document
    body = document.body
    text = document.source.text[: body.end]
    marked = (each for each in document.code_spans if _is_command(text, each.span.start))
    commands = [(each.text, each.content) for each in marked]
    fenced = [(document.fence_text(each), each.span) for each in document.fences if each.info.strip() == "!"]
    if found := sorted((*commands, *fenced), key=lambda each: each[1]):
        named = _named([each.strip().partition("\n")[0] for each, _ in found])
        yield HostNeed(f"commands whose output is to stand in its text: {named}", found[0][1])
    shells = [each for each in document.fences if each.language.lower() in SHELLS]
    if shells := [each for each in shells if _needs_shell(document.fence_text(each))]:
        many = f"{len(shells)} blocks of commands" if len(shells) > 1 else "a block of commands"
        start = shells[0].span.start
        first = len(text[start : shells[0].span.end].splitlines()[0])
        yield HostNeed(f"{many} for a shell", Span(start, start + first))
    if model.allowed_tools:
        words = f"tools of its agent: {_named(model.allowed_tools)}"
        yield HostNeed(words, model.span("allowed-tools"))
    scripts = {each["path"]: Span(*each.span("path")) for each in _SCRIPT.finditer(text, body.start)}
    others = {each: model.anchor for each in files if each.startswith("scripts/") and each.lower().endswith(_SUFFIXES)}
    if scripts := others | scripts:
        words = f"scripts in other languages than Python: {_named(sorted(scripts))}"
        yield HostNeed(words, next(iter(scripts.values())))
    if hooks is not None:
        yield HostNeed("hooks, which are commands of its agent", hooks.key.span)


def _is_command(text: str, start: int) -> bool:
    """Whether a code span is a command: a `!` is in front of it, and nothing that belongs to a word before that."""
    before = text[max(0, start - 2) : start]
    return before.endswith("!") and (len(before) < 2 or before[0].isspace() or before[0] in "([*>")


def _needs_shell(commands: str) -> bool:
    """Whether commands are more than calls of Python scripts of the skill, which a model makes without a shell."""
    lines = (each.strip().removeprefix("$ ") for each in commands.splitlines())
    return any(line and not line.startswith("#") and not _PYTHON.match(line) for line in lines)


def _named(names: Sequence[str]) -> str:
    """Some of the names, each on one line and not too long."""
    known = list(dict.fromkeys(" ".join(each.split()) for each in names))
    shown = [f"`{each if len(each) <= 60 else each[:59] + '…'}`" for each in known[:MOST_NAMED]]
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return ", ".join(shown) + more
