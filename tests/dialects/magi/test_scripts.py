"""ai-script blocks."""

from __future__ import annotations

import json

import pytest

from prosa.dialects.magi import facts
from prosa.dialects.magi.choosing import in_order, rank
from prosa.dialects.magi.fields import SCRIPT
from tests.dialects.magi.reading import formatted, found, model, names, reading, script

COMPLETE = {
    "script-id": "a",
    "prompt": 'Use ``` fences {and} "quotes".',
    "priority": "high",
    "auto-run": False,
    "provider": "openai",
    "model-name": "small",
    "system-prompt": "Be brief.",
    "parameters": {"temperature": 0.5, "max-tokens": 100, "stop": ["a"]},
    "retry-times": 3,
    "runtime-env": "https://example.org/run",
    "output-format": "json",
    "output-schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
    "stream": False,
    "interactive-type": "inputbox",
    "interactive-label": "Go",
    "interactive-placeholder": "Ask",
}


def block(data: object) -> str:
    return f"```ai-script\n{json.dumps(data, indent=2)}\n```\n"


def test_all_sixteen_fields_are_read():
    """M23, M24, M25, M26, M27, M28, M29, M30, M31, M32, M33, M34, M35, M36, M37, M38, M39, MW1.

    Three backticks inside a string do not end the block.
    """
    (each,) = model(block(COMPLETE)).scripts
    assert each.data == COMPLETE
    assert {name: each.fields.value(name) for name in COMPLETE} == COMPLETE
    assert len(SCRIPT) == len(COMPLETE) == 16
    assert (each.script_id, each.auto_run, each.stream, each.output_format) == ("a", False, False, "json")
    assert each.interactive_type == "inputbox"
    assert found(block(COMPLETE)) == []


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("script-id", None, "missing-field"),
        ("script-id", " ", "missing-field"),
        ("script-id", 5, "wrong-type"),
        ("prompt", None, "missing-field"),
        ("prompt", ["a"], "wrong-type"),
        ("priority", 1, "wrong-type"),
        ("auto-run", "yes", "wrong-type"),
        ("provider", {}, "wrong-type"),
        ("model-name", 4, "wrong-type"),
        ("system-prompt", True, "wrong-type"),
        ("parameters", "hot", "wrong-type"),
        ("retry-times", 1.5, "wrong-type"),
        ("retry-times", True, "wrong-type"),
        ("retry-times", -1, "wrong-form"),
        ("runtime-env", [], "wrong-type"),
        ("output-format", 1, "wrong-type"),
        ("output-schema", [], "wrong-type"),
        ("output-schema", {"type": "thing"}, "bad-schema"),
        ("output-schema", {"type": "object", "requierd": ["a"]}, "unknown-schema-keyword"),
        ("stream", 0, "wrong-type"),
        ("interactive-type", 1, "wrong-type"),
        ("interactive-label", 1, "wrong-type"),
        ("interactive-placeholder", 1, "wrong-type"),
        ("promt", "x", "unknown-field"),
    ],
)
def test_a_wrong_field_is_reported_at_its_place(field: str, value: object, rule: str):
    """M24, M25, M26, M27, M28, M29, M30, M31, M32, M33, M34, M35, M36, M37, M38, M39."""
    data = {"script-id": "a", "prompt": "b", field: value}
    wrong = reading(block(data))[1]
    assert [each.rule for each in wrong] == [rule]


def test_m32_a_number_with_a_fraction_is_shown_where_whole_ones_are_wanted():
    (wrong,) = reading(block({"script-id": "a", "prompt": "b", "retry-times": 1.5}))[1]
    assert wrong.message == "`retry-times` must be a whole number, not `1.5`"


def test_m35_a_bad_schema_is_located():
    """M35."""
    assert found(script('"output-schema": {"type": "object", "properties": {"n": {"type": "integr"}}}')) == [
        ("bad-schema", "error", '"integr"')
    ]


def test_an_id_of_the_envelope_is_explained():
    """M24, M41."""
    (each,) = reading('```ai-script\n{"id": "a", "prompt": "b"}\n```\n')[1][:1]
    assert each.rule == "missing-field"
    assert "script-id" in each.notes[0]


