"""The neutral value in the middle of every conversion (X31), the data that a document carries for other forms, and the
report of what became of each part.

A `Piece` is the content of a document, independent of its form: a few slots (`name`, `description`, `input` …), texts
with or without roles, and for each form the fields that only it has. Two pieces are compared part by part (`flat`):
parts that are missing when a written document is read again are put into a `Carry`, which the document stores where its
form ignores it. So a conversion reports everything that it loses (X31).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict, TypeGuard, cast

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from prosa.data import Value
from prosa.regex import regex

Level: TypeAlias = Literal["moved", "guessed", "lost", "manual"]
"""``moved``: carried along where the target form ignores it. ``guessed``: written although the source does not state
it. ``lost``: not in the target. ``manual``: for a person to do."""

LEVELS: tuple[Level, ...] = ("moved", "guessed", "lost", "manual")


class Note(Struct, frozen=True):
    """What a reader or a writer has to say of a part. ``key`` names the part (`neutral.flat`), ``to`` where in the
    target it is; an ``offset`` points into the source where the part as a whole is too wide."""

    level: Level
    key: str
    message: str
    to: str = ""
    offset: int | None = None


class Item(Struct, frozen=True):
    """One line of a report. ``line`` is 1-based; ``pointer`` is a JSON Pointer into the front matter or the JSON of the
    source, empty for its body; ``part`` the key of the part that it is about (`neutral.flat`)."""

    level: Level
    path: str
    line: int
    pointer: str
    to: str
    message: str
    part: str = ""


class Report(Struct, frozen=True):
    """The report of one conversion: ``kept`` parts are expressed by the target itself."""

    kept: int
    items: tuple[Item, ...] = ()

    @property
    def loses(self) -> bool:
        """Whether anything is lost."""
        return any(item.level == "lost" for item in self.items)

    def data(self) -> dict[str, Value]:
        """Return the report as plain data, as `--report json` prints it."""
        return {"kept": self.kept, "items": [_data(item) for item in self.items]}


def _data(item: Item) -> dict[str, Value]:
    place: dict[str, Value] = {"path": item.path, "line": item.line, "pointer": item.pointer}
    return {"level": item.level, "from": place, "to": item.to, "message": item.message}


# The neutral value in the middle of every conversion, and the data that a document carries for other forms.

FormName: TypeAlias = Literal[
    "program",
    "skill",
    "command",
    "agent",
    "instructions",
    "dotprompt",
    "chat",
    "openai",
    "llm",
    "markdown",
    "magi",
    "ymj",
    "mdh",
]

TextKind: TypeAlias = Literal["text", "go"]
"""What the texts are: data, or templates in Go's language (X11)."""

SLOTS: Mapping[str, type | tuple[type, ...]] = {
    "id": str,
    "name": str,
    "title": str,
    "description": str,
    "author": str,
    "license": str,
    "version": str,
    "lang": str,
    "created": str,
    "updated": str,
    "url": str,
    "tags": list,
    "globs": list,
    "hint": str,
    "host-model": str,
    "tools": list,
    "model": str,
    "sampling": dict,
    "input": (dict, bool),
    "output": (dict, bool),
    "imports": list,
    "servers": list,
}
"""What several forms say, and the type it has. `model` is a model as its service names it, `host-model` one as the
program around an agent does (`sonnet`)."""

_NUMBER = regex(r"[0-9]{1,9}")

_TEXT_LISTS = frozenset({"tags", "globs", "tools", "imports"})


class Said(Struct, frozen=True):
    """One text. Without a role it is the body of a document, with one a message; one that begins with `_` is hidden."""

    text: str
    role: str | None = None
    name: str | None = None


class Piece(Struct, frozen=True):
    """The content of a document. ``own`` are the fields of single forms, by form. ``bare`` is true if the source has
    no front matter, so that its text starts with the file."""

    form: FormName
    slots: Mapping[str, Value]
    said: tuple[Said, ...]
    template: TextKind = "text"
    own: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    bare: bool = False

    @property
    def text(self) -> str:
        """The first text."""
        return self.said[0].text if self.said else ""

    @property
    def is_conversation(self) -> bool:
        """Whether the texts are messages."""
        return len(self.said) != 1 or self.said[0].role is not None

    def slot(self, name: str) -> Value:
        """Return the value of a slot, None if absent."""
        return self.slots.get(name)

    def own_of(self, form: FormName) -> Mapping[str, Value]:
        """Return the fields of a form."""
        return self.own.get(form, {})


