"""What a skill needs that only the agent it was written for provides (X32): commands, tools, other languages.

In: a skill, and the paths of the files beside it where they are known. Out: its needs, in words that follow "asks
for". Nothing is executed here, and a run continues without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prosa.dialects.skill_md.model import SkillModel
from prosa.regex import regex

_MAX_FOLDER = 256
"""Characters before a script that are examined."""

MOST_NAMED = 5
"""Things of one kind that are named."""

SHELLS = frozenset(
    ("bash", "batch", "bat", "cmd", "console", "fish", "powershell", "ps1", "pwsh", "sh", "shell", "shell-session")
) | frozenset(("shellscript", "terminal", "zsh"))
"""Languages of code blocks for a shell."""

_OTHERS = (
    *("bash", "bat", "cjs", "cmd", "fish", "go", "js", "jsx", "mjs", "php", "pl", "ps1", "r", "rb", "rs", "sh"),
    *("ts", "tsx", "zsh"),
)
_SUFFIXES = tuple(f".{suffix}" for suffix in _OTHERS)
_SCRIPT = regex(rf"(?<![\w.-])scripts/[\w./-]{{0,255}}\w\.(?:{'|'.join(_OTHERS)})\b")
_FOLDER = regex(r"(?:\A|\s|(?P<within>/))(?P<name>[^\s/]++)/\Z")
_BREAKS = regex(r"[^\w.-].")
_PYTHON = regex(r"(?:python3?\s+)?[^\s|&;<>]*scripts/[\w./-]{1,255}\.py(?:\s[^|&;<>]*)?$")
"""A command that runs a Python script of the skill."""


def host_needs(model: SkillModel, files: Sequence[str] = (), *, hooks: bool = False) -> Iterator[str]:
    """Return what the skill needs and cannot get here, one text for each kind. ``files`` are the paths of the files
    beside it, ``hooks`` is true if it has that field."""
    document = model.document
    body = document.body
    text = document.source.text[: body.end]
    marked = (span for span in document.code_spans if _is_command(text, span.span.start))
    commands = [(span.text, span.content) for span in marked]
    fenced = [(document.fence_text(fence), fence.span) for fence in document.fences if fence.info.strip() == "!"]
    if needed := sorted((*commands, *fenced), key=lambda command: command[1]):
        named = _named([command.strip().partition("\n")[0] for command, _ in needed])
        yield f"commands whose output belongs in its text: {named}"
    shells = [fence for fence in document.fences if fence.language.lower() in SHELLS]
    if shells := [shell for shell in shells if _needs_shell(document.fence_text(shell))]:
        yield f"{len(shells)} blocks of shell commands" if len(shells) > 1 else "a block of shell commands"
    if model.allowed_tools:
        yield f"tools of its agent: {_named(model.allowed_tools)}"
    scripts = {match[0] for match in _SCRIPT.finditer(text, body.start) if _begins_path(text, match.start())}
    scripts |= {file for file in files if file.startswith("scripts/") and file.lower().endswith(_SUFFIXES)}
    if scripts:
        yield f"scripts in languages other than Python: {_named(sorted(scripts))}"
    if hooks:
        yield "hooks, which its agent runs"


def _begins_path(text: str, start: int) -> bool:
    """Return whether a path starts at ``start``, or after one folder: `./` or `${SKILL}/`."""
    if text[start - 1 : start] != "/":
        return True
    folder = _FOLDER.search(text[max(0, start - _MAX_FOLDER) : start])
    return folder is not None and (not folder["within"] or _BREAKS.search(folder["name"]) is not None)


def _is_command(text: str, start: int) -> bool:
    """Return whether a code span is a command: a `!` is in front of it, and nothing that belongs to a word before
    that."""
    before = text[max(0, start - 2) : start]
    return before.endswith("!") and (len(before) < 2 or before[0].isspace() or before[0] in "([*>")


def _needs_shell(commands: str) -> bool:
    """Return whether commands are more than calls of Python scripts of the skill, which a model makes without a
    shell."""
    lines = (line.strip().removeprefix("$ ") for line in commands.splitlines())
    return any(line and not line.startswith("#") and not _PYTHON.match(line) for line in lines)


def _named(names: Sequence[str]) -> str:
    """Return some of the names, each on one line and not too long."""
    known = list(dict.fromkeys(" ".join(name.split()) for name in names))
    shown = [f"`{name if len(name) <= 60 else name[:59] + '…'}`" for name in known[:MOST_NAMED]]
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return ", ".join(shown) + more
