"""Structural cases, one line each: what a document holds, as slices of its source."""

from __future__ import annotations

import pytest

from prosa.document import Document, parse
from prosa.source import SourceText, Span


def read(text: str) -> Document:
    return parse(SourceText(text))


def slices(text: str, spans: object) -> list[str]:
    return [span.of(text) for span in spans]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](b)", [("inline", "b", "", "a", "b")]),
        ("[a]( <b c>  'd' )", [("inline", "b c", "d", "a", "b c")]),
        ("[a](b(c)d)", [("inline", "b(c)d", "", "a", "b(c)d")]),
        ("[a](b\\)c)", [("inline", "b)c", "", "a", "b\\)c")]),
        ("[a](x&amp;y)", [("inline", "x&y", "", "a", "x&amp;y")]),
        ("[]()", [("inline", "", "", "", "")]),
        ("[a](<>)", [("inline", "", "", "a", "")]),
        ("> [a](\n> b\n> 'c')", [("inline", "b", "c", "a", "b")]),
        ("- [a\n  b](c)", [("inline", "c", "", "a\n  b", "c")]),
        ("[a]\\]](b)", []),
        ("[a\\]](b)", [("inline", "b", "", "a\\]", "b")]),
        ("[`](x)`](b)", [("inline", "b", "", "`](x)`", "b")]),
        ("[![i](j)](b)", [("inline", "b", "", "![i](j)", "b")]),
        ("[漢é😀](é.md)", [("inline", "é.md", "", "漢é😀", "é.md")]),
        ("<https://é.org>", [("autolink", "https://é.org", "", "https://é.org", "https://é.org")]),
        ("<a@b.org>", [("autolink", "mailto:a@b.org", "", "a@b.org", "a@b.org")]),
        ("| x |\n|---|\n| [l](a\\|b) |", [("inline", "a|b", "", "l", "a\\|b")]),
        ("[a][B c]\n\n[b C]: ./u 't'", [("reference", "./u", "t", "a", None)]),
        ("[a][]\n\n[A]: /u", [("reference", "/u", "", "a", None)]),
        ("[a]\n\n[a]: <u v>", [("reference", "u v", "", "a", None)]),
        ("https://example.org", []),
        ("`[a](b)` and <!-- [a](b) -->", []),
        ("    [a](b)", []),
    ],
)
def test_links_are_found_where_they_are_written(text: str, expected: list[object]):
    found = read(text).links
    assert expected == [
        (
            link.form,
            link.destination,
            link.title,
            link.text_span.of(text),
            link.destination_span.of(text) if link.destination_span is not None else None,
        )
        for link in found
    ]


def test_references_keep_their_label_and_cover_both_pairs_of_brackets():
    text = "[a][B c] [d][] [d] ![e][d]\n\n[b C]: /u\n[d]: /v\n"
    document = read(text)
    assert [link.label for link in (*document.links, *document.images)] == ["B c", "d", "d", "d"]
    spans = [link.span for link in (*document.links, *document.images)]
    assert slices(text, spans) == ["[a][B c]", "[d][]", "[d]", "![e][d]"]


def test_link_definitions_have_places_and_the_first_of_a_label_counts():
    text = "> [a]: <x y>\n> 't'\n\n[A]: other\n[b\nc]:\n  /u(v)\n"
    document = read(text)
    assert [(each.label, each.destination, each.title) for each in document.definitions] == [
        ("a", "x y", "t"),
        ("b c", "/u(v)", ""),
    ]
    assert slices(text, [each.destination_span for each in document.definitions]) == ["x y", "/u(v)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]]", [("a", None, None, False)]),
        ("[[a|b|c]]", [("a", "b|c", None, False)]),
        ("[[a#h]] [[#h]] [[a#]]", [("a", None, "h", False), ("", None, "h", False), ("a", None, "", False)]),
        ("[[a#b#c|]]", [("a", "", "b#c", False)]),
        ("![[i.png|100]]", [("i.png", "100", None, True)]),
        ("| [[a\\|b]] |\n|---|", [("a", "b", None, False)]),
        ("[[ a b ]]", [("a b", None, None, False)]),
        ("[[long\nname]]", [("long name", None, None, False)]),
        ("`[[a]]`\n\n```\n[[b]]\n```\n\n<!-- [[c]] -->", []),
        ("[[]] [[a] ] \\[[a]]", []),
        ("[[ `a|b` ]]", []),
        ("[[a#`h`|b]] [[#on `h`]]", [("a", "b", "`h`", False), ("", None, "on `h`", False)]),
        ("[[a#`h|b`]] [[a#`h]]", []),
    ],
)
def test_wikilinks(text: str, expected: list[object]):
    assert expected == [(each.target, each.label, each.fragment, each.embed) for each in read(text).wikilinks]


