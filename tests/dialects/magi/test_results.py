"""Results of ai-scripts written into a document: where they stand, that they act on nothing, and that they age."""

from __future__ import annotations

import json

import pytest

from prosa.dialects.magi import facts
from prosa.dialects.magi.choosing import script_hash, state_of
from prosa.dialects.magi.regions import About, marker
from prosa.dialects.magi.result_text import owners_of, region_text
from prosa.dialects.magi.results import ResultRefused, removal, written
from prosa.source import apply_edits
from tests.dialects.magi.reading import PARENT, front, model, names, script

DOC = f"# Hours\n\nOpen from nine to five.\n\n{script()}\nMore.\n"
HASH = '<!-- ai-result {"script-id": "sum", "sha256": "'


def put(text: str, result: str, at: int = 0, **options: object) -> str:
    """The document with the result of its script number ``at``."""
    read = model(text)
    given = {"model_name": "small", "context": "document"} | options
    return apply_edits(text, written(read, read.scripts[at], result, **given))


def kept(text: str, at: int = 0) -> str:
    """The result of a script as it can be had back."""
    read = model(text)
    region = owners_of(read).region_of(read.scripts[at])
    assert region is not None
    return region_text(read, region)


def state(text: str, at: int = 0) -> str:
    read = model(text)
    return state_of(read, read.scripts[at])


def shown(text: str) -> str:
    """A document with the marker of its result cut short."""
    before, found, after = text.partition("<!-- ai-result {")
    return before + "<!-- ai-result {…" + after[after.index("} -->") :] if found else text


def test_x19_a_result_stands_below_its_block():
    """X19. Everything else stays byte for byte."""
    result = "# Short\n\n- nine to five\n"
    text = put(DOC, result)
    assert shown(text) == (
        f"# Hours\n\nOpen from nine to five.\n\n{script()}\n"
        "<!-- ai-result {…} -->\n\n\\# Short\n\n- nine to five\n\n<!-- /ai-result -->\n\nMore.\n"
    )
    assert kept(text) == "# Short\n\n- nine to five"
    assert state(DOC) == "absent"
    assert state(text) == "fresh"
    assert names(text) == []


def test_x19_the_marker_says_how_the_result_was_made():
    """X19. Script, hash of what produced it, hash of what was written, model, context mode."""
    read = model(put(DOC, "Nine to five.", context="section"))
    (region,) = read.regions
    line = region.opening.of(read.source.text)
    about = json.loads(line.removeprefix("<!-- ai-result ").removesuffix(" -->"))
    assert list(about) == ["script-id", "sha256", "written", "model", "context"]
    assert about["sha256"] == script_hash(read, read.scripts[0], "section", "small")
    assert (about["script-id"], about["model"], about["context"]) == ("sum", "small", "section")
    assert facts(read)["regions"] == [
        {
            "script-id": "sum",
            "line": 12,
            "end_line": 16,
            "state": "fresh",
            "model": "small",
            "answered_by": None,
            "cut": False,
            "context": "section",
        }
    ]


def test_la28_the_marker_says_who_answered_and_that_the_answer_was_cut_off():
    """LA28. No text of a service ends the marker."""
    odd = "-->\u2028<!-- x --"
    source = model(DOC)
    text = apply_edits(
        source.source.text,
        written(source, source.scripts[0], "Nine", model_name="small", context="section", answered_by=odd, cut=True),
    )
    (region,) = model(text).regions
    assert (region.about.model_name, region.about.answered_by, region.about.cut) == ("small", odd, True)
    assert state(text) == "fresh"


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_x19_line_ends_are_those_of_the_document(line_end: str):
    """X19."""
    text = put(DOC.replace("\n", line_end), "One\r\ntwo\rthree\n")
    assert text.replace(line_end, "\n").count("\r") == 0
    assert f"{line_end}One{line_end}two{line_end}three{line_end}" in text
    assert kept(text) == "One\ntwo\nthree"


@pytest.mark.parametrize(
    ("end", "after"),
    [
        ("", "\n\n{region}\n"),
        ("\n", "\n\n{region}\n"),
        ("\nText.\n", "\n\n{region}\n\nText.\n"),
        ("\n\nText.\n", "\n\n{region}\n\nText.\n"),
        ("\n\n\n", "\n\n{region}\n\n\n"),
    ],
)
def test_x19_blank_lines_keep_a_result_apart(end: str, after: str):
    """X19."""
    block = script().rstrip("\n")
    region = "<!-- ai-result {…} -->\n\nA\n\n<!-- /ai-result -->"
    assert shown(put(block + end, "A")) == block + after.format(region="REGION").replace("REGION", region)


