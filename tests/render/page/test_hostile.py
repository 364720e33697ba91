"""What a document writes is data: no field, no line of it becomes an element, an attribute or an address (HW3)."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.render.page.chrome import hits_fragment, message_page, search_page, sign_in_page
from prosa.render.page.clean import safe_html
from prosa.render.page.model import Crumb, Frame, MessagePage, Page, SearchHit, SearchPage
from prosa.render.page.node import node_page
from prosa.site.layout import Neighbour, Neighbourhood
from tests.depth import DEEP, examples
from tests.render.page.elements import Tree, forbidden, tree
from tests.render.page.sample import html_of, link, seen, view

T = TypeVar("T")
SIGN = "vis1ble"

VECTORS = (
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</textarea></option></select><img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "` onclick=alert(1) `",
    "<img src=`javascript:alert(1)`>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext></p><style><img src=x onerror=alert(1)></style></mtext></math>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=' java\tscript:alert(1)'>x</a>",
    "<a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a>",
    "<form action='https://evil.example'><input name=token><button formaction='javascript:alert(1)'>x</button></form>",
    "<base href='https://evil.example/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>body{display:none}</style>",
    "<p style='position:fixed;inset:0'>x</p>",
    "<object data='javascript:alert(1)'></object><embed src='javascript:alert(1)'>",
    "<input type=image src=x onerror=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<img src='data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+'>",
    "<!--><script>alert(1)</script-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "{{ 7 * 7 }}{% raw %}<b onclick=alert(1)>{{ x|safe }}",
    "[x](javascript:alert(1)) ![y](javascript:alert(1)) <javascript:alert(1)>",
    "[x](<java&#10;script:alert(1)>) [z](vbscript:msgbox(1)) [w](file:///etc/passwd)",
    "\u202e\u2066<scr\0ipt>alert(1)</scr\0ipt>\ufeff",
    "//evil.example/x\\@y",
)


def _action(text: str) -> list[dict[str, Any]]:
    described = {
        "a": {"type": "string", "enum": [text], "description": text},
        "b": {"type": "integer", "default": text},
    }
    query = {"required": ["a", text], "optional": ["b"], "properties": described}
    body = {"properties": {text: {"type": "string", "description": text, "default": text}, "on": {"enum": [text, 1]}}}
    auth = {"type": "bearer", "token_help": text}
    get = {
        "id": text,
        "title": text,
        "description": text,
        "method": "GET",
        "url": "/api/a",
        "query": query,
        "auth": auth,
    }
    post = {"id": text, "method": "POST", "url": "/api/{name}", "body_schema": body, "auth": auth}
    deep = {
        **post,
        "body_schema": {"properties": {"x": {"type": "object"}}, "description": text},
        "examples": [{"body": text}],
    }
    bad = {"id": text, "title": text, "method": text, "url": text}
    elsewhere = {"id": "e", "method": "GET", "url": f"https://evil.example/{text}".replace(" ", "")}
    strange = {
        "id": "s",
        "method": "POST",
        "url": "/api/a",
        "accept": text,
        "content_type": text,
        "auth": {"type": text},
    }
    return [get, post, deep, bad, elsewhere, strange]


def _fields(text: str) -> dict[str, Any]:
    return {
        "language": text,
        "tags": [text, text],
        "updated": text,
        text: text,
        "deep": {text: [text]},
        "summary": text,
    }


def _around(text: str) -> Neighbourhood:
    each = (
        Neighbour(text, text, text, text),
        Neighbour(text, f"/{text}", "", text),
        Neighbour(text, "", text, text, True),
    )
    return Neighbourhood(each, each, each)


def _page(text: str) -> Page:
    """A page with ``text`` wherever a document or a user can put one."""
    made = view(
        f"Body {SIGN}.\n",
        "mdh",
        title=text,
        summary=text,
        type=text,
        id=text,
        fields=_fields(text),
        actions=tuple(_action(text)),
        derived={text: 1},
    )
    frame = Frame(text, more=(text,), csrf=text)
    return Page(frame, made, link, lambda _: text, _around(text), (Crumb(text, text), Crumb(text, f"/{text}")))


def _counts(page: Tree) -> dict[str, int]:
    """How often each element stands in a page, but those of a description that may be empty."""
    return {
        tag: sum(each.tag == tag for each in page.elements)
        for tag in ("script", "link", "meta", "form", "input", "img", "h1")
    }


@cache
def _harmless() -> dict[str, int]:
    """The elements of a page with harmless words."""
    return _counts(tree(node_page(_page(f"harmless{SIGN}"))))


@pytest.mark.parametrize("vector", VECTORS)
def test_hw3_a_hostile_text_in_every_field_stays_text(vector: str):
    """HW3. The page has the elements of a page with harmless words in the same places, and the words can be read."""
    page = tree(node_page(_page(f"{vector}{SIGN}")))
    assert forbidden(page) == []
    assert _counts(page) == _harmless()
    assert SIGN in page.one("h1").text
    assert f"{vector}{SIGN}".replace("\0", "\ufffd") in page.one("h1").text.replace("\0", "\ufffd")


def _bodies(vector: str) -> dict[str, str]:
    line = vector.replace("\n", " ")
    return {
        "paragraph": f"{vector} {SIGN}\n",
        "block": f"{vector}\n\n{SIGN}\n",
        "heading": f"# {line}\n\n## {line} {SIGN}\n\n### {line}\n\n### {line}\n\n### {line}\n",
        "table": f"| a | {line} |\n|---|---|\n| {line} | {SIGN} |\n",
        "footnote": f"x[^1]\n\n[^1]: {line} {SIGN}\n",
        "label": f"x[^{line}]\n\n[^{line}]: {SIGN}\n",
        "info": f"```{line}\n{vector} {SIGN}\n```\n",
        "alt": f"![{line}](/x.png) ![{line} {SIGN}](https://x.example/y.png)\n",
        "source": f"![{SIGN}](<{line}>) ![{SIGN}]({line})\n",
        "destination": f"[{SIGN}](<{line}>) [{SIGN}]({line}) <{line}>\n",
        "title": f"[{SIGN}](/x \"{line}\") [{SIGN}](/x '{line}')\n",
        "link text": f"[{line} {SIGN}](/x)\n",
        "reference": f"[{SIGN}][r]\n\n[r]: <{line}> ({line})\n",
        "quote": f"> - {line}\n>   {SIGN}\n",
        "task": f"- [x] {line} {SIGN}\n",
        "code": f"`{line}` {SIGN}\n",
        "comment": f"<!-- {vector} -->\n\n{SIGN}\n",
        "unclosed": f'<div title="{line}\n\n{SIGN}\n',
        "details": f"<details><summary>{line}</summary>\n\n{SIGN}\n\n</details>\n",
        "wikilink": f"[[{line}|{SIGN}]] ![[{line}]] {SIGN}\n",
        "key": f'<a id="k0/x" class="k0/x" href="k0/{line}">{SIGN}</a>\n',
    }


@pytest.mark.parametrize("vector", VECTORS)
def test_hw3_a_hostile_text_in_every_place_of_a_body_stays_text(vector: str):
    """HW3. Each vector in every third place, and all places among three vectors; in `make test-deep` in every place."""
    for place, text in _some([*_bodies(vector).items()], vector):
        record = place == "wikilink"
        page = tree(html_of(f"---\nymj_spec: 1.0.0\n---\n{text}" if record else text, "ymj" if record else "plain"))
        assert forbidden(page) == [], place
        assert SIGN in page.seen, place
        assert forbidden(tree(safe_html(text))) == [], place


def _some(each: list[T], vector: str) -> list[T]:
    """All of them in `make test-deep`, else every third one, another third for the next vector."""
    return each if DEEP else each[VECTORS.index(vector) % 3 :: 3]


def _quoted(text: str) -> str:
    return json.dumps(text)


def _schema(text: str) -> str:
    return json.dumps({"properties": {text: {"description": text, "default": text, "enum": [text]}}})


@pytest.mark.parametrize("vector", VECTORS)
def test_hw3_hostile_dialects(vector: str):
    """HW3. Chats, programs, records and scripts."""
    line = re.sub(r"[\0\n]", " ", vector)
    script = {
        "script-id": line,
        "interactive-type": "inputbox",
        "interactive-label": line,
        "interactive-placeholder": line,
    }
    documents = {
        "prapti": f"### @user {line}:\n\n{line}\n\n### @assistant:\n\n{line} {SIGN}\n\n### @_{line}:\n\nx\n",
        "markdownlang": f"---\nname: {_quoted(line)}\ndescription: {_quoted(line)}\ninput: {_schema(line)}\n"
        f"output: {{type: {_quoted(line)}}}\n---\n{line} {SIGN}\n",
        "ymj": f"---\nymj_spec: 1.0.0\ndoc_summary: {_quoted(line)}\n---\n{line} {SIGN}\n\n```json\n"
        f'{{"schema": {_quoted(line)}, "index": {{"tags": [{_quoted(line)}]}}}}\n```\n',
        "magi": f"---\ntitle: {_quoted(line)}\n---\n{SIGN}\n\n```ai-script\n{json.dumps(script)}\n```\n",
    }
    for dialect, text in documents.items():
        frames = [Frame("F"), Frame("F", can_run=True), Frame("F", can_run=True, signed_in=True, csrf=line)]
        for frame in _some(frames, vector):
            page = seen(text, dialect, frame=frame)
            assert [each for each in forbidden(page) if each != "form "] == [], dialect
            assert SIGN in page.one("article").text, dialect


@pytest.mark.parametrize("vector", VECTORS)
def test_hw3_hostile_searches_and_messages(vector: str):
    """HW3. What was asked for, what was found, and what is said about it."""
    text = f"{vector}{SIGN}"
    frame = Frame(text, more=(text,), csrf=text)
    found = SearchPage(frame, text, (SearchHit(text, text, text, text, ((0, 3), (2, 5), (9, 99_999))),), complaint=text)
    pages = [
        search_page(found),
        message_page(MessagePage(frame, text, text, (Crumb(text, text), Crumb(text, f"/{text}")))),
        sign_in_page(frame, back=text, failed=True),
        hits_fragment(found),
        hits_fragment(SearchPage(frame, text, found.hits)),
    ]
    for html in pages:
        page = tree(html)
        assert forbidden(page) == []
        assert SIGN in page.seen


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet=st.characters(), max_size=200))
def test_any_text_gives_a_sound_page(text: str):
    page = tree(html_of(text))
    assert forbidden(page) == []


_MARKUP = """
    < > " ' = / # - > ` ``` [ ]( ) ![ [^1] [^1]: <div </div> <a_href= <b> </b> <p> <table> <td> <script </script>
    <style> <!-- --> javascript: onload= style= x | |-| <svg <math <img_src= &lt; &#x22; [[ ]] <details> <textarea>
    <? <![CDATA[ ]]> \\ https://a.example/ <li> <h1> <select> <pre> <title
"""
_PIECES = st.sampled_from([*(each.replace("_", " ") for each in _MARKUP.split()), " ", "\n", "\n\n", "# ", "- ", "> "])


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_any_markup_gives_a_sound_page(text: str):
    page = tree(html_of(text))
    assert forbidden(page) == []
    assert page.all("footer", class_="end")[0].inside == ("html", "body")
    assert forbidden(tree(safe_html(text))) == []