class Marks(Struct, frozen=True):
    """What the reader of a written document must know to restore its content.

    ``template``: the text is a template although its form has none. ``literal``: the template is a constant text.
    ``chat``: the body is a chat. ``escaped``: headings of messages have a backslash in front. ``request``: the text
    ends with the request that a program takes. ``section`` is the digest of a section at the end that describes
    parameters.
    """

    template: bool = False
    literal: bool = False
    chat: bool = False
    escaped: bool = False
    request: bool = False
    section: str = ""

    def data(self) -> dict[str, Value]:
        """Return the marks that are set."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if getattr(self, name)}


NO_MARKS = Marks()


class Carry(Struct, frozen=True):
    """The data that a document carries for other forms. ``keep`` are parts by their key, ``added`` the keys of parts
    that only the document has; ``says`` are digests of the document's own version of such a part: once that is edited,
    it counts."""

    form: str = ""
    marks: Marks = NO_MARKS
    keep: Mapping[str, Value] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.keep or self.added) or self.marks != NO_MARKS

    def data(self) -> dict[str, Value]:
        """Return the carry as plain data."""
        values: dict[str, Value] = {
            "from": self.form,
            "marks": self.marks.data(),
            "keep": dict(self.keep),
            "added": list(self.added),
            "says": dict(self.says),
        }
        return {name: value for name, value in values.items() if value}


NO_CARRY = Carry()


def carry_of(data: Value) -> Carry | None:
    """Return the carry in plain data, possibly written by hand; None if it is not one. Malformed parts are left out."""
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            return None
    if not isinstance(data, dict) or not _is_shallow(data):
        return None
    form, marks = data.get("from"), data.get("marks")
    keep, says, added = data.get("keep", {}), data.get("says", {}), data.get("added", [])
    if not isinstance(form, str) or not isinstance(keep, dict) or not isinstance(says, dict):
        return None
    if not isinstance(added, list):
        return None
    return Carry(
        form,
        _marks(marks) if isinstance(marks, dict) else NO_MARKS,
        {key: value for key, value in keep.items() if _fits(key, value)},
        tuple(key for key in added if isinstance(key, str) and key not in ("template", "roles") and _is_part(key)),
        {key: value for key, value in says.items() if isinstance(value, str)},
    )


MAX_NESTED = 128
"""Levels of data in a carry; a document has half as many."""


def _is_shallow(data: dict[str, Value]) -> bool:
    level: list[dict[str, Value] | list[Value]] = [data]
    for _ in range(MAX_NESTED):
        inner = (container.values() if isinstance(container, dict) else container for container in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
        if not level:
            return True
    return False


def _marks(data: Mapping[str, Value]) -> Marks:
    known = {name: data[name] for name in Marks.__struct_fields__ if name in data}
    return msgspec.convert({name: mark for name, mark in known.items() if isinstance(mark, _MARK[name])}, Marks)


_MARK: Mapping[str, type] = {name: str if name == "section" else bool for name in Marks.__struct_fields__}


def _fits(key: str, value: Value) -> bool:
    """Return whether a part may have the value in a carry."""
    if key in SLOTS:
        return is_slot(key, value)
    if key == "template":
        return value in ("text", "go")
    if key == "roles":
        return isinstance(value, list) and all(_is_role(role) for role in value)
    if not _is_part(key):
        return False
    if key.startswith("text/"):
        return isinstance(value, str) or _is_patch(value)
    return key.startswith("own/")


def _is_part(key: str) -> bool:
    """Return whether a key has the form of those of `flat`: a text its number, a field its form."""
    if key.startswith("text/"):
        return _NUMBER.fullmatch(key, 5) is not None
    return not key.startswith("own/") or key.count("/") >= 2


def is_slot(name: str, value: Value) -> bool:
    """Return whether a value is one that a slot may have."""
    wanted = SLOTS[name]
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in _types(wanted)):
        return False
    item = str if name in _TEXT_LISTS else dict if name == "servers" else None
    return item is None or (isinstance(value, list) and all(isinstance(element, item) for element in value))


def _types(wanted: type | tuple[type, ...]) -> tuple[type, ...]:
    return wanted if isinstance(wanted, tuple) else (wanted,)


def _is_role(role: Value) -> bool:
    return isinstance(role, list) and len(role) == 2 and all(part is None or isinstance(part, str) for part in role)


def flat(piece: Piece) -> dict[str, Value]:
    """Return the parts of a piece, by key: slots, `template`, `roles`, each text, and each field of a form of its
    own."""
    parts: dict[str, Value] = {name: piece.slots[name] for name in SLOTS if piece.slots.get(name) is not None}
    parts["template"] = piece.template
    parts["roles"] = [[message.role, message.name] for message in piece.said]
    parts |= {f"text/{number}": message.text for number, message in enumerate(piece.said)}
    return parts | {f"own/{form}/{name}": value for form, own in piece.own.items() for name, value in own.items()}


def digest(value: Value) -> str:
    """Return a short digest of plain data."""
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, allow_nan=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def carried(piece: Piece, back: Piece, marks: Marks) -> Carry:
    """Return what a document that reads as ``back`` must carry to be read as ``piece``."""
    wanted, stated = flat(piece), flat(back)
    keep: dict[str, Value] = {}
    says: dict[str, str] = {}
    for key, value in wanted.items():
        actual = stated.get(key)
        if key in stated and same(value, actual):
            continue
        patch = _patch(value, actual) if isinstance(value, str) and key.startswith("text/") else None
        keep[key] = value if patch is None else patch
        if patch is None and key in stated:
            says[key] = digest(actual)
    added = tuple(key for key in stated if key not in wanted and not key.startswith("text/"))
    return Carry(piece.form, marks, keep, added, says | {key: digest(stated[key]) for key in added})


def same(one: Value, other: Value) -> bool:
    """Return whether two values are the same data: `1` is neither `true` nor `1.0`."""
    return digest(one) == digest(other)


def restored(native: Piece, carry: Carry) -> tuple[Piece, tuple[Note, ...]]:
    """Return the piece from a document and its carry. Edits in the document take precedence."""
    parts = flat(native)
    notes: list[Note] = []
    for key in (*carry.keep, *carry.added):
        guard, value = carry.says.get(key), carry.keep.get(key)
        if guard is not None and (key not in parts or digest(parts[key]) != guard):
            message = f"{in_words(key)} was edited after the conversion, and the edited text counts"
            notes.append(Note("lost", key, message))
        elif key not in carry.keep:
            parts.pop(key, None)
        elif key.startswith("text/") and _is_patch(value):
            parts[key] = _patched(str(parts.get(key, "")), value)
        else:
            parts[key] = value
    return _whole(native, parts), tuple(notes)


def in_words(key: str) -> str:
    """Return a part in words."""
    if key.startswith("text/"):
        return "the text" if key == "text/0" else f"the text of message {int(key[5:]) + 1}"
    if key.startswith("own/"):
        _, form, name = key.split("/", 2)
        return f"the wording of the {form}" if name.startswith("=") else f"`{name}` of the {form}"
    return "that the text is a template" if key == "template" else "the roles" if key == "roles" else f"`{key}`"


def _whole(native: Piece, parts: Mapping[str, Value]) -> Piece:
    """Return the piece with these parts."""
    roles = cast("list[list[str | None]]", parts["roles"])  # as `flat` gives them, or `_fits` has checked
    texts = [str(parts.get(f"text/{number}") or "") for number in range(len(roles))]
    own: dict[str, dict[str, Value]] = {}
    for key, value in parts.items():
        if key.startswith("own/"):
            _, form, name = key.split("/", 2)
            own.setdefault(form, {})[name] = value
    return replace(
        native,
        slots={name: parts[name] for name in SLOTS if parts.get(name) is not None},
        template=cast("TextKind", parts["template"]),
        said=tuple(Said(text, role, name) for text, (role, name) in zip(texts, roles, strict=True)),
        own=own,
    )


class _Patch(TypedDict, total=False):
    """What makes one text of another: characters less at both ends, then text around it and other line ends."""

    cut: int
    chop: int
    before: str
    after: str
    crlf: bool


MAX_AROUND = 256
"""Characters around a text that a patch may hold; more is another text."""


def _patch(wanted: str, actual: Value) -> dict[str, Value] | None:
    """Return the patch between two texts that only differ in line ends and surrounding space; None for others."""
    if not isinstance(actual, str):
        return None
    for crlf in (False, True):
        inner = actual.replace("\n", "\r\n") if crlf else actual
        for cut, chop in ((0, 0), (1, 0), (0, 1), (1, 1)):
            core = inner[cut : len(inner) - chop]
            cuts_blank = (not cut or inner[:1] in "\r\n") and (not chop or inner[-1:] in "\r\n")
            at = wanted.find(core) if cuts_blank and core.strip() else -1
            if at >= 0 and len(wanted) - len(core) <= MAX_AROUND:
                patch: dict[str, Value] = {
                    "cut": cut,
                    "chop": chop,
                    "before": wanted[:at],
                    "after": wanted[at + len(core) :],
                    "crlf": crlf,
                }
                return {name: value for name, value in patch.items() if value}
    return None


def _patched(actual: str, patch: _Patch) -> str:
    inner = actual.replace("\n", "\r\n") if patch.get("crlf") else actual
    core = inner[patch.get("cut", 0) : len(inner) - patch.get("chop", 0)]
    return f"{patch.get('before', '')}{core}{patch.get('after', '')}"


def _is_patch(value: Value) -> TypeGuard[_Patch]:
    kinds = {"cut": int, "chop": int, "before": str, "after": str, "crlf": bool}
    return isinstance(value, dict) and all(
        name in kinds and isinstance(member, kinds[name]) for name, member in value.items()
    )