def quoted(text: str, marks: str, first: str | None = None) -> str:
    """Lines with the marks of a container in front."""
    lines = text.rstrip("\n").split("\n")
    starts = [marks if first is None else first, *[marks] * (len(lines) - 1)]
    return "".join(f"{start}{line}".rstrip() + "\n" for start, line in zip(starts, lines, strict=True))


@pytest.mark.parametrize(
    ("first", "marks"),
    [("> ", "> "), ("- ", "  "), ("1. ", "   "), ("> - ", ">   "), ("- > ", "  > "), ("> > ", "> > "), ("-\t", " \t")],
)
def test_x19_ma3_a_result_stands_in_the_containers_of_its_block(first: str, marks: str):
    """X19, MA3. Every line repeats the marks, and the containers go on behind it."""
    block = quoted(script(), marks, first)
    result = "One\n\n- a\n  - b\n\n```py\nx\n\ny\n```\n\n    code"
    text = put(f"Text.\n\n{block}{marks}After.\n", result)
    region = f"<!-- ai-result {{…}} -->\n\n{result}\n\n<!-- /ai-result -->\n"
    assert shown(text) == f"Text.\n\n{block}{marks.rstrip()}\n{quoted(region, marks)}{marks}After.\n"
    assert kept(text) == result
    read = model(text)
    assert len(read.document.quotes) == first.count(">")
    assert put(text, result) == text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"[^n]: Note.\n\n{quoted(script(), '    ')}", "footnote"),
        ('```ai-script\n{"prompt": "b"}\n```\n', "script-id"),
        ('```ai-script\n{"script-id": "a", "prompt": "b"}\n', "close its fence"),
        (f'<!-- ai-result {{"script-id": "x", "sha256": "y"}} -->\n\n{script()}', "marker of a result"),
    ],
)
def test_x19_what_cannot_be_written_safely_is_refused(text: str, words: str):
    """X19. The words say why."""
    read = model(text)
    with pytest.raises(ResultRefused, match=words) as refused:
        written(read, read.scripts[0], "A", model_name="small", context="document")
    assert not refused.value.edited


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("Plain *text*, `code`, [a](/b) and <b>tags</b>.", None),
        ("### Under the section\n\n> quoted\n\n| a |\n|---|\n| b |", None),
        ("```py\n# no heading\n% no configuration\n<!-- no comment -->\n```", None),
        ("<details>\n<summary>A</summary>\n\nB\n\n</details>", None),
        ("\\# was escaped already \\<!-- x -->", None),
        ("See [one][1].\n\n[1]: https://example.org", None),
        ("# Title", "\\# Title"),
        ("Title\n===\n\nText", "Title\n\\===\n\nText"),
        ("### @user: hello", "\\### @user: hello"),
        ("% model = 1\n> //% x", "\\% model = 1\n> //\\% x"),
        ("A <!-- prosa-ignore-file --> b", "A \\<!-- prosa-ignore-file --> b"),
        ("<!-- /ai-result -->\n\nB", "\\<!-- /ai-result -->\n\nB"),
        ("<!--\n<!-- /ai-result -->", "\\<!--\n\\<!-- /ai-result -->"),
        ("<div>\n<!-- a -->\n</div>", "\\<div>\n\\<!-- a -->\n</div>"),
        ("<pre>\nnever closed", "\\<pre>\nnever closed"),
        ("A[^1].\n\n[^1]: Note.", "A[^1].\n\n\\[^1]: Note."),
        ("> [^a]: `{}`", "> \\[^a]: `{}`"),
        ("```ai-script\n{}\n```\n\n```py\nx", "```\\ai-script\n{}\n```\n\n```py\nx\n```"),
        ("~~~  &#97;i-script\n{}\n~~~", "~~~  \\&#97;i-script\n{}\n~~~"),
        ("- ```\n  open in a list", None),
        ("~~~~\nopen", "~~~~\nopen\n~~~~"),
    ],
)
def test_x19_only_what_counts_is_escaped(result: str, text: str | None):
    """X19. Markdown stays as readable as it was; what is written below says the rest."""
    document = put(DOC, result)
    assert document.partition("} -->\n\n")[2].partition("\n\n<!-- /ai-result -->\n\nMore.\n")[0] == (text or result)
    assert kept(document) == result
    assert names(document) == []


