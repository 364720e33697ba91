"""Documents of every dialect in which a few tokens stand very often: what a reader must get through in linear time.

`FORMS` are documents by dialect with a place, `…`, for what is repeated; `TOKENS` are the signs of all grammars.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeAlias

from hypothesis import strategies as st

from prosa.corpus.extract import extracted
from prosa.dialects import DialectName
from prosa.dialects.dialect import FormatOptions, Hints
from prosa.rules.analyse import analyse
from prosa.rules.fix import format_text
from prosa.source import SourceText

PLACE = "…"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

_PROGRAM = "---\nname: a\ndescription: b\ninput: {type: object}\noutput: {type: object}\n"
_FOOTER = '```json\n{"schema": "1", "index": {"title": "a"}, "ops": {%s}}\n```\n'
_RECORD = '---\ndoc_summary: "a"\n---\n@\n' + _FOOTER
_SELECTED = _RECORD % '"body_selector": "%s"'

FORMS: tuple[tuple[DialectName, str], ...] = (
    ("plain", "…"),
    ("plain", "---\n…\n---\nx\n"),
    ("plain", "---\na: …\n---\nx\n"),
    ("plain", '---\na: "…"\n---\n'),
    ("plain", "---\na: […]\n---\n"),
    ("magi", "…"),
    ("magi", "---\ndoc-id: a\ntags: …\n---\n"),
    ("magi", "---\ndoc-id: a\n…\n---\n"),
    ("magi", '---\nglobs: ["…"]\n---\n'),
    ("magi", "```ai-script\n…\n```\n"),
    ("magi", '```ai-script\n{"script-id":"a","prompt":"…"}\n```\n'),
    ("magi", "[^a]: …\n"),
    ("magi", '[^a]: `{"rel-type": "…"}`\n'),
    ("markdownlang", _PROGRAM + "---\n…"),
    ("markdownlang", _PROGRAM + "…\n---\n"),
    ("markdownlang", "---\nname: a\ndescription: …\ninput: {type: object}\noutput: {pattern: '…'}\n---\n"),
    ("ymj", _RECORD % ""),
    ("ymj", '---\ndoc_summary: "…"\nkind: "…"\n---\nx\n' + _FOOTER % ""),
    ("ymj", '---\ndoc_summary: "a"\n---\nx\n```json\n…\n```\n'),
    ("ymj", '---\ndoc_summary: "a"\n---\nx\n' + _FOOTER % '"body_selector": "…"'),
    ("ymj", _SELECTED % "heading_path:a/b -> first_fenced:csv"),
    ("ymj", _SELECTED % "block_id:b"),
    ("ymj", _SELECTED % "regex:a.*?b.*c"),
    ("ymj", (_RECORD % '"handlers": [{"name": "prosa-trace"}]').replace("---\n…", "kind: trace\n---\n…")),
    ("mdh", "---\nid: a\ntype: b\ntitle: c\n---\n…"),
    ("mdh", "---\nid: a\ntype: b\ntitle: c\n…\n---\n"),
    ("mdh", '---\nid: a\nactions:\n- {id: x, method: GET, url: "…", pagination: {style: cursor, next: "…"}}\n---\n'),
    ("mdh", '---\nid: a\ntype: b\nlinks:\n- {rel: "…", href: "…"}\n---\n'),
    ("prapti", "…"),
    ("prapti", "### @user:\n…"),
    ("prapti", "### @user:\n% a = …\n"),
    ("prapti", "### @user:\n% …\n"),
    ("prapti", "### @user:\n%% …\n\nx"),
    ("skill_md", "---\nname: a\ndescription: b\n---\n…"),
    ("skill_md", '---\nname: a\ndescription: …\nallowed-tools: "…"\n---\n'),
    ("test", "---\ntests: ./p.md\n---\n…"),
    ("test", "---\ntests: ./p.md\n---\n## a\n```yaml input\n…\n```\n"),
    ("test", '---\ntests: ./p.md\n---\n## a\n```yaml expect\n"$..[?…": 1\n```\n'),
    ("evals", "…"),
    ("evals", '{"skill_name":"a","evals":[{"id":1,"prompt":"…","assertions":["…"]}]}'),
)

TOKENS = (
    "---\n", "```\n", "```json\n", "```json call:1\n", "```json call:2\n{}\n```\n", "```ai-script\n", "~~~\n", "> ",
    "- ", "1. ", "* ", "#", "# a\n", "### @user:\n", "### //@a:\n", "### @", "% a = 1\n", "% ", "%% ", "//", "[[",
    "]]", "[[a]] ", "![[", "[", "]", "](", "[a](", "![", "<", "<!--", "-->", "<!-- block_id:", "<a ", "<div\n",
    "<!-- prosa-ignore MD001 -->\n", "<!-- prosa-ignore ", "<!-- ai-result {", "<!-- /ai-result -->\n\n",
    "# prosa-ignore", "<a id=", "<p>", "&", "&amp;", "{{", "}}", "{{/*", "{{ .a }}", "{{ if .a }}", "{{end}}", '{{"',
    "{{ `", "{#a}", "{", "}", "(", ")", "(a)=\n", "*", "**", "_", "__", "`", "``", "\\", "\\`", "\n", "\r", "\r\n",
    " ", "\t", " \n", '\u2028', '\x00', "a", "a ", "a: ", "a: b\n", "a:\n", "- a\n", "'", '"', '\\"', ",", "[a,",
    "{a:", '"a":1,', '"a":{', "&a ", "*a ", "<<: *a\n", "!!str ", "|\n", ">\n", "#a ", "$ARGUMENTS ", "$1 ", "$",
    "mcp__a__", "mcp**a**", "@a/b ", "http://a ", "a/", "../", "%41", "^", "[^a]", "[^a]: ", "[^a]: {",
    '[^a]: `{"a":1}`\n', ":::", "--8<--", "|a", "|-", "=\n", "-\n", "Σ", '\ud800', '\ufeff', '\u200b', '\u200d',
    '\u202e', '😀\u200d', "1", "1.", "00", "0x", "e", "::", "..", "?", "!", "~", "{/*", "*/", "/*", "$..[?(@.a", "(?",
    "(a+)+", "heading_path:a/", "between:", "->", "scripts/a.sh ", "import a\n", "export const a = {\n", "{{< a ",
    "{{</ a >}}\n", "[[a.b]]\n", "classification: ", "visibility: ",
)  # fmt: skip

repeated = st.tuples(
    st.sampled_from(("", *TOKENS)),
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3),
    st.sampled_from(("", *TOKENS)),
)


Parts: TypeAlias = tuple[str, list[str], str]
"""What stands in front, what is repeated, what stands behind."""


def document(form: str, parts: Parts, size: int) -> str:
    """A document of a form, in which the middle part fills about ``size`` characters."""
    begin, middle, end = parts[0], "".join(parts[1]), parts[2]
    filled = begin + middle * (size // len(middle)) + end
    return filled.join(form.split(PLACE))


def everything(text: str, dialect: DialectName) -> None:
    """All that is done with a document without asking another one: rules, facts, rows of the index, normal form."""
    source = SourceText(text, "doc.ymj" if dialect == "ymj" else "doc.md")
    reading = analyse(source, Hints(dialect), None, NOW).reading
    assert reading is not None
    reading.facts()
    assert reading.front_matter is None or isinstance(reading.front_matter, dict)
    extracted(reading, "doc.md")
    reading.format_edits(FormatOptions(rehash=True, sync=True))
    format_text(source, Hints(dialect), FormatOptions(rehash=True, sync=True))
