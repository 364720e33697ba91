"""Drawings that run nothing (X23, HW3): whatever a file holds, what is written has none of it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.site.drawing import SVG, inert_drawing

HEAD = (
    f'<svg xmlns="{SVG}" xmlns:x="http://www.w3.org/1999/xlink" xmlns:h="http://www.w3.org/1999/xhtml" xmlns:s="{SVG}">'
)
HOSTILE = (
    "<script>alert(1)</script>",
    "<s:script>alert(1)</s:script>",
    "<h:script>alert(1)</h:script>",
    "<h:iframe src='javascript:alert(1)'/>",
    "<script x:href='https://evil.example/a.js'/>",
    "<foreignObject><h:body onload='alert(1)'/></foreignObject>",
    "<g><s:foreignObject width='9'/></g>",
    "<rect onclick='alert(1)' width='1'/>",
    "<rect ONLOAD='alert(1)'/>",
    "<a x:href='javascript:alert(1)'><text>go</text></a>",
    "<a href='&#106;ava&#x0a;script:alert(1)'><text>go</text></a>",
    "<a href=' \tjava&#9;script:alert(1)'/>",
    "<a href='data:text/html,&lt;script>alert(1)&lt;/script>'/>",
    "<a href='vbscript:x'/>",
    "<set attributeName='onload' to='alert(1)'/>",
    "<a><set attributeName='href' to='javascript:alert(1)'/></a>",
    "<a><animate attributeName='x:href' values='#a;javascript:alert(1)'/></a>",
    "<animate attributeName='fill' values='url(https://evil.example/)'/>",
    "<use href='data:image/svg+xml;base64,AAAA#x'/>",
    "<use x:href='https://evil.example/a.svg#x'/>",
    "<image href='https://evil.example/a.png'/>",
    "<image href='//evil.example/a.png'/>",
    "<image x:href='data:image/svg+xml,&lt;svg onload=alert(1)>'/>",
    "<feImage href='https://evil.example/a.png'/>",
    "<style>@import 'https://evil.example/a.css';</style>",
    "<style>rect { fill: url(https://evil.example/) }</style>",
    "<style>rect { fill: u\\72l(https://evil.example/) }</style>",
    "<style><![CDATA[ a { background: url('javascript:alert(1)') } ]]></style>",
    "<style><script>alert(1)</script></style>",
    "<rect style='fill:url(https://evil.example/)'/>",
    "<rect fill='url(https://evil.example/#a)'/>",
    "<g xml:base='javascript:'><a href='alert(1)'/></g>",
    "<?xml-stylesheet href='javascript:alert(1)'?>",
    "<handler type='application/ecmascript'>alert(1)</handler>",
    "<e:listener xmlns:e='http://www.w3.org/2001/xml-events' event='load'/>",
    "<i:script xmlns:i='urn:inkscape'>alert(1)</i:script>",
    "<i:view xmlns:i='urn:inkscape' onload='alert(1)'/>",
    "<!-- <script>alert(1)</script> -->",
    "<text><![CDATA[<script>alert(1)</script>]]></text>",
    "&evil;",
    "<a href='&link;'/>",
)
ONLY_TEXT = ("<!-- <script>alert(1)</script> -->", "<text><![CDATA[<script>alert(1)</script>]]></text>")
DOCTYPE = (
    "<!DOCTYPE svg [<!ENTITY evil '<script xmlns=\"http://www.w3.org/2000/svg\">alert(1)</script>'>"
    "<!ENTITY link 'javascript:alert(1)'>]>"
)
HARMLESS = (
    "<rect width='3' fill='url(#a)' style='stroke: red'/>",
    "<a href='https://example.org/'><text>A &lt;script&gt; is told of</text></a>",
    "<linearGradient id='a'><stop offset='0'/></linearGradient>",
    "<use x:href='#a'/>",
    "<image href='boat.png'/>",
    "<image href='data:image/png;base64,AAAA'/>",
    "<style>.curl { fill: url(#a) }</style>",
    "<style>@font-face { src: url(data:font/woff2;base64,AAAA) }</style>",
    "<i:view xmlns:i='urn:inkscape' zoom='2'/>",
    "<animate attributeName='opacity' values='0;1'/>",
    "<!-- made by hand -->",
)


def faults(content: bytes) -> list[str]:
    """What runs, or asks another host, in a drawing: found by another parser than the one that wrote it."""
    found = [
        word for word in ("<script", "foreignobject", "javascript:", "evil.example") if word in content.decode().lower()
    ]
    for element in ElementTree.fromstring(content).iter():
        if not isinstance(element.tag, str):
            continue
        if element.tag.rpartition("}")[2].lower() in ("script", "foreignobject", "handler", "listener", "iframe"):
            found.append(element.tag)
        for name, value in element.attrib.items():
            if name.rpartition("}")[2].lower().startswith("on") or name.endswith("}base"):
                found.append(name)
            if re.match(r"(javascript|vbscript|data:(?!image/(png|jpeg|gif|webp);))", re.sub(r"\s", "", value).lower()):
                found.append(value)
            if name == "attributeName" and re.fullmatch(r"(.*:)?(href|on.*)", value):
                found.append(value)
    return found


@given(
    st.lists(st.sampled_from([*HOSTILE, *HARMLESS]), max_size=6),
    st.integers(0, 2),
    st.sampled_from(["utf-8", "utf-16"]),
)
def test_x23_nothing_runs_in_a_drawing_that_is_written(parts: list[str], depth: int, encoding: str) -> None:
    """X23, HW3."""
    text = DOCTYPE + HEAD + "<g>" * depth + "".join(parts) + "</g>" * depth + "</svg>"
    found = inert_drawing(text.encode(encoding))
    assert found is not None
    assert faults(found.content) == []


@pytest.mark.parametrize("part", HOSTILE)
def test_x23_what_is_left_out_is_named_and_the_rest_stays(part: str) -> None:
    """X23. Text and comments run nothing: they are not missed."""
    found = inert_drawing(f"{DOCTYPE}{HEAD}<circle r='7'/>{part}<rect width='3'/></svg>".encode())
    assert found is not None
    assert b'<circle r="7">' in found.content and b'width="3"' in found.content
    assert bool(found.removed) == (part not in ONLY_TEXT)
    again = inert_drawing(found.content)
    assert again == (found.content, ())


def test_x23_of_many_parts_that_are_left_out_it_is_said_how_many() -> None:
    """X23."""
    names = [f"on{letter}" for letter in "abcdefg"]
    handlers = " ".join(f"{name}='1'" for name in names)
    found = inert_drawing(f"{HEAD}<rect {handlers}/></svg>".encode())
    assert found is not None
    assert found.removed == (*names[:5], "2 more")


@given(st.lists(st.sampled_from(HARMLESS), max_size=8))
def test_x23_a_drawing_in_which_nothing_runs_stays_to_the_byte(parts: list[str]) -> None:
    """X23."""
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">'
    data = f"{start}{HEAD}{''.join(parts)}</svg>".encode()
    assert inert_drawing(data) == (data, ())


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg", b"\x00\xff", b"<html/>", b"<svg><rect/></svg>", f"{HEAD}&nbsp;</svg>".encode(), b"<g>" * 5_000],
)
def test_x23_what_is_no_drawing_gives_nothing(data: bytes) -> None:
    """X23."""
    assert inert_drawing(data) is None


def test_x9_entities_do_not_grow_without_bound() -> None:
    """X9."""
    bomb = "".join(f"<!ENTITY e{at} '{f'&e{at - 1};' * 10}'>" for at in range(1, 9))
    data = f"<!DOCTYPE svg [<!ENTITY e0 'xxxxxxxxxx'>{bomb}]>{HEAD}<text>&e8;</text></svg>".encode()
    assert inert_drawing(data) is None


@given(st.binary(max_size=200))
def test_x23_whatever_is_read_nothing_fails(data: bytes) -> None:
    """X23."""
    found = inert_drawing(HEAD.encode() + data + b"</svg>")
    assert found is None or faults(found.content) == []
