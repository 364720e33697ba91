"""Which scripts of a document run, in which order, and why the others do not (M26, M27, M33, M37, MA12, MA13); and the
part of the document that is sent with a prompt (MA11, X19).

In: scripts, the user's choice, the problems of each and the state of its result. Out: a row for each script. High comes
before medium before low, then the order of the document. A block's `auto-run` chooses nothing: only the user does.

The visible text is sent, and the section of the block up to the block. Never sent: other ai-script blocks,
relationships, managed regions, comments, front matter. A heading inside a region starts no section, so the output of
one model does not decide what the next one sees.

The hash covers the inputs in the document: prompt, system prompt, provider, model, parameters, output format and
schema, and the context that is sent, without results. Line ends, blank lines and white space at the end of a line make
no difference, so that writing a result below a block, or a checkout with other line ends, makes no result stale.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct, field

from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.parts import left_out, not_for_readers
from prosa.dialects.magi.regions import Region, inside
from prosa.dialects.magi.result_text import Owners, is_edited, owners_of
from prosa.regex import regex
from prosa.source import SourceText, Span
from prosa.source.files import sha256

if TYPE_CHECKING:
    from hashlib import _Hash

_RANKS = {"high": 0, None: 1, "medium": 1, "low": 2}


def rank(script: Script) -> int:
    """Return 0 for high, 1 for medium and for none, 2 for low, 3 for an unknown value."""
    return _RANKS.get(script.fields.text("priority"), 3)


def in_order(scripts: Iterable[Script]) -> tuple[Script, ...]:
    """Return the scripts in the order in which they would run."""
    return tuple(sorted(scripts, key=rank))


State: TypeAlias = Literal["absent", "fresh", "stale", "edited"]
"""State of a script's result: absent; matching what would be sent now; outdated; edited by hand (or possibly so),
whether outdated or not."""


class Status(Struct, frozen=True):
    """A result that is there: ``stale`` when what produced it has changed, ``edited`` when its text has."""

    region: Region
    stale: bool
    edited: bool

    @property
    def state(self) -> State:
        """Both in one word: an edit weighs more, for it must not be lost."""
        return "edited" if self.edited else "stale" if self.stale else "fresh"


def state_of(model: MagiModel, script: Script) -> State:
    """Return the state of the result of one script. For all of a document ask `statuses`, which is quicker."""
    region = owners_of(model).region_of(script)
    return "absent" if region is None else _status(model, script, region, Contexts(model)).state


def statuses(model: MagiModel, owners: Owners | None = None) -> Iterator[tuple[Script, Status]]:
    """Yield every script that has a result, with the state of it, in the order of the results."""
    contexts = Contexts(model)
    for script, region in (owners or owners_of(model)).pairs:
        yield script, _status(model, script, region, contexts)


def _status(model: MagiModel, script: Script, region: Region, contexts: Contexts) -> Status:
    about = region.about
    fits = about.sha256 == script_hash(model, script, about.context, about.model_name, contexts=contexts)
    return Status(region, stale=not fits, edited=is_edited(model, region))


Kind: TypeAlias = Literal["runs", "not-chosen", "error", "environment", "result", "edited", "text"]
"""Why a script runs or does not: it is not chosen, wrong, for elsewhere, has its result, edited by hand, wants text."""

ANYWHERE = ("text", "input")
"""Names that stand for every script that takes a text, unless one of them has that very id."""


class Choice(Struct, frozen=True):
    """What the user chose. ``ids`` are addresses (MA9). ``auto`` are those that ask to run by themselves, ``every`` all
    of them; ``stale`` narrows either, or all, to those whose result is stale. ``env`` filters by `runtime-env`.

    ``force`` counts results that were edited by hand as stale; ``writes`` leaves such results alone otherwise.
    ``texts`` are what a reader entered, by address, ``text`` for all that take one.
    """

    ids: tuple[str, ...] = ()
    auto: bool = False
    every: bool = False
    stale: bool = False
    env: str = "server"
    force: bool = False
    writes: bool = False
    text: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_made(self) -> bool:
        """Whether anything was chosen at all (MA12)."""
        return bool(self.ids or self.auto or self.every or self.stale)

    def text_for(self, script: Script) -> str | None:
        """Return what was entered for a script."""
        return self.texts.get(script.address, self.text)


class Row(Struct, frozen=True):
    """One script: ``order`` counts from 1 in the order in which they run, ``why`` is a phrase for people."""

    script: Script
    order: int
    kind: Kind
    why: str

    @property
    def runs(self) -> bool:
        """Whether it is run."""
        return self.kind == "runs"


def choose(
    scripts: Iterable[Script], choice: Choice, *, wrong: Mapping[str, str], states: Mapping[str, str]
) -> tuple[Row, ...]:
    """Return a row for each script, in the order in which they would run (MA13).

    ``wrong`` maps an address to the reason why a script cannot run, ``states`` to the state of its result: absent (the
    default), fresh, stale or edited. Without a choice the rows show what could be chosen.
    """
    rows: list[Row] = []
    for order, script in enumerate(in_order(scripts), 1):
        state = states.get(script.address, "absent")
        kind, why = _verdict(script, choice, wrong.get(script.address), state)
        rows.append(Row(script, order, kind, why))
    return tuple(rows)


def takes_text(script: Script) -> bool:
    """Return whether a reader enters a text for this script (M37). One that runs by itself has no input field
    (MA15)."""
    return script.interactive_type == "inputbox"


def _verdict(script: Script, choice: Choice, wrong: str | None, state: str) -> tuple[Kind, str]:
    chosen = _chosen(script, choice)
    if chosen is None:
        return "not-chosen", "not chosen" if choice.ids else "does not ask for auto-run"
    if choice.stale and state == "absent":
        return "result", "it has no result yet"
    if wrong is not None:
        return "error", wrong
    env = script.fields.text("runtime-env")
    if env is not None and env.strip().casefold() != choice.env.strip().casefold():
        return "environment", f"is for the environment {env.strip()}, and this is {choice.env}"
    return _by_result(choice, state) or _by_text(script, choice) or ("runs", chosen)


def _chosen(script: Script, choice: Choice) -> str | None:
    """Return why a script is chosen, or None."""
    if choice.ids:
        return "named by --script" if script.address in choice.ids else None
    if choice.auto:
        return "asks for auto-run" if script.auto_run else None
    if choice.every:
        return "--all"
    if choice.stale:
        return "its result is stale"
    if takes_text(script):
        return f"--script {script.address} with --input TEXT"
    return "asks for auto-run: --auto or --all" if script.auto_run else "--all"


def _by_result(choice: Choice, state: str) -> tuple[Kind, str] | None:
    """Return what the result that is there keeps from running."""
    if state == "edited" and (choice.stale or choice.writes) and not choice.force:
        return "edited", "its result was edited by hand; --force replaces it"
    if choice.stale and state == "fresh":
        return "result", "its result is fresh"
    return None


def _by_text(script: Script, choice: Choice) -> tuple[Kind, str] | None:
    if takes_text(script) and choice.text_for(script) is None and choice.is_made:
        return "text", f"waits for a text: --input TEXT or {script.address}=TEXT"
    return None


# The part of a document that is sent with the prompt of one of its blocks (MA11, X19), and the hash of everything
# that produces its result. A model in; a text, or SHA-256, out; pure.

ContextMode: TypeAlias = Literal["section", "document", "none"]

DOCUMENT = "The document:"
SECTION = "The section of the document in which this instruction stands, up to it:"

_CR = regex(r"\r\n?")
_BLANK_LINES = regex(r"(?:[ \t]*\n)*")
_RUN = regex(r"`{3,}")


class Visible(Struct, frozen=True):
    """The visible part of a body. ``hidden`` are the spans left out, in order and disjoint; ``headings`` the places at
    which a section starts; ``text`` the whole, with plain line feeds and no blank lines around it."""

    source: SourceText
    body: Span
    hidden: tuple[Span, ...]
    headings: tuple[int, ...]
    text: str

    def between(self, start: int, end: int) -> str:
        """Return the visible part of a range of the body."""
        first = bisect_left(self.hidden, start, key=lambda span: span.end)
        last = bisect_left(self.hidden, end, key=lambda span: span.start)
        clipped = (Span(max(span.start, start), min(span.end, end)) for span in self.hidden[first:last])
        return _plain(left_out(self.source, Span(start, end), clipped).text)


def visible(model: MagiModel) -> Visible:
    """Return what people see of a document, made once for all of its blocks."""
    body, hidden, within = model.front.body, not_for_readers(model), inside(model.regions)
    headings = (heading.span.start for heading in model.document.headings if not heading.nested)
    text = _plain(left_out(model.source, body, hidden).text)
    return Visible(model.source, body, hidden, tuple(at for at in headings if not within(at)), text)


def context_of(
    model: MagiModel, script: Script | None, mode: ContextMode = "document", *, seen: Visible | None = None
) -> str:
    """Return the text to send; empty for ``none`` and where nothing is seen.

    ``document`` is the whole and then the section up to the block, ``section`` the latter alone. Without a script, as
    for instructions that came beside the document (M41), both are the whole. ``seen`` saves making it again.
    """
    if mode == "none":
        return ""
    seen = seen or visible(model)
    section = seen.text if script is None else _section(seen, script)
    if mode == "section" and script is not None:
        return _framed(SECTION, section)
    parts = [_framed(DOCUMENT, seen.text), "" if section == seen.text else _framed(SECTION, section)]
    return "\n".join(part for part in parts if part)


def document_text(text: str) -> str:
    """Return a text that is sent as the document in place of the script's own."""
    return _framed(DOCUMENT, _plain(text))


