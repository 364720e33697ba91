"""All examples of the CommonMark specification, read from the npm package that `make peers` installs."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pyromark

from prosa.document import Link, parse
from prosa.source import SourceText
from tests.document.claims import check_claims

SPECIFICATION = Path(__file__).parents[1] / "peers/node_modules/commonmark-spec/spec.txt"
EXAMPLE = re.compile(r"^`{32} example\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)


def examples() -> list[tuple[str, str]]:
    found = EXAMPLE.findall(SPECIFICATION.read_text(encoding="utf-8").replace("\r\n", "\n"))
    return [(markdown.replace("→", "\t"), html.replace("→", "\t")) for markdown, html in found]


def test_x2_the_parser_agrees_with_every_example_of_the_specification():
    """X2. 652 of 652; a quotation mark in text may be written as itself or as an entity."""
    wrong = [markdown for markdown, html in examples() if plain(pyromark.html(markdown)) != plain(html)]
    assert len(examples()) == 652
    assert wrong == []


def test_x2_every_span_in_the_examples_is_what_it_claims():
    """X2."""
    for markdown, _ in examples():
        check_claims(parse(SourceText(markdown)))


def test_x2_every_link_of_the_examples_is_found():
    """X2. As many links and images as the HTML has, each with the destination it has there."""
    for markdown, html in examples():
        document = parse(SourceText(markdown))
        if "[[" in markdown or "|" in markdown or document.html:
            continue  # what our extensions read in another way, or what writes its own tags
        images = [each for each in document.images if not inside(each, document.images)]
        links = [each for each in document.links if not inside(each, document.images)]
        assert [escaped(each.destination) for each in links] == re.findall(r'<a href="(.*?)"', html), markdown
        assert [escaped(each.destination) for each in images] == re.findall(r'<img src="(.*?)"', html), markdown


def inside(link: Link, images: tuple[Link, ...]) -> bool:
    """Whether a link stands in the description of an image, where HTML has no place for it."""
    return any(image is not link and link.span.start in image.text_span for image in images)


def escaped(destination: str) -> str:
    """As HTML writes it, by the test of the specification: percent signs for what a URL may not hold."""
    quoted = quote(destination, safe=";/?:@&=+$,-_.!~*'()#%")
    return quoted.replace("&", "&amp;")


def plain(html: str) -> str:
    """Without differences that mean nothing in HTML."""
    return re.sub(r"\n?(</?li>)\n?", r"\1", html.replace("&quot;", '"'))