def test_m23_m40_only_the_language_of_a_real_fence_makes_a_script():
    """M23, M40, MA2, MA3, MW1, X2b. Neither a comment, nor an example in a longer fence, nor indented code."""
    text = (
        "<!-- AI-PROCESSOR: blocks marked ```ai-script are for programs\n```ai-script\n{}\n```\n-->\n\n"
        "````markdown\n```ai-script\n{}\n```\n````\n\n"
        "Text:\n\n    ```ai-script\n    {}\n    ```\n\n"
        "```json ai-script\n{}\n```\n\n"
    )
    assert model(text).scripts == ()
    assert len(model(text + script()).scripts) == 1
    assert names(text) == []


def test_ma3_blocks_in_lists_and_quotations_count_and_say_so():
    """MA3."""
    text = '> 1. Do:\n>    ~~~ai-script x=1\n>    {"script-id": "a",\n>     "prompt": "b"}\n>    ~~~\n'
    (each,) = model(text).scripts
    assert each.fence.containers == ("quote", "list")
    assert each.data == {"script-id": "a", "prompt": "b"}
    assert each.fields.span("prompt").of(text) == '"b"'
    assert facts(model(text))["scripts"][0]["containers"] == ["quote", "list"]


def test_m40_the_hint_in_front_of_a_block_is_known():
    """M40."""
    text = "<!-- AI-PROCESSOR: for programs -->\n" + script()
    (each,) = model(text).scripts
    assert each.hint is not None
    assert each.hint.of(text) == "<!-- AI-PROCESSOR: for programs -->"
    assert model("<!-- note -->\n" + script()).scripts[0].hint is None
    between = model("<!--\none\nAI-PROCESSOR: two\n-->\n<!-- three -->\n" + script()).scripts[0].hint
    assert between is not None
    assert between.start == 0


LENIENT = """```ai-script
<!-- AI-PROCESSOR: for programs -->
# first
// second
{
  "script-id": "a", /* third
  * fourth */ "prompt": "https://x/y # z /* no */",
  "parameters": {"a": [1, 2,],}, // --> fifth
}
```
"""


def test_ma1_comments_are_read_over_with_a_warning():
    """MA1, M23. Strictly an error at the first of them."""
    (each,) = model(LENIENT).scripts
    assert each.data == {"script-id": "a", "prompt": "https://x/y # z /* no */", "parameters": {"a": [1, 2]}}
    first = "<!-- AI-PROCESSOR: for programs -->"
    assert found(LENIENT) == [("comment-in-script", "warning", first), ("trailing-comma-in-script", "warning", ",")]
    assert [severity for _, severity, _ in found(LENIENT, strict=True)] == ["error", "error"]


def test_ma1_x22_formatting_makes_pure_json_and_keeps_the_words():
    """MA1, X22. The comments stand above the fence, as one comment; nothing else changes."""
    assert formatted(LENIENT) == (
        "<!--\nAI-PROCESSOR: for programs\nfirst\nsecond\nthird\nfourth\n-- > fifth\n-->\n"
        '```ai-script\n{\n  "script-id": "a", "prompt": "https://x/y # z /* no */",\n'
        '  "parameters": {"a": [1, 2]}\n}\n```\n'
    )
    assert names(formatted(LENIENT), strict=True) == []


def test_x22_in_a_quotation_the_comment_is_part_of_it():
    """X22, MA3."""
    text = (
        '> - ```ai-script\r\n>   // one\r\n>   {"script-id": "a", // two\r\n'
        '>    "prompt": "b"}\r\n>   // three\r\n>   ```\r\n'
    )
    assert formatted(text) == (
        "> - <!--\r\n>   one\r\n>   two\r\n>   three\r\n>   -->\r\n"
        '>   ```ai-script\r\n>   {"script-id": "a",\r\n>    "prompt": "b"}\r\n>   ```\r\n'
    )
    assert model(formatted(text)).scripts[0].data == {"script-id": "a", "prompt": "b"}


