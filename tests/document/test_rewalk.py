"""What is found in a text from an earlier one is what a walk of the whole text finds, wherever it changed."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.document import parse, rewalk
from prosa.document.rewalk import RecentWalks
from prosa.document.walk import WalkResult, encodable, moved_pieces, walk
from prosa.rules.analyse import local_links
from prosa.source import SourceText
from tests.depth import examples
from tests.document.markdown import PIECES, block

PART = st.lists(st.sampled_from((*PIECES, "\n\n# h\n", "\n## [k] [^1]\n", "\n\n", "\n- a\n\n  b\n")), max_size=12).map(
    "".join
)
SECTION = st.builds("{} {}\n".format, st.sampled_from(["# a\n", "### b c\n", "##\td\n", ""]), PART)
TEXT = st.lists(SECTION, min_size=1, max_size=8).map("".join)
NEW = st.one_of(PART, st.sampled_from(["", "x", "\n", "```\n", "#", "<!--", "-->", "|"]))
CHANGE = st.tuples(st.integers(0, 400), st.sampled_from([0, 0, 1, 5, 60]), NEW)


def placed(found: WalkResult | None) -> WalkResult | None:
    """Return the same with the pieces of each heading, and the paragraphs, where they are."""
    if found is None:
        return None
    headings = [replace(each, pieces=moved_pieces(each.pieces, each.moved), moved=0) for each in found.headings]
    paragraphs = [*found.paragraphs]
    assert [found.paragraphs[at] for at in range(-len(paragraphs), len(paragraphs))] == paragraphs * 2
    return replace(found, headings=headings, paragraphs=paragraphs)


@settings(max_examples=examples(3000, share=30), deadline=None)
@given(text=TEXT, changes=st.lists(CHANGE, min_size=1, max_size=8))
@example("# a\n\nx\n# b\n", [(5, 0, "```\n")])
@example("# a\n\n- x\n\n# b\n\n[k]\n\n# c\n[k]: /u\n", [(6, 0, "y"), (17, 0, "[^1] [k][] "), (24, 9, "[l]")])
@example("# a\n[^1]\n# b\n# c\n[^1]: x\n", [(4, 0, "[^2]"), (14, 0, "[^1] "), (14, 2, "[^1]: ")])
@example("# a\n[^1]\n# b\n[^1]: x\n\n[k]: y\n", [(13, 2, "[k]"), (13, 3, "[^1]:")])
@example("# a\n[^1]: x\n# b\n[^1]: y\n\n# c\n[^1]\n", [(24, 0, "z"), (11, 0, "z")])
def test_x1_a_changed_text_is_found_to_be_what_a_walk_of_all_of_it_finds(
    text: str, changes: list[tuple[int, int, str]]
):
    before, found = encodable(text), walk(encodable(text))
    for start, length, new in changes:
        changed = encodable(before[:start] + new + before[start + length :])
        again = rewalk.rewalk(changed.encode(), before.encode(), found)
        before, whole = changed, walk(changed)
        assert placed(again) in (None, whole)
        found = again or whole  # the next change is of what was joined


LINKED = st.sampled_from(
    ["[a](b.md) ", "![é](ü/c%20.png)", "[x]({{y}}.md)", "[a](<b c.md#d>)\n", "{/* [a](c) */}", "$a$ "]
)
LINKED_TEXT = st.lists(st.one_of(SECTION, LINKED), min_size=1, max_size=12).map("".join)
LINKED_CHANGE = st.tuples(st.integers(0, 400), st.integers(0, 9), st.one_of(NEW, LINKED, st.sampled_from("éxü€$")))


@settings(max_examples=examples(1500, share=30), deadline=None)
@given(text=LINKED_TEXT, changes=st.lists(LINKED_CHANGE, min_size=1, max_size=6))
@example("# a\n[b](c)\n# d\nxxxxxxxxxxxx\n# e\n[f](g)\n", [(25, 2, "é")])
@example("# a\n[b](c)\n# d\nxx\n# e\n[f](g)\n", [(15, 1, "é"), (16, 0, "y")])
@example("# a\n[b](c)\n# d\nxx\n# e\n[f](g)\n", [(15, 0, "[h](i)"), (15, 6, ""), (0, 0, "# d\n"), (0, 0, "$$ $$")])
def test_x1_the_links_of_a_changed_text_are_those_of_all_of_it(text: str, changes: list[tuple[int, int, str]]):
    recent = RecentWalks(0)
    for start, length, new in [(0, 0, ""), *changes]:
        text = text[:start] + new + text[start + length :]
        with recent.used():
            found = local_links(parse(SourceText(text)))
        assert found == local_links(parse(SourceText(text)))


@given(st.lists(block(), min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=examples(300), deadline=None)
def test_x1_a_section_of_whole_blocks_is_parsed_alone(blocks: list[list[str]], number: int):
    texts = ["\n".join([f"# {at}", "", *lines, "", ""]) for at, lines in enumerate(blocks)]
    before = "".join(texts)
    at = number % len(texts)
    text = "".join([*texts[:at], f"# {at}\n\n[x](y.md)\n\n" + texts[at], *texts[at + 1 :]])
    again = rewalk.rewalk(text.encode(), before.encode(), walk(before))
    assert placed(again) in (None, walk(text))
    assert again is not None or "]:" in text or "<!--" in text


def test_x1_the_paragraphs_of_a_text_that_is_changed_in_many_places_are_put_together():
    text = "".join(f"# h{at}\n\none\n\n> two\n\n" for at in range(40))
    found, most = walk(text), 0
    for at in range(0, 40, 3):
        changed = text.replace(f"h{at}\n\none", f"h{at}\n\nx\n\none")
        again = rewalk.rewalk(changed.encode(), text.encode(), found)
        assert placed(again) == walk(changed)
        most = max(most, len(again.paragraphs.parts))
        text, found = changed, again
    assert most == rewalk.MAX_PARTS


def test_x1_a_section_with_the_same_footnotes_is_parsed_alone():
    """Unless another section has a footnote of that label too: the first one of a text counts."""
    text = "# a\n\nx[^1]\n\n# b\n\ny[^2] z\n\n[^1]: one\n\n# c\n\n[^2]: two\n"
    for new, alone in (
        (text.replace(" z", " [z](z)"), True),
        (text.replace("one", "*one*"), True),
        (text.replace("[^1]:", "[^3]:"), False),
        (text.replace("[^1]:", "[^2]:"), False),
        (text.replace(" z\n", "\n```\n"), False),
        (text.replace("[^1]:", "[k]:"), False),
    ):
        again = rewalk.rewalk(new.encode(), text.encode(), walk(text))
        assert (placed(again) == walk(new)) if alone else again is None


def test_x1_what_is_typed_into_a_long_text_is_parsed_and_nothing_else(monkeypatch):
    text = "".join(f"## Part {at}\n\nMore of [this](p{at}.md) and `that`.\n\n> - é\n\n" for at in range(200))
    read: list[int] = []
    monkeypatch.setattr(rewalk, "walk", lambda text, **options: read.append(len(text)) or walk(text, **options))
    recent = RecentWalks()
    with recent.used():
        first = parse(SourceText(text))
        again = parse(SourceText(text))
        second = parse(SourceText(text.replace("Part 99", "Part *99*")))
    assert [len(text), 2] == [read[0], len(read)]
    assert read[1] < 100
    assert first.parsed.found is again.parsed.found
    assert second.links == parse(SourceText(second.source.text)).links
