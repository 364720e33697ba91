"""From libyaml's events to a tree, one event at a time and without recursion.

In: events whose marks count characters. Out: nodes with spans, problems. Nothing is constructed: no dates, no tags,
no merging; an alias shares the node it names, and the size of the whole as if copied is kept below a limit.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from prosa.data.limits import MAX_ALIAS_CHARACTERS, MAX_ALIAS_NODES, MAX_DEPTH, MAX_INTEGER_DIGITS
from prosa.data.reading import Findings, shown
from prosa.data.surrogates import has_surrogate, lone_escape, without_surrogates
from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence, Style, Value
from prosa.data.yaml_core import NotOfTag, TooManyDigits, core_value, tagged_value
from prosa.data.yaml_shield import Shield
from prosa.diagnostics import Annotation
from prosa.regex import regex
from prosa.source import Span

_STYLES: dict[str | None, Style] = {"'": "single", '"': "double", "|": "literal", ">": "folded"}
_CORE_TAG = "tag:yaml.org,2002:"
_WRITTEN_TAG = regex(r"(?:&\S+\s+)?(![^\s,\[\]{}]*)")
_COLLECTION_TAGS = {"MappingStartEvent": _CORE_TAG + "map", "SequenceStartEvent": _CORE_TAG + "seq"}


class StopReading(Exception):
    """Nothing after this point is read; the problem is already recorded."""


class _Built(Struct):
    """A node and its size once its aliases are expanded: nodes, characters, levels of nesting. Not frozen: freezing
    would cost a fifth of the time for a scalar."""

    node: Node
    nodes: int = 1
    characters: int = 0
    levels: int = 0


class _Frame(Struct):
    """A collection that is still open; ``start`` and ``end`` count in the text read."""

    mapping: bool
    start: int
    end: int
    anchor: str | None
    children: list[Any] = field(default_factory=list)
    keys: dict[str, Span] = field(default_factory=dict)
    key: Scalar | None = None
    key_dropped: bool = False
    nodes: int = 1
    characters: int = 0
    levels: int = 1


class TreeBuilder:
    """The state of one reading. Feed it events with `on_scalar` and the like; `close` ends it at any time."""

    def __init__(self, text: str, shield: Shield, findings: Findings) -> None:
        self.text = text
        self.shield = shield
        self.findings = findings
        self.frames: list[_Frame] = []
        self.anchors: dict[str, _Built | None] = {}
        self.nodes = 0
        self.alias_characters = 0
        self.root: Node | None = None
        self.closing = False

    # Events

    def on_scalar(self, event: Any) -> None:
        """Take a scalar, as a key or as a value."""
        start, end = event.start_mark.index, event.end_mark.index
        style = _STYLES.get(event.style, "plain")
        text = event.value
        if self.shield.hides:
            text = self.shield.restore(text, escapes_decoded=style == "double")
        if style == "double" and has_surrogate(text):
            place = lone_escape(self.text, start, end)
            self.findings.add("lone-surrogate", "an escape of half a surrogate pair is not a character", *place)
            text = without_surrogates(text)
        if style in ("literal", "folded"):
            end = _block_end(self.text, start, end, text)
        value = self._value(event, text, start, end)
        node = Scalar(value, text, self.findings.span(start, end), style)
        built = _Built(node, 1, len(text))
        if event.anchor:
            self.anchors[event.anchor] = built
        self.nodes += 1
        self._attach(built, end)

    def on_start(self, event: Any, *, mapping: bool) -> None:
        """Take the beginning of a mapping or sequence."""
        start = event.start_mark.index
        if len(self.frames) >= MAX_DEPTH:
            self._too_deep(start, start + 1)
        tag = event.tag
        if tag not in (None, "!", _COLLECTION_TAGS[type(event).__name__]):
            self._refuse_tag(tag, start)
        if event.anchor:
            self.anchors[event.anchor] = None
        self.nodes += 1
        self.frames.append(_Frame(mapping, start, max(start, event.end_mark.index), event.anchor))

    def on_end(self, event: Any) -> None:
        """Take the end of the innermost collection; only flow style has an end mark of its own."""
        flow = event.end_mark.index > event.start_mark.index
        self._finish(event.end_mark.index if flow else None)

    def on_alias(self, event: Any) -> None:
        """Take an alias: it stands for the anchored node, at its own place."""
        start, end = event.start_mark.index, event.end_mark.index
        built = self._aliased(event.anchor, start, end)
        node = built.node
        span = self.findings.span(start, end)
        if isinstance(node, Scalar):
            node = Scalar(node.value, node.text, span, node.style)
        else:
            node = Mapping(node.entries, span) if isinstance(node, Mapping) else Sequence(node.items, span)
        self._attach(_Built(node, built.nodes, built.characters, built.levels), end)

    def close(self) -> Node | None:
        """Return the tree as far as it came; collections that are still open end where they are, without more
        problems."""
        self.closing = True
        while self.frames:
            self._finish(None)
        return self.root

    # Scalars

    def _value(self, event: Any, text: str, start: int, end: int) -> Value:
        tag = event.tag
        try:
            if tag is None:
                return core_value(text) if event.implicit[0] else text
            return text if tag == "!" else tagged_value(tag, text)
        except TooManyDigits:
            message = f"an integer of more than {MAX_INTEGER_DIGITS:,} digits"
            self.findings.add("yaml-syntax", message, start, end, notes=("Quote it if it is meant as text.",))
        except NotOfTag as problem:
            name = tag.removeprefix(_CORE_TAG)
            self.findings.add("yaml-syntax", f"{shown(text)} is not {problem}, as its tag `!!{name}` says", start, end)
        except KeyError:
            self._refuse_tag(tag, start)
        return text

    def _refuse_tag(self, tag: str, start: int) -> None:
        written = _WRITTEN_TAG.match(self.text, start)
        start, end = written.span(1) if written else (start, start + 1)
        name = "!!" + tag.removeprefix(_CORE_TAG) if tag.startswith(_CORE_TAG) else tag
        notes = ("Expected plain data without tags; quote the value if it starts with `!`.",)
        self.findings.add("custom-tag", f"the tag {shown(name)} has no meaning here", start, end, notes=notes)

    # Aliases

    def _aliased(self, name: str, start: int, end: int) -> _Built:
        if name not in self.anchors:
            notes = ("A value that starts with `*` is a YAML alias; quote it if it is meant as text.",)
            self.findings.add(
                "yaml-syntax", f"no anchor `&{name}` stands before the alias `*{name}`", start, end, notes=notes
            )
            return self._in_place_of_alias(start, end)
        built = self.anchors[name]
        if built is None:
            self.findings.add("alias-bomb", f"the alias `*{name}` stands inside its own anchor", start, end)
            return self._in_place_of_alias(start, end)
        if len(self.frames) + built.levels > MAX_DEPTH:
            self._too_deep(start, end)
        self.nodes += built.nodes
        self.alias_characters += built.characters
        if self.nodes > MAX_ALIAS_NODES or self.alias_characters > MAX_ALIAS_CHARACTERS:
            message = f"aliases expand this YAML beyond {MAX_ALIAS_NODES:,} nodes"
            if self.nodes <= MAX_ALIAS_NODES:
                message = f"aliases add more than {MAX_ALIAS_CHARACTERS:,} characters to this YAML"
            self.findings.add("alias-bomb", message, start, end, notes=("Nothing after this alias was read.",))
            raise StopReading
        return built

    def _in_place_of_alias(self, start: int, end: int) -> _Built:
        self.nodes += 1
        return _Built(Scalar(None, self.text[start:end], self.findings.span(start, end)))

    # Collections

    def _too_deep(self, start: int, end: int) -> None:
        message = f"more than {MAX_DEPTH} levels of nesting"
        self.findings.add("nested-too-deep", message, start, end, notes=("Nothing after this place was read.",))
        raise StopReading

    def _attach(self, built: _Built, end: int) -> None:
        if not self.frames:
            self.root = built.node
            return
        frame = self.frames[-1]
        if end > frame.end:
            frame.end = end
        frame.nodes += built.nodes
        frame.characters += built.characters
        if built.levels >= frame.levels:
            frame.levels = built.levels + 1
        if not frame.mapping:
            frame.children.append(built.node)
        elif frame.key is not None:
            frame.children.append(Entry(frame.key, built.node))
            frame.key = None
        elif frame.key_dropped:
            frame.key_dropped = False
        else:
            self._attach_key(frame, built.node)

    def _attach_key(self, frame: _Frame, node: Node) -> None:
        span = node.span
        start, end = span.start - self.findings.offset, span.end - self.findings.offset
        frame.key_dropped = True
        if self.closing:
            return
        if not isinstance(node, Scalar):
            notes = ("A template action as a value needs quotes.",) if self._in_action(start) else ()
            self.findings.add("complex-key", "the key of a mapping must be a single value", start, end, notes=notes)
        elif node.text in frame.keys:
            first = Annotation(frame.keys[node.text], "first used here")
            notes = ("The first value was kept.",)
            self.findings.add(
                "duplicate-key", f"duplicate key {shown(node.text)}", start, end, notes=notes, first=first
            )
        else:
            frame.keys[node.text] = span
            frame.key, frame.key_dropped = node, False
            if node.text == "<<" and node.style == "plain":
                notes = ("Merging is not part of YAML 1.2; write the keys out.",)
                self.findings.add(
                    "merge-key", "`<<` is an ordinary key here, nothing is merged", start, end, notes=notes
                )

    def _in_action(self, start: int) -> bool:
        return self.text[max(0, start - 1) : start + 1] == "{{"

    def _finish(self, end: int | None) -> None:
        frame = self.frames.pop()
        end = frame.end if end is None else end
        span = self.findings.span(frame.start, end)
        children = tuple(frame.children)
        node: Node = Mapping(children, span) if frame.mapping else Sequence(children, span)
        built = _Built(node, frame.nodes, frame.characters, frame.levels)
        if frame.anchor:
            self.anchors[frame.anchor] = built
        self._attach(built, end)


def _block_end(text: str, start: int, end: int, value: str) -> int:
    """Return the end of a block scalar without the empty lines after it, unless they are part of its value."""
    if value.endswith("\n\n") or value == "\n":
        return end
    last = end
    while last > start and text[last - 1] in "\r\n":
        last -= 1
    if last == end:
        return end
    return last + (2 if text.startswith("\r\n", last) else 1)
