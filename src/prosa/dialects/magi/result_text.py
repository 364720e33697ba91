"""The text of a result and how it stands in its region (X19): a text in, the ways to write it out; a region in, its
text out.

Forms: Markdown as it is but for backslashes; the code of one fence, for JSON and for what is no Markdown; one image.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prosa.dialects.magi.escape import escaped, unescaped
from prosa.dialects.magi.model import MagiModel
from prosa.dialects.magi.placing import marks_of
from prosa.dialects.magi.regions import About, Form, Region
from prosa.document import parse
from prosa.source import SourceText

_LINE_END = re.compile(r"\r\n|\n|\r")
_RUN = re.compile(r"`{3,}")
_IMAGE = re.compile(r"!\[result\]\((.*)\)")
_HYPHENS = re.compile(r"^---$", re.MULTILINE)
_LANGUAGES = {"json": "json", "markdown": "markdown"}


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write a text: what to put between the markers, and what the marker has to say of it."""

    shown: str
    form: Form = "plain"
    escaped: tuple[int, ...] = ()
    closed: bool = False

    def told(self, about: About) -> About:
        """The marker with what is to be known of this shape."""
        return replace(about, written=digest(self.shown), form=self.form, escaped=self.escaped, closed=self.closed)


def shapes(text: str, form: str, level: int) -> Iterator[Shape]:
    """The ways to write a settled text of a form of output, the most readable first. ``level`` is that of the heading
    above, 0 where headings end nothing."""
    if form == "image-url" and (image := _image(text)) is not None:
        yield image
    elif form not in ("json", "image-url"):
        for strict in (False, True):
            if (plain := escaped(text, level=level, strict=strict)) is not None:
                yield Shape(plain.text, "plain", plain.places, plain.closed)
    yield _fenced(text, _LANGUAGES.get(form, "text"))


def shown_text(model: MagiModel, region: Region) -> str:
    """What is written in a region, without the marks of the containers around it and the blank lines at its ends."""
    marks = marks_of(model.source, region.span.start)
    lines = [_without(marks, line) for line in _LINE_END.split(model.source.slice(region.content))[1:-1]]
    if lines and not lines[0].strip(" \t"):
        del lines[0]
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines)


def region_text(model: MagiModel, region: Region) -> str:
    """The result in a region as it was given, with plain line feeds and without blank lines at its end."""
    shown, about = shown_text(model, region), region.about
    if about.form == "fenced":
        return _unfenced(shown)
    if about.form == "image":
        match = _IMAGE.fullmatch(shown)
        return match[1] if match else shown
    return unescaped(shown, about.escaped, closed=about.closed)


def is_edited(model: MagiModel, region: Region) -> bool:
    """Whether the text of a region is not what was written; also where its marker does not say what was."""
    return region.about.written != digest(shown_text(model, region))


def digest(shown: str) -> str:
    """The hash of a written text. Editors that cut white space from the ends of lines edit nothing."""
    lines = "\n".join(line.rstrip(" \t") for line in shown.split("\n"))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def _image(text: str) -> Shape | None:
    """The image of an address, where Markdown reads the address as it is."""
    shown = f"![result]({text})"
    document = parse(SourceText(shown))
    whole = [(each.destination, each.span) for each in document.images]
    return Shape(shown, "image") if whole == [(text, document.body)] and "\n" not in text else None


def _fenced(text: str, language: str) -> Shape:
    """The text as code. One space in front keeps a line of three hyphens from ending front matter that never ended."""
    ticks = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=0))
    lines = f"{ticks}{language}\n{text}\n{ticks}"
    if _HYPHENS.search(text):
        lines = "\n".join(f" {line}" if line else line for line in lines.split("\n"))
    return Shape(lines, "fenced")


def _unfenced(shown: str) -> str:
    lines = shown.split("\n")
    if shown.startswith(" "):
        lines = [line.removeprefix(" ") for line in lines]
    return "\n".join(lines[1:-1])


def _without(marks: str, line: str) -> str:
    """A line without the marks of its containers; one that has lost some of them loses what is left of them."""
    if line.startswith(marks):
        return line[len(marks) :]
    at = 0
    while at < len(marks) and line.startswith(marks[at], at):
        at += 1
    return line[at:]
