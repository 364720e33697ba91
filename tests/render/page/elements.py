"""A page as its elements, and what must not be in one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "col", "wbr"})
NEVER = frozenset(
    {"style", "iframe", "object", "embed", "base", "svg", "math", "frame", "frameset", "applet", "template", "marquee"}
)
ADDRESSES = frozenset({"href", "src", "action", "formaction", "poster", "cite", "background", "ping", "srcset", "data"})
IN_TEXT = frozenset({"script", "meta", "link", "title", "textarea", "select", "noscript"})
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BITMAP = re.compile(r"data:image/(png|jpeg|gif|webp);base64,")


@dataclass
class Element:
    """``inside`` are the tags around it, outermost first; ``text`` everything that it and its children say."""

    tag: str
    attributes: dict[str, str]
    inside: tuple[str, ...]
    said: list[str] = field(default_factory=list, repr=False)
    """What the whole page says, in pieces; those of this element are ``begin`` up to ``end``."""
    begin: int = 0
    end: int | None = None

    @cached_property
    def text(self) -> str:
        return "".join(self.said[self.begin : self.end])

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str:
        """An attribute, empty without one."""
        return self.attributes.get(name, "")


@dataclass
class Tree(HTMLParser):
    """Every element in order. ``unbalanced`` are tags that were closed in the wrong place, or never."""

    elements: list[Element] = field(default_factory=list)
    unbalanced: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    opened: list[Element] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(names) != len(set(names)):
            self.unbalanced.append(f"{tag} has an attribute twice")
        attributes = {name: value or "" for name, value in attrs}
        made = Element(tag, attributes, tuple(each.tag for each in self.opened), self.said, len(self.said))
        self.elements.append(made)
        if tag in VOID:
            made.end = made.begin
        else:
            self.opened.append(made)

    def handle_endtag(self, tag: str) -> None:
        if not self.opened or self.opened[-1].tag != tag:
            self.unbalanced.append(f"</{tag}> in {[each.tag for each in self.opened]}")
            return
        self.opened.pop().end = len(self.said)

    def handle_data(self, data: str) -> None:
        self.said.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        """The elements of that tag that have these attributes; `class_` asks for one of the classes."""
        return [each for each in self.elements if each.tag == tag and _fits(each, attributes)]

    def one(self, tag: str, **attributes: str) -> Element:
        """The only such element."""
        (found,) = self.all(tag, **attributes)
        return found

    @property
    def seen(self) -> str:
        """Everything that a reader can come to see: text, and values of attributes."""
        values = (value for each in self.elements for value in each.attributes.values())
        return "\n".join((*(each.text for each in self.elements if not each.inside), *values))


def _fits(element: Element, attributes: dict[str, str]) -> bool:
    for name, value in attributes.items():
        if name == "class_":
            if value not in element.get("class").split():
                return False
        elif element.attributes.get(name.replace("_", "-")) != value:
            return False
    return True


def tree(html: str) -> Tree:
    """A page, which must be well-formed."""
    made = Tree()
    made.feed(html)
    made.close()
    made.unbalanced += [f"<{each.tag}> is not closed" for each in made.opened]
    assert made.unbalanced == []
    return made


def forbidden(page: Tree) -> list[str]:
    """What no page may hold, whoever wrote the document."""
    found = [f"comment {each}" for each in page.comments]
    for each in page.elements:
        found += [f"<{each.tag}>"] * (each.tag in NEVER)
        found += [f"{each.tag} {name}" for name in each.attributes if name.startswith("on") or name == "style"]
        found += [f"{each.tag} {name}={value}" for name, value in each.attributes.items() if _leads_astray(name, value)]
        if each.tag == "script" and (each.text or not each.get("src").startswith("/mdh/assets/")):
            found.append(f"script {each.attributes}")
        if each.tag == "meta" and "http-equiv" in each.attributes:
            found.append("meta http-equiv")
        if "article" in each.inside and each.tag in IN_TEXT:
            found.append(f"<{each.tag}> in the article")
        if each.tag == "form" and not re.match(r"/(?!/)|\Z", each.get("action")):
            found.append(f"form {each['action']}")
    return found


def _leads_astray(name: str, value: str) -> bool:
    if name not in ADDRESSES:
        return False
    bare = re.sub(r"[\x00-\x20]", "", value)
    scheme = _SCHEME.match(bare)
    if scheme is None or bare == "data:,":
        return False
    if scheme[1].lower() == "data":
        return name != "src" or not _BITMAP.match(bare)
    return scheme[1].lower() not in (("http", "https", "mailto") if name == "href" else ("http", "https"))
