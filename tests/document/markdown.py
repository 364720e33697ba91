"""Markdown for properties: soup of pieces that mean something, and documents built of whole blocks."""

from __future__ import annotations

from hypothesis import strategies as st

LINE_ENDS = ("\n", "\r\n", "\r")

PIECES = (
    *("# ", "## ", "===", "---", "> ", ">", "- ", "1. ", "    ", "\t", "  "),
    *("\n", "\n\n", "\r\n", "\r", "\u2028", "\x0c", "\x00"),
    *("```", "~~~", "````", "py", "`b`", "``a ` b``", "`"),
    *("word ", "é", "漢", "😀", "\ud800", "a&amp;b", "\\", "*a*", "**", "|a|b|", "|-|-|", "|"),
    *("[x](y)", "[x](<y z> 't')", "![i](a\\)b)", "](", "(", ")", "<", ">", "<http://é.x/>", "<a@b.c>"),
    *("[r][k]", "[k][]", "[k]", "[k]: /u 't'", "[K]: <v w>", "[", "]", "![", "]: "),
    *("[^1]", "[^1]: ", "[^2]", "[^é]: ", "[[w]]", "[[w#f|l]]", "![[e\\|x]]", "[[", "]]", "#f"),
    *("<!-- ", "-->", "<!-- c -->", "<div>", "</div>", "<b id='i'>", "<script>", "{{ .x }}"),
)

SOUP = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)

WORDS = st.lists(
    st.sampled_from(["plain", "é", "漢字", "😀", "a_b", "x*y", "1.", "#", "c|d", "&amp;", "\\]"]), min_size=1
)
WORD = st.sampled_from(["plain", "é", "漢字", "😀", "k", "two"])

TARGET = st.sampled_from(
    [
        "./a.md",
        "b%20c.md#d",
        "<e f.md>",
        "é.md",
        "a(b)c",
        "a\\)b",
        "x&amp;y",
        "#frag",
        "https://example.org/?q=1",
        "<>",
        "",
    ]
)


@st.composite
def inline(draw: st.DrawFn) -> str:
    """One line of running text with elements in it."""
    word, target = draw(WORD), draw(TARGET)
    return draw(
        st.sampled_from(
            [
                " ".join(draw(WORDS)),
                f"a [{word}]({target}) b",
                f'[{word} *x* `y`]({target} "title")',
                f"![{word}]({target} 'title')",
                f"[![{word}](i.png)]({target})",
                f"[{word}][k] [k][] [{word}]",
                f"<https://example.org/{word}> <{'a'}@b.org>",
                f"a[^1] b[^{word}] \\[^no]",
                f"[[{word}]] [[{word}#part|label]] ![[{word}.png]]",
                f"`{word}` ``{word} ` b`` x",
                f"x <b title='{word}'>y</b> <!-- {word} --> z",
            ]
        )
    )


@st.composite
def block(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """The lines of one block."""
    text = draw(inline())
    made = [
        [f"{'#' * draw(st.integers(1, 6))} {text}"],
        [text, "===" if draw(st.booleans()) else "---"],
        [text, draw(inline())],
        ["```py", "", f"  {text}", "```"],
        ["~~~~", text, "~~~", "~~~~"],
        ["    " + text, "", "\tcode"],
        ["<div>", text, "</div>"],
        ["<!-- " + draw(WORD), "", "> more -->"],
        ["| a | b |", "|---|---|", f"| `c` | {draw(inline())} |"],
        [f"[^{draw(WORD)}]: " + text, "", "    more `code`"],
        [f"[{draw(WORD)}]: <u v> 'title'"],
        ["***"],
    ]
    lines = draw(st.sampled_from(made))
    if depth < 3 and draw(st.booleans()):
        inner = draw(block(depth + 1))
        lines = draw(st.sampled_from([_quoted(inner), _item("- ", inner), _item("12) ", inner), lines]))
    return lines


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Whole blocks with blank lines between them, some nested, under one kind of line end."""
    blocks = draw(st.lists(block(), max_size=8))
    lines = [line for each in blocks for line in (*each, "")] + ["[k]: ./k.md", "", "[^1]: note `c`"]
    end = draw(st.sampled_from(LINE_ENDS))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def _quoted(lines: list[str]) -> list[str]:
    return [f"> {line}" for line in lines]


def _item(mark: str, lines: list[str]) -> list[str]:
    return [mark + lines[0], *(" " * len(mark) + line if line else "" for line in lines[1:])]
