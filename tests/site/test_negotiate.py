"""Which form a request gets, by a table of `Accept` values (RFC 9110 section 12.5.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.site.negotiate import MAX_ACCEPT, MEDIA_TYPES, choose

CHROME = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
SAFARI = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
OLD = "text/html, application/rdf+xml;q=0.9, text/*;q=0.1, */*;q=0.01"

TABLE = {
    "markdown": [
        "",
        " ",
        "*/*",
        "text/markdown",
        "TEXT/MARKDOWN",
        "Text/Markdown; charset=utf-8",
        "text/markdown;variant=CommonMark",
        "text/*",
        "text/*, application/json;q=0.9",
        "application/json;q=0.9, text/*",
        "application/json;q=0.9, text/markdown",
        "application/json;q=0.5, text/html;q=0.4, text/markdown;q=0.6",
        "text/html, text/markdown",
        "text/html;q=1, application/json;q=1.0, text/markdown;q=1.000",
        "text/html;q=0.8, */*",
        "text/html;q=0.8, text/*;q=0.9",
        "image/png",
        "application/xml, image/*",
        "application/x-json",
        "application/jsonp",
        "application/json-seq",
        "text/html5",
        "application/json;q=0",
        "text/html;q=0, application/json;q=0.000",
        "*/*;q=0",
        "text/markdown;q=0",
        "text/markdown;q=0, image/png",
        "text/html;q=0, */*",
        "text/html;q=2",
        "text/html;q=1.001",
        "text/html;q=0.1234",
        "text/html;q=-1",
        "text/html;q=abc",
        "text/html;q=",
        "text/html;q=.5, text/markdown;q=0.1",
        "html",
        "text/",
        "/html",
        "*/html",
        "text html",
        "text/html/x",
        "x text/html",
        "text/html x",
        ";q=1",
        ",,,",
        '"text/html"',
        "text/plain",
        "text/html;q=0.000, text/markdown;q=0.001",
        'text/plain;note="text/html, application/json", text/markdown',
        "\x00",
        "text/\u00e9",
        "application/json;q=0, text/html;q=0, */*;q=0.1",
    ],
    "json": [
        "application/json",
        "APPLICATION/JSON",
        "application/*",
        "application/json;charset=utf-8",
        'application/json;note="a,b;q=0"',
        "application/json;q=0.001",
        "application/json, text/html",
        "application/json, */*;q=0.1",
        "application/json, text/html;q=0.9, text/markdown;q=0.8",
        "text/markdown;q=0, application/json;q=0.1, text/html;q=0.1",
        "text/*;q=0.3, application/json;q=0.4",
        "text/markdown;q=0, */*",
        "text/html;q=0.2, application/json;q=0.20, text/markdown;q=0.1",
        " application/json ;q=0.5 , image/png",
        "application/json;Q=0.9, text/markdown;q=0.8",
        "application/json; q = 0.9",
        "application/json,,,",
        "broken, application/json",
        "text/html;q=0.5;q=0.9, application/json;q=0.6",
        "\tapplication/json\t",
    ],
    "html": [
        "text/html",
        "Text/HTML;q=0.5",
        "text/html, */*;q=0.8",
        "text/html;level=1",
        "text/html;q=0.9, text/*;q=0.5, */*;q=0.1",
        "text/*, text/markdown;q=0",
        "text/markdown;q=0.1, application/json;q=0.2, text/html;q=0.3",
        "*/*, text/markdown;q=0.5, application/json;q=0.5",
        "application/json;q=0, text/markdown;q=0, */*",
        "application/xhtml+xml, text/html",
        CHROME,
        FIREFOX,
        SAFARI,
        OLD,
    ],
}


@pytest.mark.parametrize(("accept", "form"), [(each, form) for form, some in TABLE.items() for each in some])
def test_h8_ha7_hw1_the_form_that_a_client_likes_best(accept: str, form: str) -> None:
    """H8, HA7, HW1. Qualities, wildcards, case and parameters count; a substring does not."""
    assert choose(accept) == form


@pytest.mark.parametrize("tool", ["*/*", "", "text/markdown, text/plain;q=0.9, */*;q=0.5"])
def test_ha7_tools_get_markdown(tool: str) -> None:
    """HA7. `curl` sends `*/*`, other readers nothing."""
    assert choose(tool) == "markdown"


def test_ha7_the_order_of_ranges_does_not_matter() -> None:
    """HA7."""
    parts = ["text/html;q=0.5", "application/json;q=0.7", "text/*;q=0.6", "*/*;q=0.1"]
    assert {choose(",".join(parts[at:] + parts[:at])) for at in range(4)} == {"json"}


def test_ha7_a_range_named_closely_wins_over_a_wildcard_of_the_same_quality() -> None:
    """HA7. A client that names a form wants it, one that says `*/*` behind it takes anything."""
    assert choose("application/json, */*") == "json"
    assert choose("text/html, text/*, */*") == "html"


def test_ha7_what_stands_behind_the_bound_is_not_read() -> None:
    """HA7."""
    assert choose("x/y," * MAX_ACCEPT + "application/json") == "markdown"
    assert choose("application/json," + "x/y," * MAX_ACCEPT) == "json"


@pytest.mark.parametrize(
    "hostile", ["a/b" + ";a" * 2_000, 'a/b;c="' + "\\" * 4_000, '"' * 4_096, "/" * 4_096, ";" * 4_096, "a" * 4_096]
)
def test_ha7_odd_values_of_any_length_give_markdown(hostile: str) -> None:
    """HA7. Nothing takes a quadratic time worth mentioning: the values are as long as what is read."""
    assert choose(hostile) == "markdown"


@given(st.text(alphabet=st.sampled_from('atexhmljson/*;q=01., "\\'), max_size=60))
def test_ha7_any_value_gives_a_form(accept: str) -> None:
    """HA7."""
    assert choose(accept) in MEDIA_TYPES


QUALITY = st.sampled_from(["0", "0.1", "0.5", "0.55", "1", "1.0"])


@given(QUALITY, QUALITY, QUALITY)
def test_ha7_the_highest_quality_wins(markdown: str, json: str, html: str) -> None:
    """HA7. Ties go to Markdown, then JSON, then HTML."""
    said = {"markdown": float(markdown), "json": float(json), "html": float(html)}
    best = max(said, key=lambda form: said[form])
    accept = f"text/html;q={html}, application/json;q={json}, text/markdown;q={markdown}"
    assert choose(accept) == (best if said[best] > 0 else "markdown")
