"""What the text of a context file mentions: imports, paths in backticks, commands of the project, lines with numbers.

In: a document. Out: values with places. Whether any of it exists is a question of rules; nothing is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from prosa.dialects.context.model import Figured, Import, Named, NamedCommand, Tool
from prosa.document import Document
from prosa.regex import regex
from prosa.source import Span

MAX_MENTIONS = 2_000
"""Of one kind in one file; more are a list that no agent follows."""

MAX_LINE = 2_000
"""Characters of a line that are examined for commands."""

_IMPORT = regex(r"(?<!\S)@((?:~/|\.{0,2}/)?[\w.][^\s`\"'<>|*()\[\]{},;]{0,500})")
_TRAILING = ".:!?"
_ENDING = regex(r"\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_TEXTS = (".md", ".mdc", ".mdx", ".markdown", ".txt", ".json", ".yaml", ".yml", ".toml", ".rst")


def imports_in(document: Document) -> tuple[Import, ...]:
    """Return every `@path` outside code."""
    text = document.source.text
    start, end = document.body.start, document.body.end
    if "@" not in text:
        return ()
    imports = (_import(match[1], match.start(1)) for match in _IMPORT.finditer(text, start, end))
    clear = (mention for mention in imports if mention is not None and not document.in_code(mention.span.start))
    return tuple(islice(clear, MAX_MENTIONS))


def _import(written: str, start: int) -> Import | None:
    """Return the import that a word after `@` is; None for what can be none, such as the scope of a package."""
    path = written.rstrip(_TRAILING)
    if "@" in path or "://" in path or not path.strip("./~"):
        return None
    rooted = path.startswith(("./", "../", "/", "~/"))
    ending = _ENDING.search(path)
    text = path.lower().endswith(_TEXTS)
    if not rooted and not ending and "/" in path:
        return None  # `@scope/package`
    clear = text or (bool(ending) and rooted)
    return Import(path, Span(start, start + len(path)), clear)


_PATH = regex(r"(?:\./)?[\w.+-]+(?:/[\w.+\[\]()-]+)+/?(?::\d+(?:-\d+)?)?")


def paths_in(document: Document) -> tuple[Named, ...]:
    """Return every path in backticks, as written, with at least two parts."""
    return tuple(islice(_paths(document), MAX_MENTIONS))


def _paths(document: Document) -> Iterator[Named]:
    for span in document.code_spans:
        text = span.text
        if "/" not in text or len(text) > 300 or not _PATH.fullmatch(text) or ".." in text:
            continue
        path = text.partition(":")[0]
        start = span.content.start + (len(span.content) - len(text)) // 2
        yield Named(path, Span(start, start + len(path)))


_SHELLS = frozenset({"", "bash", "sh", "shell", "console", "zsh", "terminal", "shell-session", "text"})
_BEGIN = r"(?:^|&&|\|\||[;(])[ \t]*+(?:[$>%][ \t]++)?(?:sudo[ \t]++)?(?:[A-Z_][A-Z0-9_]*+=[^\s;&|(]*+[ \t]++)*+"
_FLAGS = r"(?:[ \t]++--?+(?!(?:p|package|bin)[ =])[\w-]++)*+[ \t]++"
_COMMANDS = (
    r"(?:npm|pnpm|yarn|bun)[ \t]++run(?:-script)?[ \t]++(?P<npm>[A-Za-z][\w:.-]*+)(?![/*<{$])",
    r"make(?P<make>(?:[ \t]++[a-zA-Z][\w.-]*+(?![/=*<{$]))++)",
    r"just[ \t]++(?P<just>[a-zA-Z_][\w-]*+)(?![:./=*<{$])",
    rf"cargo[ \t]++run{_FLAGS}--bin[ =](?P<bin>[\w-]++)(?![<{{$])",
    rf"cargo[ \t]++(?:build|check|clippy|run|test|bench){_FLAGS}(?:-p|--package)[ =](?P<package>[\w-]++)(?![<{{$@])",
    r"(?:(?:uv|poetry|pdm|hatch)[ \t]++run[ \t]++)?python3?[ \t]++-m[ \t]++(?P<module>[\w.]++)(?![<{$-])",
    r"(?:uv|poetry|pdm)[ \t]++run[ \t]++(?P<script>[a-z][\w-]*+)(?![./=*<{$])",
)
_COMMAND = regex(f"{_BEGIN}(?:{'|'.join(_COMMANDS)})")
_GROUPS: dict[str, Tool] = {
    "npm": "npm",
    "make": "make",
    "just": "just",
    "bin": "cargo-bin",
    "package": "cargo-package",
    "module": "python-module",
    "script": "python-script",
}
_WORD = regex(r"\S+")
_RUNNERS = (" run", "make ", "just ", "cargo ", " -m ")
"""What every command line has that is looked for."""
_HASH = regex(r"(?:^|\s)#")


def commands_in(document: Document) -> tuple[NamedCommand, ...]:
    """Return what command lines in backticks and in blocks of a shell run by name."""
    return tuple(islice(_all_commands(document), MAX_MENTIONS))


def _may_run(text: str) -> bool:
    return any(runner in text for runner in _RUNNERS)


def _all_commands(document: Document) -> Iterator[NamedCommand]:
    text = document.source.text
    if not _may_run(text):
        return
    for span in document.code_spans:
        yield from _line(text, span.content)
    for fence in document.fences:
        if fence.info.split(" ")[0].lower() in _SHELLS:
            for piece in fence.content:
                if _may_run(piece.of(text)):
                    yield from _lines(text, piece)


def _lines(text: str, piece: Span) -> Iterator[NamedCommand]:
    start = piece.start
    for line in piece.of(text).splitlines(keepends=True):
        yield from _line(text, Span(start, start + len(line.rstrip("\r\n"))))
        start += len(line)


def _line(text: str, span: Span) -> Iterator[NamedCommand]:
    line = text[span.start : min(span.end, span.start + MAX_LINE)]
    if not _may_run(line):
        return
    comment = _HASH.search(line)
    line = line[: comment.start()] if comment else line
    for match in _COMMAND.finditer(line):
        group = str(match.lastgroup)
        for word in _WORD.finditer(match[group]):
            at = span.start + match.start(group) + word.start()
            yield NamedCommand(_GROUPS[group], word[0], Span(at, at + len(word[0])))


_NUMBER = regex(r"(?<![\w.#/-])\d[\d,]*(?:\.\d+)?(?![\w/]|-\w)")
_LETTERS = regex(r"[^\W\d_]{2,}")
_MARKER = regex(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")

MIN_WORDS = 4
"""Words of a line without which two lines may be alike by chance."""


def figures_in(document: Document) -> tuple[Figured, ...]:
    """Return the lines of running text with a number in them."""
    return tuple(islice(_figures(document), MAX_MENTIONS))


_WITH_NUMBER = regex(r"(?m)^[^\d\n]*+\d[^\n]*+")


def _figures(document: Document) -> Iterator[Figured]:
    text = document.source.text
    for line in _WITH_NUMBER.finditer(text, document.body.start, document.body.end):
        start, end = line.span()
        if end - start > MAX_LINE:
            continue
        marker = _MARKER.match(text, start, end)
        start = marker.end() if marker else start
        if document.in_code(start):
            continue
        bare = text[start:end].rstrip("\r")
        numbers = _NUMBER.findall(bare)
        words = " ".join(_NUMBER.sub("#", bare).lower().split()).strip(" .;:*_") if numbers else ""
        if len(_LETTERS.findall(words)) >= MIN_WORDS:
            yield Figured(words, tuple(numbers), Span(start, start + len(bare)))