def test_x19_headings_below_the_section_stay_and_others_do_not():
    """X19, MA11. A result ends no section of the author's and takes no fragment from his headings."""
    text = f"# A\n\n## B\n\n{script()}\n## C\n"
    assert "\n\n### X\n\n\\## Y\n" in put(text, "### X\n\n## Y")
    assert "\n\n\\### C\n" in put(text, "### C")
    assert "\n\n\\# X\n\n## Y\n" in put(f"{script()}\nText.\n", "# X\n\n## Y")
    assert "\n\n\\# X\n\n## Y\n" in put(f"---\ntitle: T\n---\n{script()}\nText.\n", "# X\n\n## Y")


def test_x19_definitions_that_links_elsewhere_would_follow_are_escaped():
    """X19."""
    for beside in ("[one] is no link.\n", "[one]: /here\n\n[one]\n"):
        text = put(f"{script()}\n{beside}", "[one]\n\n[one]: /there")
        assert "\\[one]: /there" in text
        assert kept(text) == "[one]\n\n[one]: /there"


def test_x19_json_stands_in_a_fence_and_an_image_is_shown():
    """X19."""
    value = '{\n  "a": "```"\n}'
    text = put(DOC, value, form="json")
    assert f"\n\n````json\n{value}\n````\n\n" in text
    assert kept(text) == value
    address = "https://example.org/a.png?x=1&y=(2)"
    text = put(DOC, address, form="image-url")
    assert f"\n\n![result]({address})\n\n" in text
    assert kept(text) == address
    odd = "https://example.org/&copy;"
    assert "\n```text\n" in put(DOC, odd, form="image-url")
    assert kept(put(DOC, odd, form="image-url")) == odd


def test_x19_front_matter_that_never_ended_is_not_ended_by_a_result():
    """X19."""
    text = f"---\ntitle: x\n\n{script()}"
    for result, form in (("a\n\n---\n\nb", "markdown"), ("a\n---\nb", "json"), ("```\n---\n```", "text")):
        after = put(text, result, form=form)
        assert model(after).front.value == model(text).front.value
        assert kept(after) == result


def test_x19_ma9_blocks_of_one_id_have_their_own_results():
    """X19, MA9."""
    text = put(put(script() + "\nText.\n\n" + script(), "First."), "Second.", 1)
    assert (kept(text), kept(text, 1)) == ("First.", "Second.")
    text = put(text, "Other.", 1)
    assert (kept(text), kept(text, 1)) == ("First.", "Other.")
    read = model(text)
    assert [state_of(read, each) for each in read.scripts] == ["fresh", "fresh"]


def test_x19_a_result_that_was_moved_stays_where_it_is():
    """X19."""
    text = put(script() + "\nText.\n", "A")
    region = text[text.index("<!--") : text.index("Text")]
    moved = f"{region}{script()}\nText.\n"
    assert state(moved) == "fresh"
    assert shown(put(moved, "B")) == shown(moved).replace("\nA\n", "\nB\n")


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        ("Summarise.", "Explain.", "stale"),
        ("nine to five.\n\n```", "ten to four.\n\n```", "stale"),
        ("# Hours", "# Times", "stale"),
        ("More.", "Less.", "stale"),
        ('"Summarise."', '"Summarise.", "model-name": "large"', "stale"),
        ('"Summarise."', '"Summarise.", "model-name": "small"', "fresh"),
        ('"Summarise."', '"Summarise.", "system-prompt": "Be brief."', "stale"),
        ('"Summarise."', '"Summarise.", "provider": "openai"', "stale"),
        ('"Summarise."', '"Summarise.", "parameters": {"temperature": 0}', "stale"),
        ('"Summarise."', '"Summarise.", "output-format": "text"', "stale"),
        ('"Summarise."', '"Summarise.", "output-schema": {"type": "string"}', "stale"),
        ('"Summarise."', '"Summarise.", "priority": "high", "auto-run": true, "retry-times": 2', "fresh"),
        ("Short.", "Shorter.", "edited"),
        ("Short.", "Short.  ", "fresh"),
        ("\n\nMore.", "\n\n\n\nMore.", "fresh"),
        ("\n", "\r\n", "fresh"),
        ('"written"', '"other"', "edited"),
        ("More.", "<!-- a comment -->\n\nMore.", "fresh"),
        ("More.\n", f"More.\n\n{script(name='b')}", "fresh"),
    ],
)
def test_x19_a_result_ages_with_what_produced_it(old: str, new: str, after: str):
    """X19. Prompt, context, model, parameters and form of output; never other results, scripts and comments."""
    text = put(DOC, "Short.")
    assert text.count(old) >= 1
    assert state(text.replace(old, new)) == after


