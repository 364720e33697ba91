"""Any text as the result of a script in any document: nothing else changes, and the text can be had back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.magi import MagiModel, Script, facts, format_edits
from prosa.dialects.magi.choosing import context_of, state_of
from prosa.dialects.magi.envelope import from_envelope, to_envelope
from prosa.dialects.magi.parts import clean, decode, encode
from prosa.dialects.magi.result_text import escaped, normal_text, owners_of, region_text, unescaped
from prosa.dialects.magi.results import ResultRefused, removal, written
from prosa.dialects.prapti import read as as_chat
from prosa.document import parse
from prosa.rules.suppressions import find_suppressions
from prosa.source import apply_edits
from tests.depth import examples
from tests.dialects.magi.reading import PARENT, model, script
from tests.work import is_linear

PIECES = (
    "```ai-script\n", "````ai-script\n", "~~~ ai-script\n", "```AI-script x\n", "```\n", "````\n", "~~~\n", "```py\n",
    "> ", "- ", "    ", "  ", "1. ", "\t", "\n", "\n\n", "\r\n", "\r", '{"script-id": "a", "prompt": "b"}\n',
    "# One\n", "## Two\n", "### @user:\n", "### //@a/b\n", "---\n", "===\n", "***\n", "title: x\n", "word\n",
    "% a = 1\n", "//% b\n", "%% c\n", "\\", "\\\n", "[^a]", "[^a]: ", "[^zz]: ", "[^zz]", f"`{PARENT}`", PARENT,
    "[l]: /x\n", "[l]", "[new]: y 'z'\n", "[new]", "[[w|", "]]", "](", ")", "<!--", "-->", "<!-- f -->\n",
    "<!-- prosa-ignore-file -->", "<!-- AI-PROCESSOR: x -->\n",
    '<!-- ai-result {"script-id": "a", "sha256": "b"} -->\n',
    "<!-- /ai-result -->\n", "<div>\n", "</div>\n", "<pre>", "<script>", "</script>", "<?", "?>", "<![CDATA[", "<!X",
    ">", "<a id='x'>", "<b ", "`", "``", "|", "a|b\n-|-\n", "&#97;i-script", "&lt;!--",
    "\u2028", "\ufeff", "\ud800", "é", "\0", "\x0b", "\x0c", "\x85",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


def within(first: str, marks: str) -> str:
    """The block in a container."""
    lines = script().rstrip("\n").split("\n")
    return f"{first}{lines[0]}\n" + "".join(f"{marks}{line}\n" for line in lines[1:])


LATER = f"\n\n{script(name='other')}\n# Two\n\n[l]: /y\n\n[^a]: `{PARENT}`\n\n[l] [^a] [new] [^zz]\n"
FRAMES = (
    ("", script(), ""),
    ("# One\n\n", script(), "\n"),
    ("---\n", script(), ""),
    ("---\ntitle: x\n---\n", script() + script(), ""),
    ("", within("- ", "  "), ""),
    ("- x\n\n", within("  ", "  "), "- y\n"),
    ("", within("> ", "> "), ""),
    ("", within("> - ", ">   "), ""),
    ("", within("1. > ", "   > "), "\n"),
    ("", script(), LATER),
    ("", script(), "\n" + script() + LATER),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    before, block, after = draw(st.sampled_from(FRAMES))
    text = f"{draw(TEXTS)}\n\n{before}" if draw(st.booleans()) else before
    text += block + draw(TEXTS) + after
    line_end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    return text.replace("\r\n", "\n").replace("\n", line_end)


def meaning(read: MagiModel) -> list[object]:
    """What acts in a document, or would for another reader of it."""
    document = read.document
    return [
        read.front.value,
        [(each.data, each.fence.containers) for each in read.scripts],
        [(each.label, each.data, len(each.referenced_at)) for each in read.relationships],
        len(read.stray_markers),
        sorted(each.label for each in document.footnote_definitions),
        sum(each.language == "ai-script" for each in document.fences),
        *in_chat(read),
        [each.names and each.names[0][0] for each in find_suppressions(read.front, document)],
        len(document.comments) - 2 * len(read.regions),
    ]


def in_chat(read: MagiModel) -> tuple[object, ...]:
    """What acts in the document where it is read as a chat, `--as prapti`."""
    found = as_chat(read.front, parse(read.front.source, body=read.front.body))[0]
    return (
        [(each.role, each.name, each.disabled) for each in found.messages],
        [line.raw for each in found.messages for line in each.config],
        [read.front.source.slice(span) for each in found.messages for span in each.unread],
    )


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("result", ["1. ```\n\t% x", "- ~~~\n\t%% n = 2", "```\n% x\n```", "1. ```\n\t### @user:"])
def test_x19_a_result_in_a_list_or_quotation_sets_nothing_in_a_chat(result: str, frame: tuple[str, str, str]):
    """X19, P9. Marks in front of a line move its tabs, and code with them."""
    read = model("".join(frame))
    try:
        edits = written(read, read.scripts[0], result, model_name="small", context="document")
    except ResultRefused:
        return
    after = model(apply_edits("".join(frame), edits))
    assert in_chat(after) == in_chat(read)
    assert region_text(after, after.regions[0]) == normal_text(result)


def again(read: MagiModel, script: Script) -> Script:
    """A script in a later reading."""
    return next(each for each in read.scripts if each.line == script.line)


@settings(max_examples=examples(200), deadline=None)
@given(documents(), TEXTS, TEXTS, st.sampled_from(["markdown", "text", "json", "image-url"]), st.integers(0, 3))
def test_x19_what_is_written_is_data(text: str, result: str, second: str, form: str, number: int):
    """X19, MA3. Scripts, relationships, regions, notes, comments and message headings are what they were;
    the rest stays byte for byte; the result can be had back, replaced, and written again without any change."""
    read = model(text)
    scripts = [each for each in read.scripts if each.script_id and owners_of(read).region_of(each) is None]
    if not scripts:
        return
    script = scripts[number % len(scripts)]
    try:
        edits = written(read, script, result, model_name="small", context="document", form=form)
    except ResultRefused:
        assert read.stray_markers or not script.fence.closed or "footnote" in script.fence.containers
        return
    (edit,) = edits
    assert not edit.span
    once = apply_edits(text, edits)
    after = model(once)
    then = again(after, script)
    region = owners_of(after).region_of(then)
    assert region is not None
    assert meaning(after) == meaning(read)
    assert len(after.regions) == len(read.regions) + 1
    assert region_text(after, region) == normal_text(result)
    assert state_of(after, then) == "fresh"
    assert written(after, then, result, model_name="small", context="document", form=form) == ()
    twice = apply_edits(once, written(after, then, second, model_name="small", context="document"))
    other = model(twice)
    assert meaning(other) == meaning(read)
    back = written(other, again(other, script), result, model_name="small", context="document", form=form)
    assert apply_edits(twice, back) == once


@settings(max_examples=examples(100), deadline=None)
@given(documents(), TEXTS)
def test_x19_mw5_a_document_with_a_result_is_taken_apart_and_put_together(text: str, result: str):
    """X19, MW5, MA11. Results stay in the text for people, and are never context."""
    read = model(text)
    try:
        edits = written(read, read.scripts[0], f"zz {result}", model_name="small", context="document")
    except (ResultRefused, IndexError):
        return
    text = apply_edits(text, edits)
    read = model(text)
    assert clean(read).restored == text[read.front.body.start :]
    assert from_envelope(to_envelope(text)) == text
    assert encode(decode(text)) == text
    region = next(each for each in read.regions if each.span.start >= edits[0].span.start)
    assert region_text(read, region) == normal_text(f"zz {result}")
    formatted = apply_edits(text, format_edits(read, FormatOptions()))
    assert [region_text(model(formatted), each) for each in model(formatted).regions] == [
        region_text(read, each) for each in read.regions
    ]
    assert "zz " not in context_of(read, read.scripts[0], "document").replace("[^zz]", "")


@settings(max_examples=examples(100), deadline=None)
@given(documents(), TEXTS)
def test_x19_a_result_that_is_removed_leaves_no_trace_but_blank_lines(text: str, result: str):
    """X19."""
    read = model(text)
    try:
        edits = written(read, read.scripts[0], result, model_name="small", context="document")
    except (ResultRefused, IndexError):
        return
    after = model(apply_edits(text, edits))
    region = next(each for each in after.regions if each.span.start >= edits[0].span.start)
    left = apply_edits(after.source.text, [removal(after, region)])
    assert "".join(left.replace(">", "").split()) == "".join(text.replace(">", "").split())


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS, st.integers(0, 6), st.booleans())
def test_x19_escapes_are_undone(text: str, level: int, strict: bool):
    """X19."""
    text = normal_text(text)
    made = escaped(text, level=level, strict=strict)
    if made is not None:
        assert unescaped(made.text, made.places, closed=made.closed) == text


FIELDS = st.dictionaries(
    st.sampled_from(["written", "model", "context", "form", "escaped", "closed"]),
    st.none() | st.booleans() | st.integers(-2, 2**70) | st.lists(st.integers(-1, 9) | st.booleans(), max_size=4)
    | st.sampled_from(["", "fenced", "image", "plain", "none", "section", "x"]),
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(FIELDS, TEXTS, st.sampled_from(["", "> ", "- "]))
def test_x19_any_marker_and_any_text_behind_it_is_read(fields: dict[str, object], text: str, mark: str):
    """X19. What a marker says is not believed: every text has a state and can be had back in some form."""
    about = json.dumps({"script-id": "sum", "sha256": "00"} | fields)
    read = model(f"{script()}\n{mark}<!-- ai-result {about} -->\n\n{text}\n\n{mark}<!-- /ai-result -->\n")
    for region in read.regions:
        assert len(region_text(read, region)) <= len(region.content)
    assert [each["state"] for each in facts(read)["regions"][:1]] in ([], ["edited"])


HOSTILE = {
    "comments": "<!-- a -->\n\n",
    "open comments": "<!-- ",
    "fences": "```ai-script\n{}\n```\n",
    "open fences": "```ai-script\n",
    "notes": "[^a]: b\n",
    "definitions": "[a]: b\n",
    "headings": "# a\n\n",
    "configuration": "% a\n",
    "ticks": "`",
    "quotes": "> ",
    "brackets": "[^",
    "hyphens": "---\n",
    "text": "A few words in a line.\n",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_x19_work_is_linear_in_the_result(kind: str):
    """X19."""
    read = model(f"# One\n\n{script()}\n[a]\n")

    def work(size: int) -> None:
        result = HOSTILE[kind] * (size // len(HOSTILE[kind]))
        written(read, read.scripts[0], result, model_name="small", context="document")

    assert is_linear(work, 4_000, 64_000)
