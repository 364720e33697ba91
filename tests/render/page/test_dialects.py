"""Each dialect as an article: what its writers hide from people stays hidden, what they mean is shown."""

from __future__ import annotations

import json

import pytest

from prosa.render.page.model import Frame, Page
from prosa.render.page.node import node_page
from prosa.site.layout import Neighbourhood, NodeView
from tests.render.page.elements import Tree, tree
from tests.render.page.sample import FRAME, embed, link, seen

READY = Frame("Ferries", prefix="/docs", can_run=True, signed_in=True, csrf="token-of-forms")
HINT = "<!-- AI-PROCESSOR: the block below is for machines -->"
BUTTON = {
    "script-id": "duties",
    "prompt": "HIDDEN",
    "interactive-type": "button",
    "interactive-label": "List the duties",
}
BOX = {
    "script-id": "ask",
    "prompt": "HIDDEN",
    "interactive-type": "inputbox",
    "interactive-label": "Ask",
    "interactive-placeholder": "When is the lamp lit?",
}


def _magi(*scripts: dict[str, object]) -> str:
    blocks = "\n\nBetween.\n\n".join(f"{HINT}\n```ai-script\n{json.dumps(each)}\n```" for each in scripts)
    related = '`{"rel-type": "related", "doc-id": "x", "rel-desc": "RELATED"}`'
    return (
        f"---\ndoc-id: d1\n---\n# Lamp\n\nLit[^r] at dusk[^n].\n\n{blocks}\n\nEnd.\n\n[^r]: {related}\n[^n]: A note.\n"
    )


def _forms(page: Tree) -> list[str]:
    return [each["action"] for each in page.all("form", class_="script")]


def test_m42_scripts_and_relationships_are_not_shown():
    """M42. Neither the blocks nor their hints, and no trace of a relationship where it was referred to."""
    page = seen(_magi({"script-id": "a", "prompt": "HIDDEN"}), "magi")
    article = page.one("article").text
    assert "HIDDEN" not in page.seen
    assert "AI-PROCESSOR" not in page.seen
    assert "RELATED" not in article
    assert "Lit at dusk1." in article
    assert "A note." in page.one("section", class_="notes").text


def test_m42_a_block_that_is_no_json_is_not_shown_either():
    """M42."""
    page = seen("---\ndoc-id: d\n---\ntext\n\n```ai-script\n{HIDDEN\n```\n\n> ```ai-script\n> {HIDDEN\n> ```\n", "magi")
    assert "HIDDEN" not in page.seen


def test_m37_m38_a_button_stands_where_its_block_stood():
    """M37, M38."""
    page = seen(_magi(BUTTON, BOX), "magi", frame=READY)
    text = page.one("article").text
    assert (
        text.index("at dusk")
        < text.index("List the duties")
        < text.index("Between.")
        < text.index("Ask")
        < text.index("End.")
    )
    assert _forms(page) == ["/docs/mdh/scripts/doc"] * 2
    assert "HIDDEN" not in page.seen


def test_m37_m39_an_inputbox_has_a_field_and_a_button():
    """M37, M39."""
    page = seen(_magi(BOX), "magi", frame=READY)
    assert page.one("input", name="text")["placeholder"] == "When is the lamp lit?"
    assert page.one("input", name="script")["value"] == "ask"
    csrf = [each["value"] for each in page.all("input", name="csrf") if "article" in each.inside]
    assert csrf == ["token-of-forms"]
    assert [each.text for each in page.all("button", type="submit")] == ["Ask"]


def test_ma15_nothing_is_interactive_in_a_block_that_runs_by_itself():
    """MA15."""
    page = seen(_magi(BUTTON | {"auto-run": True}), "magi", frame=READY)
    assert _forms(page) == []
    assert "List the duties" not in page.seen


def test_a_kind_that_nobody_knows_is_nothing_to_press():
    page = seen(_magi(BUTTON | {"interactive-type": "slider"}), "magi", frame=READY)
    assert not [each for each in page.all("button") if "article" in each.inside]


def test_m38_a_label_that_is_missing_has_a_plain_word():
    """M38."""
    page = seen(_magi({"script-id": "a", "prompt": "p", "interactive-type": "button"}), "magi", frame=READY)
    assert [each.text for each in page.all("button", type="submit")] == ["Run"]


