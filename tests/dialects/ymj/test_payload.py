"""Selectors and payloads: what each finds, what it refuses, and what it costs."""

from __future__ import annotations

import base64
import gzip
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.ymj.payload import MAX_PAYLOAD, decode
from prosa.dialects.ymj.selectors import SELECTORS, BadSelector, UnknownSelector, prepare
from tests.depth import examples
from tests.dialects.ymj.records import BODY, facts, found, read, record
from tests.work import is_quick

PAGE = """\
# Ferry

Intro with `code`.

```csv
boat,seats
Ada,12
```

## Winter *plan*

> ```csv title="quoted"
> in,quote
> ```

<!-- block_id: cold -->

```CSV {#frost .wide}
month,days
```

~~~yaml{#prices}
adult: 3
~~~

````markdown
```csv
not,this
```
````

## Summer

### Prices

```json id="warm"
{"adult": 4}
```

Nothing else.

## Winter plan again

### Prices

```json
{"adult": 5}
```

<!-- start -->
Between the marks: yes.
<!-- end -->

"""


def payload(body: str, **ops: Any) -> dict[str, Any] | None:
    value: dict[str, Any] | None = facts(record(body=body, ops=ops))["payload"]
    return value


def content(selector: str, body: str = PAGE) -> str | None:
    shown = payload(body, body_selector=selector)
    assert shown is not None
    assert shown["selector"] == selector
    assert shown["found"] is (shown["content"] is not None)
    text: str | None = shown["content"]
    return text


CASES = [
    ("first_fenced:csv", "boat,seats\nAda,12"),
    ("first_fenced:CSV", "boat,seats\nAda,12"),
    ("first_fenced: yaml", "adult: 3"),
    ("first_fenced:toml", None),
    ("nth_fenced:csv:1", "boat,seats\nAda,12"),
    ("nth_fenced:csv:2", "in,quote"),
    ("nth_fenced:csv:3", "month,days"),
    ("nth_fenced:csv:4", None),
    ("nth_fenced:json:2", '{"adult": 5}'),
    ("block_id:frost", "month,days"),
    ("block_id:cold", "month,days"),
    ("block_id:prices", "adult: 3"),
    ("block_id:warm", '{"adult": 4}'),
    ("block_id:wide", None),
    ("section:Prices", '```json id="warm"\n{"adult": 4}\n```\n\nNothing else.'),
    ("section:Winter plan", "found"),
    ("section:Winter *plan*", "found"),
    ("section:prices", None),
    ("heading_path:Ferry/Summer/Prices -> fenced:json", '{"adult": 4}'),
    ("heading_path:Ferry/Winter plan again/Prices -> first_fenced:json", '{"adult": 5}'),
    ("heading_path:Winter plan again/Prices->fenced:json", '{"adult": 5}'),
    ("heading_path:Summer/Winter", None),
    ("heading_path:Ferry/Summer -> fenced:csv", None),
    ("regex:Ada,([0-9]+)", "12"),
    ("regex:ada,[0-9]+/i", "Ada,12"),
    ("regex:^month.*$/m", "month,days"),
    ("regex:Summer.*?Prices/s", "Summer\n\n### Prices"),
    ("regex:nothing(x)?else/", None),
    ("regex:(absent)?Nothing", None),
    ("between:<!-- start -->:<!-- end -->", "Between the marks: yes."),
    ("between:(?:marks\\: ):[.]", "yes"),
    ("between:<!-- end -->:<!-- start -->", None),
]


@pytest.mark.parametrize(("selector", "text"), CASES, ids=lambda value: str(value)[:40])
def test_y27_ya14_ya15_ya16_yw8_every_selector(selector: str, text: str | None):
    """Y27, YA14, YA15, YA16, YW8: from the one parse of the body; a fence inside a longer fence is none."""
    shown = content(selector)
    if text == "found":
        assert shown is not None
        assert shown.startswith("> ```csv")
    else:
        assert shown == text


