"""Texts made to be slow: every element of them in well under a second, and ten times the text in about ten times that.

The families are those that have brought parsers down: deep nesting, delimiters without an end, references that expand.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from prosa.document import Document, parse
from prosa.source import SourceText
from tests.work import PART, is_linear, is_quick

SIZE = 120_000
SECONDS = 1.0
KINDS = [name for name, value in vars(Document).items() if hasattr(value, "func")]

FAMILIES: dict[str, Callable[[int], str]] = {
    "quotes": lambda n: "> " * n + "a",
    "quotes that end one by one": lambda n: "\n".join("> " * depth + "a" for depth in range(int(n**0.5), 0, -1)),
    "lists": lambda n: "- " * n + "a",
    "indented lists": lambda n: "".join("  " * depth + "- a\n" for depth in range(int(n**0.5))),
    "blank lines": lambda n: "> " * 100 + "a\n" + ">\n" * n,
    "emphasis": lambda n: "*a " * n,
    "emphasis open and closed": lambda n: "*a **a " * n + "b* b** " * n,
    "brackets": lambda n: "[" * n,
    "brackets open and closed": lambda n: "[" * n + "a" + "]" * n,
    "link openings": lambda n: "[a](" * n,
    "image openings": lambda n: "![" * n + "](" * n,
    "wikilink openings": lambda n: "[[" * n + "]]",
    "wikilinks": lambda n: "[[a#b|c]] " * n,
    "backticks": lambda n: " ".join("`" * (length % 700) for length in range(n // 300)),
    "code spans": lambda n: "`a` " * n,
    "unclosed comments": lambda n: "a <!-- " * n,
    "comment blocks": lambda n: "<!-- a\n\n" * n,
    "comments in a block": lambda n: "<div>" + "<!-- a -->" * n,
    "tags": lambda n: "<a href='" * n,
    "ids": lambda n: "<a id='x' " * n + ">",
    "declarations": lambda n: "<!A " * n + "<? " * n + "<![CDATA[" * n,
    "references that expand": lambda n: "[a]: " + "u" * n + "\n\n" + "[a] " * n,
    "definitions": lambda n: "".join(f"[a{number}]: u\n" for number in range(n // 10)),
    "labels": lambda n: "[" + "a\\" * n + "]: u",
    "destinations": lambda n: "[a](" + "(" * n + ")" * n + ") [b](<" + "x" * n,
    "undefined footnotes": lambda n: "[^a] " * n,
    "footnotes": lambda n: "".join(f"[^{number}]: `a` [^{number}]\n" for number in range(n // 10)),
    "footnotes in footnotes": lambda n: "[^a]: " * n + "`a`",
    "tables": lambda n: "|a" * n + "|\n" + "|-" * n + "|\n" + "|b" * n + "|",
    "wide tables with short rows": lambda n: "|a" * (n // 100) + "|\n" + "|-" * (n // 100) + "|\n" + "|b|\n" * 90,
    "fences": lambda n: "```\n" * n,
    "fences in quotes": lambda n: "> ```\n> a\n\n" * n,
    "headings": lambda n: "# a\n" * n,
    "nested headings": lambda n: "> # a\n\n" * n,
    "heading marks": lambda n: "# " + "#" * n + "\t" * n + "\n",
    "tabs behind headings": lambda n: "# a\t\n" * n,
    "underlines": lambda n: "a\n" * n + "===",
    "entities": lambda n: "&" * n + "&amp;" * n,
    "escapes": lambda n: "\\" * n,
    "blank": lambda n: " \t" * n + "\r" * n,
    "wide characters": lambda n: "# 漢é😀 `é`\n" * n,
    "wide characters on one line": lambda n: "漢é `é` [é](é) " * n,
    "nul": lambda n: "\x00" * n,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_texts_are_read_in_linear_time(family: str):
    make = FAMILIES[family]
    assert is_quick(lambda: everything(make(50_000 // PART)[: SIZE // PART]), SECONDS / PART)
    assert is_linear(lambda size: everything(make(size)[:SIZE]), 1_000, 10_000)


def everything(text: str) -> None:
    document = parse(SourceText(text))
    for kind in KINDS:
        getattr(document, kind)
    document.in_code(len(text) // 2)
    document.in_comment(len(text) // 2)
