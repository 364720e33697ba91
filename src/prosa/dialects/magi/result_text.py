"""A result of an ai-script in its document (X19): its script, its place, the form of its text, and any text as Markdown
without structure that documents give a meaning.

A region names the id of its script. Where several blocks share an id (MA9), it belongs to the one that it stands below;
a region above all of them belongs to the first. Of several regions of one script the first is its result.

A region stands below its block, in the same quotations and lists: every line repeats their marks. Below a block in a
footnote there is no such place.

A text is written in one of these forms: Markdown as it is but for backslashes; the code of one fence, for JSON and for
what is no Markdown; one image.

In any text a backslash stands before every character that starts such structure: an HTML comment, the language of an
ai-script fence, a footnote, a message heading, a configuration line, a heading that would end the author's section; and
an open fence is closed. The places are stored, so that `unescaped` restores the text. A text that cannot be made
harmless in a few rounds gives None: it belongs in a fence.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import END, MAX_MARKS, About, Form, Region
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.document import Document, Fence, Heading, parse
from prosa.document.model import Cover
from prosa.regex import regex
from prosa.source import Edit, SourceText, Span
from prosa.source.files import sha256


class Owners(Struct, frozen=True):
    """``regions`` by the place of their script's fence; ``pairs`` in the order of the regions; ``orphans`` are regions
    without a script, ``spare`` further regions of a script that has one above."""

    regions: Mapping[int, Region]
    pairs: tuple[tuple[Script, Region], ...]
    orphans: tuple[Region, ...]
    spare: tuple[Region, ...]

    def region_of(self, script: Script) -> Region | None:
        """Return the result of a script of this document."""
        return self.regions.get(script.fence.span.start)


def owners_of(model: MagiModel) -> Owners:
    """Return the owners of all regions of a document."""
    named: dict[str, list[Script]] = {}
    for script in model.scripts:
        if script.script_id:
            named.setdefault(script.script_id, []).append(script)
    owners: dict[int, Region] = {}
    pairs: list[tuple[Script, Region]] = []
    orphans: list[Region] = []
    spare: list[Region] = []
    for region in model.regions:
        candidates = named.get(region.script_id)
        if candidates is None:
            orphans.append(region)
            continue
        above = bisect_right(candidates, region.span.start, key=_start)
        script = candidates[max(above - 1, 0)]
        if owners.setdefault(_start(script), region) is region:
            pairs.append((script, region))
        else:
            spare.append(region)
    return Owners(owners, tuple(pairs), tuple(orphans), tuple(spare))


def _start(script: Script) -> int:
    return script.fence.span.start


_LINE_END = regex(r"\r\n|\n|\r")
_NOT_A_MARK = regex(r"[^>\s]")


class ResultPlace(Struct, frozen=True):
    """``span`` is what a region replaces, empty if it is new. ``before`` and ``after`` stand around it; ``marks``
    begin every line but its first, whose own stand in ``before`` or in the document. ``inside`` is a place in the same
    containers."""

    span: Span
    marks: str
    line_end: str
    inside: int
    before: str = ""
    after: str = ""

    def edit(self, opening: str, shown: str) -> Edit:
        """Return the edit that writes a region with this first marker around this text."""
        lines = (opening, "", *shown.split("\n"), "", END)
        first, *rest = (f"{self.marks}{line}" if line else self.marks.rstrip() for line in lines)
        text = self.line_end.join((first.removeprefix(self.marks), *rest))
        return Edit(self.span, f"{self.before}{text}{self.after}")


def refusal(script: Script) -> str | None:
    """Return why no result can be written below a block; None where one can."""
    if not script.script_id:
        return "the block has no `script-id`, so its result could not be matched to it"
    if not script.fence.closed:
        return "the block is never closed: close its fence first"
    if "footnote" in script.fence.containers:
        return "the block is in a footnote, where it cannot have a result: move it out"
    return None


def below(model: MagiModel, script: Script) -> ResultPlace:
    """Return the place below a block that has no result yet. A blank line goes in front, and one behind where text
    follows."""
    source, fence = model.source, script.fence
    marks = marks_of(source, fence.span.start) if fence.containers else ""
    line_end = _line_end(source, fence.span.start)
    line = source.position(fence.span.end - 1).line
    last = line == source.lines.count
    at = len(source.text) if last else source.lines.starts[line]
    begin = line_end if last else ""
    before = f"{begin}{marks.rstrip()}{line_end}{marks}"
    follows = not last and not fence.containers and source.lines.line_text(line + 1).strip()
    return ResultPlace(Span(at, at), marks, line_end, fence.span.start, before, line_end * (2 if follows else 1))


def instead_of(model: MagiModel, region: Region) -> ResultPlace:
    """Return the place of a result that is there."""
    source, start = model.source, region.span.start
    return ResultPlace(region.span, marks_of(source, start), _line_end(source, start), start)


def marks_of(source: SourceText, offset: int) -> str:
    """Return the prefix of lines in the same containers as the line at an offset: quotation markers stay, a list
    marker becomes as many spaces."""
    start = source.lines.starts[source.position(offset).line - 1]
    return _NOT_A_MARK.sub(" ", source.text[start:offset])


def _line_end(source: SourceText, offset: int) -> str:
    match = _LINE_END.search(source.text, offset)
    return match[0] if match else "\n"


_RUN = regex(r"`{3,}")
_IMAGE = regex(r"!\[result\]\((.*)\)")
_HYPHENS = regex(r"^---$", re.MULTILINE)
_LANGUAGES = {"json": "json", "markdown": "markdown"}


class Shape(Struct, frozen=True):
    """One way to write a text: what to put between the markers, and what the marker has to say of it."""

    shown: str
    form: Form = "plain"
    escaped: tuple[int, ...] = ()
    closed: bool = False

    def described(self, about: About) -> About:
        """Return the marker with the data for this form."""
        return replace(about, written=digest(self.shown), form=self.form, escaped=self.escaped, closed=self.closed)


def shapes(text: str, form: str, level: int) -> Iterator[Shape]:
    """Yield the ways to write a normal text of a form of output, the most readable first. ``level`` is that of the
    heading above, 0 where headings end nothing."""
    if form == "image-url" and (image := _image(text)) is not None:
        yield image
    elif form not in ("json", "image-url"):
        for strict in (False, True):
            if (plain := escaped(text, level=level, strict=strict)) is not None:
                yield Shape(plain.text, "plain", plain.places, plain.closed)
    yield _fenced(text, _LANGUAGES.get(form, "text"))


def shown_text(model: MagiModel, region: Region) -> str:
    """Return the text of a region without container markers and without blank lines at its ends."""
    marks = marks_of(model.source, region.span.start)
    lines = [_without(marks, line) for line in _LINE_END.split(model.source.slice(region.content))[1:-1]]
    if lines and not lines[0].strip(" \t"):
        del lines[0]
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines)


def region_text(model: MagiModel, region: Region) -> str:
    """Return the result in a region in its original form, with plain line feeds and without blank lines at its ends."""
    shown, about = shown_text(model, region), region.about
    if about.form == "fenced":
        return _unfenced(shown)
    if about.form == "image":
        match = _IMAGE.fullmatch(shown)
        return match[1] if match else shown
    return unescaped(shown, about.escaped, closed=about.closed)


def is_edited(model: MagiModel, region: Region) -> bool:
    """Return whether the text of a region is not what was written; also where its marker does not say what was."""
    return region.about.written != digest(shown_text(model, region))


def digest(shown: str) -> str:
    """Return the hash of a written text. Editors that cut white space from the ends of lines edit nothing."""
    lines = "\n".join(line.rstrip(" \t") for line in shown.split("\n"))
    return sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def _image(text: str) -> Shape | None:
    """Return the image of an address if Markdown reads that address unchanged."""
    shown = f"![result]({text})"
    document = parse(SourceText(shown))
    whole = [(image.destination, image.span) for image in document.images]
    return Shape(shown, "image") if whole == [(text, document.body)] and "\n" not in text else None


def _fenced(text: str, language: str) -> Shape:
    """Return the text as code. One space in front keeps a line of three hyphens from ending front matter that never
    ended."""
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
    """Return a line without its container markers; if some are missing, the remaining ones are removed."""
    if line.startswith(marks):
        return line[len(marks) :]
    at = 0
    while at < len(marks) and line.startswith(marks[at], at):
        at += 1
    return line[at:]


# Any text as Markdown without structure that documents give a meaning (X19).

MAX_ROUNDS = 8
"""How often a text is read again after an escape has uncovered what it hid. Real texts need two rounds."""

_BEFORE = "<!-- ai-result -->\n\n"
_COMMENT = "<!--"
_MESSAGE = regex(r"(?://\s*)?@")
_CONFIGURATION = regex(r"^ {0,3}(?:>[ \t]{0,4})*(?://)?(?=%)", re.MULTILINE)
_FRONT_MATTER = regex(r"^(?=---$)", re.MULTILINE)
_MARKS = regex(r"[ \t>]*")
_SURROGATE = regex("[\ud800-\udfff]")


class Escaped(Struct, frozen=True):
    """The escaped ``text``. ``places`` are the offsets in the original before which a backslash was added; ``closed``
    is true if a last line was added to close a fence."""

    text: str
    places: tuple[int, ...] = ()
    closed: bool = False


def normal_text(text: str) -> str:
    """Return what of a text is kept when it is written: line ends become line feeds, blank lines at its end go, and
    half characters, which no file can hold, become U+FFFD."""
    lines = _LINE_END.split(_SURROGATE.sub("\ufffd", text))
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return "\n".join(lines)


def escaped(text: str, *, level: int = 0, strict: bool = False) -> Escaped | None:
    """Return a normal text, harmless below a heading of ``level``; 0 where headings end nothing.

    ``strict`` leaves no heading, no link definition and no line of three hyphens.
    """
    places: list[int] = []
    closing = ""
    for _ in range(MAX_ROUNDS):
        shown = _with_backslashes(text, places)
        probe = _Probe(shown + closing)
        offences = {probe.original(at, places) for at in probe.offences(level, strict)}
        if not offences and probe.ends_well:
            return Escaped(shown + closing, tuple(places), bool(closing))
        if not offences:
            if closing or (fence := probe.swallowing) is None:
                return None
            closing = f"\n{fence.open_fence}"
        elif offences <= set(places) or len(offences.union(places)) > MAX_MARKS:
            return None
        places = sorted(offences.union(places))
    return None


def unescaped(shown: str, places: Sequence[int], *, closed: bool) -> str:
    """Return the original text. If the escaped one was changed since, characters other than backslashes stay."""
    text = shown.rpartition("\n")[0] if closed else shown
    pieces: list[str] = []
    done = 0
    for at in (place + number for number, place in enumerate(places)):
        if text.startswith("\\", at) and at >= done:
            pieces.append(text[done:at])
            done = at + 1
    return "".join((*pieces, text[done:]))


class _Probe:
    """A text as it would be inside a region, read by the parser for documents."""

    def __init__(self, shown: str) -> None:
        self.span = Span(len(_BEFORE), len(_BEFORE) + len(shown))
        self.end = self.span.end + 2
        self.document: Document = parse(SourceText(f"{_BEFORE}{shown}\n\n{END}\n"))

    @property
    def ends_well(self) -> bool:
        """Whether the marker behind the text is one."""
        marker = Span(self.end, self.end + len(END))
        return any(html.block and html.span == marker for html in self.document.html)

    @property
    def swallowing(self) -> Fence | None:
        """The open fence that takes the marker behind the text."""
        return next((fence for fence in self.document.fences if self.end in fence.span and not fence.nested), None)

    def original(self, at: int, places: Sequence[int]) -> int:
        """Return the offset in the original of a place in the text read."""
        at -= self.span.start
        shown = [place + number for number, place in enumerate(places)]
        return at - bisect_left(shown, at)

    def offences(self, level: int, strict: bool) -> Iterator[int]:
        """Yield the places in front of which a backslash belongs."""
        yield from (at for at in self._all_offences(level, strict) if at in self.span)

    def _all_offences(self, level: int, strict: bool) -> Iterator[int]:
        document, text = self.document, self.document.source.text
        yield from self._html()
        for fence in document.fences:
            if fence.language.lower() == LANGUAGE:
                yield _info_of(text, fence)
        for note in document.footnote_definitions:
            yield text.find("[", note.span.start)
        for heading in document.headings:
            if _counts(heading, level) or strict:
                yield _mark_of(text, heading)
        yield from self._lines(_CONFIGURATION)
        if strict:
            yield from (definition.span.start for definition in document.definitions)
            yield from self._lines(_FRONT_MATTER)

    def _html(self) -> Iterator[int]:
        """Comments, and blocks that take the marker behind the text."""
        text = self.document.source.text
        for html in self.document.html:
            if html.span.start in self.span and (_COMMENT in html.span.of(text) or self.end in html.span):
                yield text.find("<", html.span.start)
                at = text.find(_COMMENT, html.span.start, html.span.end)
                while at >= 0:
                    yield at
                    at = text.find(_COMMENT, at + 1, html.span.end)

    def _lines(self, pattern: re.Pattern[str]) -> Iterator[int]:
        """Return the lines of a form, but those in blocks of code."""
        code = Cover((*(fence.span for fence in self.document.fences), *self.document.indented_code))
        text = self.document.source.text
        ends = (match.end() for match in pattern.finditer(text, self.span.start, self.span.end))
        return (at for at in ends if at not in code)


def _counts(heading: Heading, level: int) -> bool:
    """Return whether a heading ends its section or starts a message."""
    if heading.nested:
        return False
    return heading.level <= level or (heading.level == 3 and _MESSAGE.match(heading.text) is not None)


def _mark_of(text: str, heading: Heading) -> int:
    """Return the first `#`, or the first character of the underline."""
    start, end = heading.span.start, heading.span.end
    if text.startswith("#", start):
        return start
    line = text.rfind("\n", start, end) + 1
    match = _MARKS.match(text, line, end)
    return match.end() if match else line


def _info_of(text: str, fence: Fence) -> int:
    at = fence.span.start + len(fence.open_fence)
    while text[at] in " \t":
        at += 1
    return at


def _with_backslashes(text: str, places: Sequence[int]) -> str:
    pieces: list[str] = []
    done = 0
    for place in places:
        pieces.append(text[done:place])
        done = place
    return "\\".join((*pieces, text[done:])) if pieces else text