def test_footnotes_defined_undefined_and_defined_twice():
    text = (
        "a[^1] b[^2] c[^A b] \\[^3] `[^4]` [^5](u) x[^6]\n\n"
        '[^1]: one `c1`\n\n    more `c2`\n\n[^1]: again\n[^a b]: spaced\n\n> [^q]: quoted `{"a": 1}`\n> goes on\n'
    )
    document = read(text)
    assert [each.label for each in document.footnote_references] == ["1", "A b"]
    assert [each.label for each in document.undefined_footnotes] == ["2", "6"]
    assert [each.label for each in document.footnote_definitions] == ["1", "1", "a b", "q"]
    first, second, _, quoted = document.footnote_definitions
    assert first.content.of(text) == "one `c1`\n\n    more `c2`"
    assert [code.text for code in first.code_spans] == ["c1", "c2"]
    assert (second.content.of(text), second.code_spans) == ("again", ())
    assert [code.content.of(text) for code in quoted.code_spans] == ['{"a": 1}']


def test_a_footnote_in_front_of_brackets_is_a_reference_all_the_same():
    text = "x[^1][k] y[^2][k]\n\n[^1]: one\n"
    document = read(text)
    assert [each.label for each in document.footnote_references] == ["1"]
    assert [each.label for each in document.undefined_footnotes] == ["2"]


@pytest.mark.parametrize(
    ("text", "code", "mark", "closed", "containers"),
    [
        ("```\na\n```", "a\n", "```", True, ()),
        ("````\n```\n````\n", "```\n", "````", True, ()),
        ("~~~ a `b`\nx\n~~~~  ", "x\n", "~~~", True, ()),
        ("```", "", "```", False, ()),
        ("```\n", "", "```", False, ()),
        ("```\n```", "", "```", True, ()),
        ("```\na\n\n", "a\n\n", "```", False, ()),
        ("```\na\n``` b\n", "a\n``` b\n", "```", False, ()),
        ("> ```\n> a\n\nb", "a\n", "```", False, ("quote",)),
        ("> ```\n> a\n> > b\n> ```", "a\n> b\n", "```", True, ("quote",)),
        ("- x\n\n  ```\n  a\n\n    b\n  ```", "a\n\n  b\n", "```", True, ("list",)),
        ("1. > - ```\n   >   a\n   >   ```", "a\n", "```", True, ("list", "quote", "list")),
        ("[^1]: x\n\n    ```\n    a\n    ```\n", "a\n", "```", True, ("footnote",)),
        ("- ```\n\ta\n  ```", "  a\n", "```", True, ("list",)),
        ("```\r\na\r\nb\r\n```\r\n", "a\r\nb\r\n", "```", True, ()),
        ("```\ra\rb\r```\r", "a\rb\r", "```", True, ()),
        ("```\né\u2028漢😀\x00\n```", "é\u2028漢😀\x00\n", "```", True, ()),
        ("  ```\n   a\n  ```", " a\n", "```", True, ()),
    ],
)
def test_fences(text: str, code: str, mark: str, closed: bool, containers: tuple[str, ...]):
    document = read(text)
    (fence,) = document.fences
    assert (document.fence_text(fence), fence.open_fence, fence.closed, fence.containers) == (
        code,
        mark,
        closed,
        containers,
    )
    assert fence.nested is bool(containers)


def test_indented_code_and_code_spans():
    text = "    a\n\n    b\n\nx ``a ` b`` `c\nd`\n\n- y\n\n      z\n\n\tt\n"
    document = read(text)
    assert slices(text, document.indented_code)[0] == "a\n\n    b"
    assert [code.text for code in document.code_spans] == ["a ` b", "c d"]
    assert slices(text, [code.content for code in document.code_spans]) == ["a ` b", "c\nd"]
    assert document.in_code(text.index("` b")) and document.in_code(text.index("z"))
    assert not document.in_code(text.index("x"))