def test_y27_ya13_the_footer_is_never_the_target():
    """YA13, Y27."""
    assert content("first_fenced:json", BODY) is None
    assert content("regex:schema", BODY) is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_content_has_lf_and_no_final_newline(end: str):
    text = record(body=PAGE, ops={"body_selector": "first_fenced:csv"}).replace("\n", end)
    assert facts(text)["payload"]["content"] == "boat,seats\nAda,12"


@pytest.mark.parametrize(
    ("body_format", "body", "text"),
    [
        ("csv", PAGE, "boat,seats\nAda,12"),
        ("yaml", PAGE, "adult: 3"),
        ("json", PAGE, '{"adult": 4}'),
        ("mermaid", PAGE, None),
        ("markdown", PAGE, "```csv\nnot,this\n```"),
        ("markdown", BODY, BODY.removesuffix("\n")),
        ("plain", PAGE, PAGE.removesuffix("\n")),
    ],
)
def test_ya13_the_default_selector(body_format: str, body: str, text: str | None):
    """YA13, Y24, Y3: the first fence of the format, or the whole body where that is the format."""
    assert payload(body, body_format=body_format) == {
        "selector": f"first_fenced:{body_format}",
        "found": text is not None,
        "content": text,
    }


def test_y3_y27_an_explicit_selector_wins_and_nothing_is_guessed():
    """Y27, Y3: a body with one fence and no directive has no payload."""
    assert payload(PAGE) is None
    shown = payload(PAGE, body_format="markdown", body_selector="nth_fenced:csv:3")
    assert shown is not None
    assert shown["content"] == "month,days"


def test_ya17_a_missing_target_by_mode():
    """YA17, Y27."""
    text = record(ops={"body_selector": "block_id:none"})
    assert found(text) == {"missing-selector-target": "warning"}
    assert facts(text)["accepted"]
    assert found(text, strict=True) == {"missing-selector-target": "error"}


@pytest.mark.parametrize(
    "selector",
    [
        "first_fenced:",
        "first_fenced",
        "first_fenced:a b",
        "nth_fenced:csv",
        "nth_fenced:csv:0",
        "nth_fenced:csv:x",
        "nth_fenced::1",
        "block_id:a b",
        "section: ",
        "heading_path:a//b",
        "heading_path:a -> csv",
        "heading_path:a/b/c/d/e/f/g",
        "regex:",
        "regex:(",
        "regex:a(?=b)",
        r"regex:(a)\1",
        "regex:a/x",
        "regex:a/imx",
        "regex:" + "a" * 1001,
        "regex:a{1001}",
        "between:a",
        "between::b",
        "between:(:(",
    ],
)
def test_ya16_x20_selectors_that_mean_nothing(selector: str):
    """YA16, X20, X20b, Y27: an error that says why; `x` is refused with the reason."""
    assert found(record(ops={"body_selector": selector}))["bad-selector"] == "error"
    with pytest.raises(BadSelector) as refused:
        prepare(selector)
    assert str(refused.value)
    assert "`x`" in str(refused.value) or not selector.endswith("x") or selector.startswith("nth")


def test_y27_selectors_outside_the_registry():
    """Y27: a warning, an error in strict mode."""
    text = record(ops={"body_selector": "xpath://a"})
    assert found(text) == {"unknown-selector": "warning"}
    assert found(text, strict=True) == {"unknown-selector": "error"}
    with pytest.raises(UnknownSelector):
        prepare("xpath://a")
    assert len({row.name for row in SELECTORS}) == 7


@pytest.mark.parametrize("selector", ["regex:gate", "between:gate:six"])
def test_y27_patterns_are_a_warning_in_strict_mode(selector: str):
    """Y27: and no warning otherwise."""
    assert found(record(ops={"body_selector": selector})) == {"pattern-selector": "hint"}
    assert found(record(ops={"body_selector": selector}), strict=True) == {"pattern-selector": "warning"}