def test_x22_a_comment_above_the_block_stays_and_the_line_around_a_comment_too():
    """X22."""
    text = 'Text\n```ai-script\n{"script-id": "a", "prompt": /* short */ "b"}\n```\n'
    assert formatted(text) == 'Text\n<!-- short -->\n```ai-script\n{"script-id": "a", "prompt": "b"}\n```\n'


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '"a"', "{} {}", "{'a': 1}", '{"a" 1}', "// only", "{/* open", "nul"]
)
def test_mw2_a_block_that_cannot_be_read_is_reported_and_listed(content: str):
    """MW2, M23."""
    text = f"```ai-script\n{content}\n```\n"
    assert "script-syntax" in names(text)
    (listed,) = facts(model(text))["scripts"]
    assert (listed["script-id"], listed["data"], listed["line"], listed["end_line"]) == (None, None, 1, 3)


def test_ma9_later_blocks_of_one_id_have_an_address_of_their_own():
    """MA9, M24."""
    text = script() + "\n" + script() + "\n```ai-script\n{}\n```\n"
    assert [each.address for each in model(text).scripts] == ["sum", "sum@8", "@15"]
    assert ("duplicate-script-id", "warning", '"sum"') in found(text)
    assert ("duplicate-script-id", "error", '"sum"') in found(text, strict=True)


def test_m26_ma13_priority_then_document_order():
    """M26, MA13."""
    text = "\n".join(
        script(*([f'"priority": "{value}"'] if value else []), name=f"{value}{index}")
        for index, value in enumerate(["low", "", "urgent", "high", "medium", "high"])
    )
    assert [each.script_id for each in in_order(model(text).scripts)] == [
        "high3",
        "high5",
        "1",
        "medium4",
        "low0",
        "urgent2",
    ]
    assert rank(model(text).scripts[2]) == 3
    assert found(text) == [("unfamiliar-script-value", "warning", '"urgent"')]


def test_m34_ma14_a_schema_beats_format_and_stream():
    """M34, M36, MA14."""
    text = script('"output-format": "text"', '"stream": true', '"output-schema": {"type": "object"}')
    (each,) = model(text).scripts
    assert (each.output_format, each.stream) == ("json", False)
    assert [rule[:2] for rule in found(text)] == [("output-format-conflict", "warning"), ("ignored-stream", "info")]
    assert model(script()).scripts[0].output_format is None


def test_m37_ma15_interactive_fields():
    """M37, M38, M39, MA15. Ignored beside auto-run; orphans are warnings."""
    busy = script('"auto-run": true', '"interactive-type": "button"', '"interactive-label": "Go"')
    assert model(busy).scripts[0].interactive_type is None
    assert [each[:2] for each in found(busy)] == [("ignored-interactive-field", "info")]
    assert [each[:2] for each in found(script('"interactive-label": "Go"'))] == [
        ("orphan-interactive-field", "warning")
    ]
    assert names(script('"interactive-type": "button"', '"interactive-placeholder": "x"')) == [
        "orphan-interactive-field"
    ]
    assert names(script('"interactive-type": "inputbox"', '"interactive-placeholder": "x"')) == []


def test_m27_auto_run_is_false_when_absent():
    """M27."""
    assert model(script()).scripts[0].auto_run is False
    assert model(script('"auto-run": true')).scripts[0].auto_run is True


def test_what_a_run_has_written_is_data():
    """M23, M43. No fence and no footnote in a managed region counts; outside of it they do."""
    opening = '<!-- ai-result {"script-id": "sum", "sha256": "00"} -->'
    region = f'{opening}\n\n{script()}\n[^a]: `{{"rel-type": }}`\n\n<!-- /ai-result -->\n'
    read = model(script() + "\n" + region + "\n" + script(name="b"))
    assert [each.script_id for each in read.scripts] == ["sum", "b"]
    assert [(each.script_id, each.sha256) for each in read.regions] == [("sum", "00")]
    assert read.regions[0].span.of(read.source.text) == region.rstrip("\n")
    assert names(script() + "\n" + region) == ["stale-result", "edited-result"]
    assert names(region.replace("<!-- /ai-result -->", "")).count("stray-region-marker") == 1


def test_interface_facts_of_scripts():
    """M23. The keys that `show` prints, with the lines of the fences."""
    (listed,) = facts(model("Text\n\n" + script()))["scripts"]
    assert list(listed)[:4] == ["script-id", "line", "end_line", "data"]
    assert (listed["script-id"], listed["line"], listed["end_line"]) == ("sum", 3, 8)
    assert listed["data"] == {"script-id": "sum", "prompt": "Summarise."}