def test_html_blocks_comments_and_inline_html():
    text = "<div>\n<!-- in -->\n</div>\n\na <b>c</b> <!-- d\ne --> f\n\n> <!-- q\n> r -->\n\n<!-- open\n\nend"
    document = read(text)
    assert [(each.block, each.comment) for each in document.html] == [
        (True, False),
        (False, False),
        (False, False),
        (False, True),
        (True, True),
        (True, True),
    ]
    assert [each.text for each in document.html][4:] == ["<!-- q\nr -->", "<!-- open\n\nend"]
    assert slices(text, document.comments) == ["<!-- in -->", "<!-- d\ne -->", "<!-- q\n> r -->", "<!-- open\n\nend"]
    assert document.in_comment(text.index("in -->")) and not document.in_comment(text.index("div"))


def test_a_comment_in_code_is_none_and_code_in_a_comment_is_none():
    document = read("`<!-- a -->`\n\n```\n<!-- b -->\n```\n\n<!-- `c` -->\n")
    assert len(document.comments) == len(document.html) == 1
    assert [code.text for code in document.code_spans] == ["<!-- a -->"]


@pytest.mark.parametrize("comment", ["<!-->", "<!--->", "<!-- a -- b -->", "<!---->"])
def test_odd_comments(comment: str):
    text = f"x {comment} y"
    assert slices(text, read(text).comments) == [comment]


def test_quotes_and_lists_end_with_their_last_line():
    text = "> a\n> - b\n>   c\n>\n> d\n\n- e\n  1. f\n\n  2. g\n\n\nh\n"
    document = read(text)
    assert slices(text, document.quotes) == ["> a\n> - b\n>   c\n>\n> d"]
    assert slices(text, document.lists) == ["- b\n>   c", "- e\n  1. f\n\n  2. g", "1. f\n\n  2. g"]
    assert slices(text, document.items) == ["- b\n>   c", "- e\n  1. f\n\n  2. g", "1. f", "2. g"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_x2_line_ends(end: str):
    """X2. LF, CRLF and a lone CR end a line; U+2028, U+0085 and a form feed do not."""
    text = end.join(["# a", "b", "===", "", "- c", "- d", "", "> e\u2028# f\x85# g\x0c", "```", "h", "```", ""])
    document = read(text)
    assert [(heading.level, heading.text) for heading in document.headings] == [(1, "a"), (1, "b")]
    assert [document.fence_text(fence) for fence in document.fences] == [f"h{end}"]
    assert slices(text, document.quotes) == ["> e\u2028# f\x85# g\x0c"]


def test_a_byte_order_mark_is_no_part_of_the_body():
    text = "\ufeff# a\n"
    document = read(text)
    assert document.body == Span(1, len(text))
    assert [heading.span.of(text) for heading in document.headings] == ["# a"]


def test_nul_and_lone_surrogates_are_characters_like_others():
    text = "# \x00a\ud800\n\n[\ud800](x\ud800y)\n"
    document = read(text)
    assert document.headings[0].text == "\x00a\ud800"
    assert document.links[0].destination_span.of(text) == "x\ud800y"


def test_tabs_behind_headings_are_no_part_of_them():
    text = "# a\t\n\n## b `c` #\t\n\n\t# d\t\n"
    assert [heading.text for heading in read(text).headings] == ["a", "b `c`"]


def test_masked_destinations_are_given_as_the_source_has_them():
    text = "[a]({{ .url }}/b) <https://{{ .host }}/> `{{ .code }}` # {{ .h }}\n\n# {{ .title }}\n"
    spans = [Span(at, text.index("}}", at) + 2) for at in range(len(text)) if text.startswith("{{", at)]
    document = parse(SourceText(text), masked=spans)
    assert [link.destination for link in document.links] == ["{{ .url }}/b", "https://{{ .host }}/"]
    assert [code.text for code in document.code_spans] == ["{{ .code }}"]
    assert document.headings[0].plain == "{{ .title }}"


@pytest.mark.parametrize("text", ["[[`|`]]", "[[`a|b`]]", "[[``|``]] `x`", "| `a|b` |\n|---|\n| [[`|`]] |"])
def test_code_that_a_wikilink_cuts_in_two_is_none(text: str):
    found = parse(SourceText(text, "a.md"))
    for code in found.code_spans:
        assert text[code.span.start : code.span.end] == f"`{code.text}`"
    assert not found.wikilinks