def test_what_may_not_run_says_why():
    off = seen(_magi(BUTTON), "magi")
    assert "disabled" in off.one("button").attributes
    assert "--allow-run" in off.one("article").text
    assert _forms(off) == []
    out = seen(_magi(BUTTON), "magi", frame=Frame("F", prefix="/docs", can_run=True))
    links = [each for each in out.all("a") if "article" in each.inside and each["href"].startswith("/docs/mdh/")]
    assert [(each["href"], each.text) for each in links] == [("/docs/mdh/sign-in?back=%2Fdocs%2Fdoc", "Sign in")]
    assert _forms(out) == []


def test_a_script_inside_a_list_stands_behind_it():
    text = f"---\ndoc-id: d\n---\n- one\n\n  ```ai-script\n  {json.dumps(BUTTON)}\n  ```\n- two\n\nEnd.\n"
    article = seen(text, "magi", frame=READY).one("article").text
    assert article.index("two") < article.index("List the duties") < article.index("End.")


def test_results_of_scripts_are_shown():
    text = "---\ndoc-id: d\n---\n<!-- prosa:result a -->\n\nA result.\n\n<!-- /prosa:result -->\n"
    assert "A result." in seen(text, "magi").one("article").text


CHAT = """# A talk

% prapti.model = "SETTING"

### @system:

You know the sea.

### @user/Ada:

When?[^1]

[^1]: One.

### @assistant:

## Soon

At four.[^1]

[^1]: Two.

### // @user:

Not any more.

### @_note:

Nobody hears this.
"""


def test_a_chat_sets_its_messages_apart():
    page = seen(CHAT, "prapti", title="A talk")
    assert [each.text.removesuffix(" #").strip() for each in page.all("h2", class_="who")] == [
        "system",
        "user · Ada",
        "assistant",
    ]
    assert len(page.all("section", class_="model")) == 1
    assert [each.text.split("#")[0].strip() for each in page.all("h1")] == ["A talk"]


def test_a_chat_shows_no_configuration_lines():
    assert "SETTING" not in seen(CHAT, "prapti").one("article").text


def test_what_is_not_sent_is_folded_away():
    page = seen(CHAT, "prapti")
    folded = page.all("details", class_="unsent")
    assert [each.text.split()[:2] for each in folded] == [["user", "disabled"], ["note", "hidden"]]
    assert all("open" not in each.attributes for each in folded)


def test_footnotes_of_messages_keep_to_themselves():
    page = seen(CHAT, "prapti")
    ids = [each["id"] for each in page.elements if each.get("id")]
    assert len(ids) == len(set(ids))
    assert {each["href"][1:] for each in page.all("a", class_="back")} <= set(ids)
    assert "soon" in ids


def test_a_program_shows_what_goes_in_and_comes_out():
    text = (
        "---\nname: tides\ndescription: Tells the tides.\ninput:\n  type: object\n  required: [day]\n  properties:\n"
        "    day: {type: string, description: The day}\n    unit: {enum: [metres, feet], default: metres}\n"
        "output: {type: object, properties: {text: {type: string}}}\n---\n# Not a heading\n\nTides of {{ .day }}.\n"
    )
    page = seen(text, "markdownlang", title="tides")
    assert page.one("p", class_="lead").text == "Tells the tides."
    assert [each.text for each in page.all("h2") if "article" in each.inside] == ["Input", "Output"]
    rows = [each.text.strip() for each in page.all("th", scope="row")]
    assert rows == ["day required", "unit", "text"]
    assert "# Not a heading\n\nTides of {{ .day }}." in page.one("article").text
    assert len(page.all("h1")) == 1


def test_a_record_has_its_footer_in_a_panel():
    text = '---\nymj_spec: 1.0.0\n---\nBody.\n\n```json\n{"schema": "1.0.0", "index": {"tags": ["fog"]}}\n```\n'
    page = seen(text, "ymj")
    (panel,) = page.all("details", class_="source")
    assert '"fog"' in panel.text
    assert page.one("article").text.count('"schema"') == 1


@pytest.mark.parametrize("dialect", ["plain", "mdh", "skill_md"])
def test_other_dialects_are_their_body(dialect):
    page = seen("---\nid: a\ntype: page\ntitle: T\nname: n\n---\nThe *body*.\n", dialect)
    assert "The body." in page.one("article").text


def test_a_listing_is_its_links():
    node = NodeView(
        "", "/notes/", "listing", "notes", "listing", "Notes", "", b"", "\n- [Fog](/fog)\n- [Lamp](/lamp)\n", {}
    )
    page = tree(node_page(Page(FRAME, node, link, embed, Neighbourhood())))
    assert page.one("h1").text == "Notes"
    assert [each["href"] for each in page.all("a") if "article" in each.inside] == ["/fog", "/lamp"]
    assert page.one("a", type="text/markdown")["href"] == "/notes/index.md"