def section_up_to(seen: Visible, script: Script) -> Span:
    """From the last heading in front of a block up to it."""
    end = script.hint.start if script.hint else script.fence.span.start
    index = bisect_right(seen.headings, end) - 1
    start = seen.headings[index] if index >= 0 else seen.body.start
    return Span(min(start, end), end)


def _section(seen: Visible, script: Script) -> str:
    span = section_up_to(seen, script)
    return seen.between(span.start, span.end)


def _start(span: Span) -> int:
    return span.start


def _end(span: Span) -> int:
    return span.end


def _framed(words: str, text: str) -> str:
    """Return the text in a fence that is longer than any in it, so that where it ends is beyond doubt."""
    if not text:
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in _RUN.findall(text)), default=2))
    return f"{words}\n\n{fence}markdown\n{text}\n{fence}\n"


def _plain(text: str) -> str:
    """Line feeds, and neither blank lines around it nor spaces behind it. The indentation of the first line stays."""
    lines = _CR.sub("\n", text).removeprefix("\ufeff").rstrip()
    blank = _BLANK_LINES.match(lines)
    return lines[blank.end() :] if blank else lines


DEFAULT_CONTEXT: ContextMode = "document"
"""The context mode of a run that names none, and of a marker that records none (MA11)."""

_MODES: Mapping[str, ContextMode] = {"section": "section", "document": "document", "none": "none"}
_FIELDS = ("prompt", "system-prompt", "provider", "parameters", "output-schema")
_LINE_END = regex(r"\r\n|\n|\r")