def test_x19_only_the_section_counts_where_only_it_was_sent():
    """X19, MA11."""
    text = put(DOC, "Short.", context="section")
    assert state(text.replace("More.", "Less.")) == "fresh"
    assert state(text.replace("Open", "Closed")) == "stale"
    assert state(put(DOC, "Short.", context="none").replace("Open", "Closed")) == "fresh"


def test_x19_a_model_named_for_one_run_ages_nothing():
    """X19. The recorded model counts where the block names none, so a later check needs no flags to agree."""
    named = DOC.replace('"Summarise."', '"Summarise.", "model-name": "large"')
    one, other = put(named, "A", model_name="large"), put(named, "A", model_name="local:tiny")
    assert state(one) == state(other) == "fresh"
    assert model(one).regions[0].sha256 == model(other).regions[0].sha256
    assert model(other).regions[0].about.model_name == "local:tiny"
    unnamed = put(DOC, "A", model_name="local:tiny")
    assert state(unnamed) == "fresh"
    assert state(unnamed.replace('"Summarise."', '"Summarise.", "model-name": "large"')) == "stale"


def test_x19_a_document_that_changed_during_the_run_gets_a_stale_result():
    """X19. The hash is that of what was sent."""
    before = model(DOC)
    sent = script_hash(before, before.scripts[0], "document", "small")
    assert state(put(DOC, "A", sent=sent)) == "fresh"
    assert state(put(DOC.replace("nine", "ten"), "A", sent=sent)) == "stale"


def test_x19_a_result_edited_by_hand_is_kept_without_force():
    """X19."""
    text = put(DOC, "Short.").replace("Short.", "My own.")
    with pytest.raises(ResultRefused, match="--force") as refused:
        put(text, "Other.")
    assert refused.value.edited
    forced = put(text, "Other.", force=True)
    assert (kept(forced), state(forced)) == ("Other.", "fresh")
    assert forced == put(DOC, "Other.")


def test_x19_writing_the_same_again_changes_nothing():
    """X19."""
    text = put(DOC, "Short.")
    read = model(text)
    assert written(read, read.scripts[0], "Short.\n\n", model_name="small", context="document") == ()
    assert put(text, "Other.") != text
    assert put(put(text, "Other."), "Short.") == text


def test_x19_a_result_refers_to_nothing_for_the_author():
    """X19. Where a relationship is referred to says the author, not a result."""
    text = put(f"See[^a].\n\n{script()}\n[^a]: `{PARENT}`\n", "Also[^a] and[^zz].")
    (relationship,) = model(text).relationships
    assert len(relationship.referenced_at) == 1
    assert names(front("doc-id: 6a5e0e4e-0d5c-4a46-9f5f-3f3b9a1c2d10") + "\n" + text) == []


def test_x19_an_orphan_is_removed_by_an_unsafe_fix():
    """X19. Everything else stays."""
    text = put(DOC, "Short.")
    read = model(text)
    assert apply_edits(text, [removal(read, read.regions[0])]) == DOC
    assert names(text.replace('{\n  "script-id": "sum"', '{\n  "script-id": "new"')) == ["orphan-result"]


def test_x19_an_id_cannot_end_its_marker():
    """X19, M24."""
    odd = 'a--> <!-- /ai-result --> -->"\\'
    line = marker(About(odd, "00"))
    assert line.count("-->") == line.count("<!--") == 1
    text = put(DOC.replace('"sum"', json.dumps(odd)), "Short.")
    assert model(text).regions[0].script_id == odd
    assert state(text) == "fresh"


def test_x19_half_characters_are_written_as_replacements():
    """X19. No file holds them."""
    assert kept(put(DOC, "a\ud800b")) == "a\ufffdb"