COSTLY = [
    "(a*)*b",
    "(x+x+)+y",
    "((a{0,30}){0,30})c",
    "(?:a?){300}a{300}c",
    "[a-q][^u-z]{300}(x)",
    "(.*,){90}P",
    "(a|aa)+$",
]


@pytest.mark.parametrize("pattern", COSTLY)
def test_ya16_x20_no_pattern_takes_long(pattern: str, capfd: pytest.CaptureFixture[str]):
    """YA16, X20: linear time, bounded before it starts, and nothing is logged."""
    body = "a" * 200_000 + "\n"
    text = record(body=body, ops={"body_selector": f"regex:{pattern}"})
    assert is_quick(lambda: found(text), 2.0)
    rules = found(text)
    assert rules.keys() & {"missing-selector-target", "costly-selector", "bad-selector", "pattern-selector"}
    assert capfd.readouterr().err == ""


def test_ya16_work_beyond_the_limit_is_refused():
    """YA16."""
    text = record(body="b" * 100_000 + "\n", ops={"body_selector": "regex:(.{0,400}x)"})
    assert found(text)["costly-selector"] == "warning"
    assert found(text, strict=True)["costly-selector"] == "error"


@given(st.text(max_size=60), st.sampled_from([row.name for row in SELECTORS]))
@settings(max_examples=examples(120), deadline=None)
def test_y27_no_selector_fails_otherwise(rest: str, name: str):
    """Y27: any text is found, not found, or refused."""
    shown = read(record(body=PAGE, ops={"body_selector": f"{name}:{rest}"})).payload
    assert shown is None or (shown.content is not None) == (shown.failure == "")


def test_ya22_encodings():
    """YA22: base64 of the text, and of gzip; line breaks in it do not matter."""
    plain = base64.b64encode(b"boat,seats\nAda,12\n").decode()
    packed = base64.b64encode(gzip.compress(b"boat,seats\nAda,12\n")).decode()
    for encoding, text in (("base64", plain), ("gzip", packed)):
        body = f"```text\n{text[:10]}\n{text[10:]}\n```\n"
        shown = payload(body, body_selector="first_fenced:text", body_encoding=encoding)
        assert shown == {"selector": "first_fenced:text", "found": True, "content": "boat,seats\nAda,12"}
        assert payload(f"{text}\n", body_encoding=encoding) == {**shown, "selector": None}


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("not base64!", "base64"),
        ("é", "base64"),
        ("aGVsbG8=", "gzip"),
        (base64.b64encode(b"\xff\xfe").decode(), "base64"),
        (base64.b64encode(gzip.compress(b"x", mtime=0)[:-4]).decode(), "gzip"),
        (base64.b64encode(gzip.compress(b"x", mtime=0) + b"more").decode(), "gzip"),
        (base64.b64encode(zlib.compress(b"x")).decode(), "gzip"),
    ],
)
def test_ya22_what_cannot_be_decoded_is_an_error(text: str, encoding: str):
    """YA22."""
    record_text = record(
        body=f"```text\n{text}\n```\n", ops={"body_selector": "first_fenced:text", "body_encoding": encoding}
    )
    assert found(record_text) == {"undecodable-payload": "error"}
    assert facts(record_text)["payload"] == {"selector": "first_fenced:text", "found": True, "content": None}


def test_ya22_a_bomb_is_not_unpacked():
    """YA22: the output has a limit."""
    bomb = base64.b64encode(gzip.compress(b"0" * (MAX_PAYLOAD + 1))).decode()
    text, reason = decode(bomb, "gzip")
    assert text is None
    assert "more than" in reason
    assert decode(base64.b64encode(gzip.compress(b"0" * MAX_PAYLOAD)).decode(), "gzip")[0] == "0" * MAX_PAYLOAD