class Contexts(Struct, frozen=True, dict=True):
    """The contexts of all scripts of a document as hashes, made in one pass: a document with many results, each made
    from all the text above it, is checked in linear time."""

    model: MagiModel

    def of(self, script: Script, mode: ContextMode) -> list[str]:
        """Return the hashes of the parts that are sent."""
        if mode == "none":
            return []
        section = self._sections.get(script.fence.span.start, "")
        return [section] if mode == "section" else [self._whole, section]

    @cached_property
    def _seen(self) -> Visible:
        return visible(self.model)

    @cached_property
    def _whole(self) -> str:
        text = sha256()
        _add(text, self._seen.text)
        return text.hexdigest()

    @cached_property
    def _sections(self) -> dict[int, str]:
        """The section by the place of its block: each is read once, even if it has many blocks."""
        digests: dict[int, str] = {}
        begin = done = -1
        text = sha256()
        for script in self.model.scripts:
            span = section_up_to(self._seen, script)
            if span.start != begin or span.end < done:
                begin = done = span.start
                text = sha256()
            _add(text, self._seen.between(done, span.end))
            done = span.end
            digests[script.fence.span.start] = text.hexdigest()
        return digests


def script_hash(
    model: MagiModel, script: Script, context: str, model_name: str, *, contexts: Contexts | None = None
) -> str:
    """64 hex digits. ``context`` is the mode: section, document or none; any other word is the default.

    ``model_name`` is the model that answers. It counts only where the block names none: `--model` for one run makes no
    result stale for those who run without it, and a result is compared with the model that its own marker records.
    ``contexts`` saves making them again.
    """
    fields = {name: script.fields.value(name) for name in _FIELDS if name in script.fields}
    fields["model-name"] = script.fields.text("model-name") or model_name
    fields["output-format"] = script.output_format
    mode = context_mode(context)
    fields["context"] = [mode, *(contexts or Contexts(model)).of(script, mode)]
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("ascii")).hexdigest()


def context_mode(word: str) -> ContextMode:
    """Return the context mode of a word."""
    return _MODES.get(word, DEFAULT_CONTEXT)


def _add(digest: _Hash, text: str) -> None:
    """Add the lines with content. Quotation markers alone do not count, since they may be left over around a block; a
    byte-order mark counts only at the very start."""
    for line in _LINE_END.split(text.replace("\ufeff", "")):
        if line.replace(">", "").strip():
            digest.update(line.rstrip().encode("utf-8", "surrogatepass") + b"\n")
