"""What is sent of a document beside a prompt, and what never is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.magi.choosing import ContextMode, context_of
from prosa.dialects.magi.parts import model_of
from tests.app.scripts.documents import block, document, own
from tests.cli.programs import prosa
from tests.depth import examples

PAGE = """\
---
title: A title of the front matter
---
# Report

See[^src] the figures. <!-- a remark --> There are ten.

<!-- a remark of
its own -->

## Figures

Ten apples[^note].

<!-- AI-PROCESSOR: what follows is for programs -->
```ai-script
{"script-id": "one", "prompt": "FIRST"}
```

<!-- ai-result {"script-id": "one", "sha256": "0"} -->
## What a model wrote

RESULT
<!-- /ai-result -->

Between.

```ai-script
{"script-id": "two", "prompt": "SECOND"}
```

## Later

The end.

[^src]: `{"rel-type": "citation", "doc-id": "x", "rel-desc": "HIDDEN"}`
[^note]: A footnote for people.
"""
WHOLE = """\
The document:

```markdown
# Report

See the figures.  There are ten.

## Figures

Ten apples[^note].

Between.

## Later

The end.

[^note]: A footnote for people.
```
"""
SECTION = """\
The section of the document in which this instruction stands, up to it:

```markdown
## Figures

Ten apples[^note].
```
"""


@pytest.mark.parametrize(
    ("mode", "expected"), [("document", f"{WHOLE}\n{SECTION}"), ("section", SECTION), ("none", "")]
)
def test_ma11_x19_m42_the_visible_document_and_the_section_up_to_the_block(mode: ContextMode, expected: str):
    model = model_of(PAGE)
    assert context_of(model, model.scripts[0], mode) == expected


def test_ma11_x19_a_heading_that_a_model_wrote_begins_no_section():
    model = model_of(PAGE)
    section = context_of(model, model.scripts[1], "section")
    assert section == SECTION.replace("[^note].\n", "[^note].\n\nBetween.\n")


def test_ma11_a_section_that_is_the_document_is_sent_once():
    model = model_of("Ten apples.\n\n" + block("one"))
    assert context_of(model, model.scripts[0], "document") == "The document:\n\n```markdown\nTen apples.\n```\n"
    alone = model_of(block("one"))
    assert context_of(alone, alone.scripts[0], "document") == ""


def test_ma11_a_context_ends_where_its_fence_says():
    model = model_of("````text\nThe document:\n````\n\n" + block("one"))
    assert context_of(model, model.scripts[0], "document").startswith("The document:\n\n`````markdown\n````text\n")


def test_ma11_line_ends_make_no_difference():
    one, other = model_of(PAGE), model_of(PAGE.replace("\n", "\r\n"))
    assert context_of(one, one.scripts[1], "document") == context_of(other, other.scripts[1], "document")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from([*PAGE.splitlines(keepends=True), "<!--\n", "```\n", "> ", "- "]), max_size=30))
def test_ma11_x19_no_other_block_and_no_result_is_ever_sent(lines: list[str]):
    model = model_of("".join(lines))
    for script in model.scripts:
        sent = context_of(model, script, "document")
        hidden = [each.fence.span for each in model.scripts] + [each.span for each in model.regions]
        hidden += [each.span for each in model.relationships]
        for word in ("FIRST", "SECOND", "RESULT", "HIDDEN", "a model wrote"):
            places = [match.start() for match in re.finditer(word, model.source.text)]
            if all(any(place in span for span in hidden) for place in places):
                assert word not in sent


@pytest.mark.parametrize("mode", ["document", "section", "none"])
def test_ma11_the_flag_decides_what_is_sent(mode: ContextMode, tmp_path: Path):
    path = document(tmp_path, PAGE)
    model = model_of(PAGE)
    _, at = prosa("render", path, "--script", "two", "--context", mode, environ=own(tmp_path))
    context = context_of(model, model.scripts[1], mode)
    assert at.out == f"{context}{chr(10) if context else ''}SECOND\n"


def test_a_prompt_is_no_template(tmp_path: Path):
    path = document(tmp_path, "Text {{ .secret }}.\n", block("one", "Say {{ .prompt }} and {{ range }}."))
    status, at = prosa("render", path, "--script", "one", environ=own(tmp_path))
    assert status == 0
    assert "Text {{ .secret }}." in at.out and at.out.endswith("Say {{ .prompt }} and {{ range }}.\n")
