"""Inert drawings: SVG for hosts that send no policy with it (X23, HW3).

In: the bytes of an SVG file. Out: a `Drawing`: the same bytes if nothing in them runs or contacts another host,
otherwise rewritten from an allow-list of elements and attributes, with a list of the removed parts. Invalid XML gives
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct, field

from prosa.regex import regex

SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_XML = "http://www.w3.org/XML/1998/namespace"
_W3 = "http://www.w3.org/"
_INERT = ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2000/01/rdf-schema#")
"""Namespaces of the W3C in which nothing runs; in most of the others, something does."""

_NAMES = """
    svg g defs symbol use switch title desc metadata view a style image
    path rect circle ellipse line polyline polygon text tspan textPath
    linearGradient radialGradient stop pattern clipPath mask marker filter
    feBlend feColorMatrix feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap
    feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode
    feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence
    animate animateMotion animateTransform mpath set"""
_ELEMENTS = frozenset(_NAMES.split())
_ANIMATIONS = frozenset(("animate", "animateMotion", "animateTransform", "set"))
_PAINTS = """
    style fill stroke filter clip-path mask marker marker-start marker-mid marker-end cursor font-family
    color-profile"""
_PAINTED = frozenset(_PAINTS.split())
"""Attributes that hold CSS with addresses."""

_PLAIN_ENCODINGS = frozenset(("", "utf-8", "us-ascii"))

MAX_GROWTH = 4
"""How many times larger a drawing may become when its entities are written out."""

MAX_DEPTH = 1_000
MAX_TOLD = 5
"""Maximum number of kinds of parts that are named; others are counted."""

_SPACE = regex(r"[\x00-\x20\x7f]+")
_SCHEME = regex(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PICTURE = regex(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*", re.IGNORECASE)
_FONT = r"data:(?:font|application)/[a-z0-9.+-]+(?:;charset=[a-z0-9-]+)?;base64,[a-z0-9+/=\s]*+"
_CSS_URL = regex(rf"""url\(\s*+(["']?)\s*+(?:\#[^()"'\\]*+|{_FONT})\1\s*+\)""", re.IGNORECASE)
_CSS_ASKS = regex(
    r"(?:url|src|image-set|expression)\s*\(|\\|@import|javascript:|-moz-binding|behavior\s*:", re.IGNORECASE
)


class Drawing(NamedTuple):
    """A drawing that runs nothing, and what was left out of it: `<script>`, `onload`."""

    content: bytes
    removed: tuple[str, ...] = ()


def inert_drawing(data: bytes) -> Drawing | None:
    """Return a drawing without active parts; None for anything but a drawing in XML."""
    writer = _Writer(MAX_GROWTH * len(data) + 1_024)
    parser = expat.ParserCreate(namespace_separator="\n")
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.XmlDeclHandler = writer.declaration
    parser.EntityDeclHandler = writer.entity
    parser.ProcessingInstructionHandler = writer.instruction
    parser.CommentHandler = writer.comment
    parser.StartCdataSectionHandler = writer.entity
    parser.StartElementHandler = writer.start
    parser.EndElementHandler = writer.end
    parser.CharacterDataHandler = writer.text
    try:
        parser.Parse(data, True)
        writer.rewritten |= "\0" in data.decode("utf-8")
    except UnicodeDecodeError:
        writer.rewritten = True
    except (expat.ExpatError, _TooLarge, LookupError, ValueError):
        return None
    if not writer.out:
        return None
    if not writer.rewritten and not writer.removed:
        return Drawing(data)
    return Drawing("".join(writer.out).encode("utf-8", "replace"), _named(tuple(writer.removed)))


def _named(removed: tuple[str, ...]) -> tuple[str, ...]:
    return removed if len(removed) <= MAX_TOLD else (*removed[:MAX_TOLD], f"{len(removed) - MAX_TOLD} more")


class _TooLarge(Exception):
    """A drawing that grows without bound."""


class _Writer(Struct):
    """Writes the allowed parts. ``rewritten`` is true if the file cannot stay unchanged although nothing in it runs;
    ``skipped`` counts the open elements of a part that is left out, ``style`` holds the text of an open style."""

    room: int
    out: list[str] = field(default_factory=list)
    removed: dict[str, None] = field(default_factory=dict)
    rewritten: bool = False
    skipped: int = 0
    depth: int = 0
    style: list[str] | None = None

    def declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        """Take the first line: a browser may know an encoding otherwise than we do."""
        self.rewritten |= (encoding or "").lower() not in _PLAIN_ENCODINGS

    def entity(self, *_: object) -> None:
        """Refuse a declaration of an entity, or a section: with all of them written out, there is one reading."""
        self.rewritten = True

    def comment(self, text: str) -> None:
        """Take a comment; one that holds markup is not kept."""
        self.rewritten |= "<" in text or "javascript:" in text.lower()

    def instruction(self, target: str, _data: str) -> None:
        """Take a style sheet or a program of another format."""
        self.removed[f"<?{target}?>"] = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooLarge
        space, _, local = name.rpartition("\n")
        if self.skipped or self.style is not None:
            self.skipped += 1
            self._judge(space, local, attributes)
            return
        if space != SVG or local not in _ELEMENTS or _animates_a_link(local, attributes):
            self.skipped = 1
            self._judge(space, local, attributes)
            return
        kept = "".join(self._attributes(local, attributes))
        root = f' xmlns="{SVG}" xmlns:xlink="{_XLINK}"' if not self.out else ""
        self._write(f"<{local}{root}{kept}>")
        if local == "style":
            self.style = []

    def end(self, name: str) -> None:
        """Take the end of an element."""
        self.depth -= 1
        if self.skipped:
            self.skipped -= 1
            return
        if self.style is not None:
            css, self.style = "".join(self.style), None
            if _asks(css):
                self.removed["<style>"] = None
            else:
                self._write(escape(css))
        self._write(f"</{name.rpartition(chr(10))[2]}>")

    def text(self, text: str) -> None:
        """Text between elements."""
        if self.skipped or not self.out:
            return
        if self.style is not None:
            self.style.append(text)
        else:
            self._write(escape(text))

    def _write(self, text: str) -> None:
        self.room -= len(text)
        if self.room < 0:
            raise _TooLarge
        self.out.append(text)

    def _judge(self, space: str, local: str, attributes: Mapping[str, str]) -> None:
        """Record an element that is not written, unless it is only metadata of a drawing program."""
        inert = space and (not space.startswith(_W3) or space in _INERT) and "script" not in local.lower()
        if not inert or not self.depth > 1:
            self.removed[f"<{local}>"] = None
        for name, value in attributes.items():
            if _is_handler(name) or _runs(value):
                self.removed[name.rpartition("\n")[2]] = None

    def _attributes(self, element: str, attributes: Mapping[str, str]) -> Iterator[str]:
        """Yield the attributes of an element that may stay; others are noted where they do something."""
        for name, value in attributes.items():
            space, _, local = name.rpartition("\n")
            if _is_handler(name) or not _is_harmless(element, space, local, value):
                self.removed[local] = None
            elif space in ("", _XLINK, _XML):
                prefix = {"": "", _XLINK: "xlink:", _XML: "xml:"}[space]
                yield f" {prefix}{local}={quoteattr(value)}"


def _is_handler(name: str) -> bool:
    return name.rpartition("\n")[2].lower().startswith("on")


def _is_harmless(element: str, space: str, local: str, value: str) -> bool:
    """Return whether an attribute neither runs anything nor contacts another host."""
    if space == _XML:
        return local in ("space", "lang", "id")
    if local.lower() in ("href", "src"):
        return space in ("", _XLINK) and _is_link(element, value)
    if local.lower() in ("from", "to", "by", "values") and element in _ANIMATIONS:
        return not _runs(value) and not _asks(value)
    return not _asks(value) if local.lower() in _PAINTED else not _runs(value)


def _runs(value: str) -> bool:
    """Return whether a value names a program, as a browser reads it: without blanks and control characters."""
    bare = _SPACE.sub("", value).lower()
    return "javascript:" in bare or "vbscript:" in bare or "data:text/html" in bare


def _is_link(element: str, value: str) -> bool:
    """Return whether an address leads to a part of the drawing, to a picture beside it, or, as a link, to a page."""
    bare = _SPACE.sub("", value).replace("\\", "/")
    if bare.startswith("#"):
        return True
    scheme = _SCHEME.match(bare)
    if element == "a":
        return scheme is None or scheme[1].lower() in ("http", "https", "mailto")
    if element in ("image", "feImage"):
        return (scheme is None and not bare.startswith("//")) or _PICTURE.fullmatch(bare) is not None
    return False


def _animates_a_link(element: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an animation changes an address or a handler."""
    name = attributes.get("attributeName", "").strip().rpartition(":")[2].lower()
    return element in _ANIMATIONS and (name in ("href", "src", "style") or name.startswith("on"))


def _asks(css: str) -> bool:
    """Return whether CSS loads something from outside. An escape could hide anything."""
    return _CSS_ASKS.search(_CSS_URL.sub("", css)) is not None
