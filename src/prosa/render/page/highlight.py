"""Syntax highlighting. In: the text of a block and its language. Out: HTML in which every character is escaped and
every class is known; for an unknown language the same text without classes.

A lexer consists of many regular expressions, and documents are untrusted: only lexers are used that are fast on any
text of `MAX_BLOCK` characters, and a page has at most `MAX_PAGE` of them. The library loads with the first block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeAlias

from prosa.regex import regex

if TYPE_CHECKING:
    from pygments.token import _TokenType

MAX_BLOCK = 6_000
"""Characters of a block that is coloured."""

MAX_PAGE = 48_000
"""Characters of all coloured blocks of one page."""

MAX_KEPT = 256
"""Blocks that are remembered: a page is written again whenever its neighbours change."""

_LEXERS: Mapping[str, tuple[str, str]] = {
    "bash zsh sh shell": ("shell", "BashLexer"),
    "console shell-session terminal": ("shell", "BashSessionLexer"),
    "css": ("css", "CssLexer"),
    "docker dockerfile": ("configs", "DockerLexer"),
    "elisp lisp": ("lisp", "EmacsLispLexer"),
    "go golang": ("go", "GoLexer"),
    "graphql": ("graphql", "GraphQLLexer"),
    "html htm": ("html", "HtmlLexer"),
    "javascript js jsx mjs typescript ts tsx": ("javascript", "JavascriptLexer"),
    "json jsonc json5 jsonl ndjson": ("data", "JsonLexer"),
    "kotlin": ("jvm", "KotlinLexer"),
    "lua": ("scripting", "LuaLexer"),
    "markdown md mda mdx": ("markup", "MarkdownLexer"),
    "php": ("php", "PhpLexer"),
    "powershell ps1": ("shell", "PowerShellLexer"),
    "pycon": ("python", "PythonConsoleLexer"),
    "python py python3": ("python", "PythonLexer"),
    "ruby rb": ("ruby", "RubyLexer"),
    "rust rs": ("rust", "RustLexer"),
    "scss": ("css", "ScssLexer"),
    "sql": ("sql", "SqlLexer"),
    "swift": ("objective", "SwiftLexer"),
    "toml ini cfg": ("configs", "TOMLLexer"),
    "vim": ("textedit", "VimLexer"),
    "xml svg": ("html", "XmlLexer"),
    "yaml yml": ("data", "YamlLexer"),
}
_OF = {name: lexer for names, lexer in _LEXERS.items() for name in names.split()}
_DIFF = frozenset({"diff", "patch"})
LANGUAGES = frozenset({*_OF, *_DIFF})
"""The names that a block may have for its language."""

_CLASSES: Mapping[str, str] = {
    "Comment": "c",
    "Comment.Preproc": "k",
    "Generic.Deleted": "d",
    "Generic.Heading": "h",
    "Generic.Inserted": "i",
    "Generic.Prompt": "p",
    "Generic.Strong": "h",
    "Generic.Subheading": "h",
    "Keyword": "k",
    "Keyword.Constant": "n",
    "Literal.Number": "n",
    "Literal.String": "s",
    "Name.Attribute": "t",
    "Name.Builtin": "f",
    "Name.Class": "f",
    "Name.Decorator": "f",
    "Name.Function": "f",
    "Name.Tag": "t",
    "Name.Variable": "f",
    "Operator.Word": "k",
}
"""The class of a kind of token, and of every kind below it that is not named itself. `page.css` has their colours."""

_FRONT = regex(r"---\n(?:(?!---\n)[^\n]*+\n)*+---\n")
_BLANK = regex(r"\s{200}")
_LINES = {"+": "i", "-": "d", "@": "h"}

Piece: TypeAlias = tuple[str, str]
"""A class, empty for none, and a text."""


class Lexer(Protocol):
    """The part of a lexer that is used."""

    def get_tokens_unprocessed(self, text: str) -> Iterable[tuple[int, _TokenType, str]]:
        """Return the start, the kind and the text of each token."""


def can_be_coloured(text: str, language: str) -> bool:
    """Return whether `highlighted` does anything with a block."""
    return language.lower() in LANGUAGES and 0 < len(text) <= MAX_BLOCK and not _BLANK.search(text)


@lru_cache(maxsize=MAX_KEPT)
def highlighted(text: str, language: str) -> str:
    """Return a block as HTML."""
    name = language.lower()
    if not can_be_coloured(text, name):
        return escape(text, quote=False)
    return "".join(_written(_joined(_diff(text) if name in _DIFF else _lexed(text, name))))


def _lexed(text: str, name: str) -> Iterator[Piece]:
    """Yield the pieces of a text; front matter at the start is highlighted as YAML."""
    front = _FRONT.match(text) if _OF[name][1] == "MarkdownLexer" else None
    if front is not None:
        yield from _lexed(front[0], "yaml")
        text = text[front.end() :]
    done = 0
    for at, kind, token in _lexer(*_OF[name]).get_tokens_unprocessed(text):
        if at != done:
            break  # ignore a lexer that omits or repeats text
        done += len(token)
        yield _class_of(kind), token
    yield "", text[done:]


def _diff(text: str) -> Iterator[Piece]:
    for line in text.splitlines(keepends=True):
        yield _LINES.get(line[0], ""), line


@cache
def _lexer(module: str, name: str) -> Lexer:
    made = getattr(import_module(f"pygments.lexers.{module}"), name)
    lexer: Lexer = made(handlecodeblocks=False) if name == "MarkdownLexer" else made()
    return lexer


@cache
def _class_of(kind: _TokenType) -> str:
    name = ".".join(kind)
    while name and name not in _CLASSES:
        name = name.rpartition(".")[0]
    return _CLASSES.get(name, "")


def _joined(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces, neighbours of one class together; blank space has no colour of its own."""
    open_, held = "", ""
    for name, text in pieces:
        if name == open_ or text.isspace():
            held += text
        else:
            yield open_, held
            open_, held = name, text
    yield open_, held


def _written(pieces: Iterable[Piece]) -> Iterator[str]:
    for name, text in pieces:
        escaped = escape(text, quote=False)
        yield f'<span class="{name}">{escaped}</span>' if name and text else escaped
