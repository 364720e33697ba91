"""Handlebars, as prompt files use it, from and to templates in Go's language.

In: a text in one of the two. Out: the same text in the other, with the messages that `{{role}}` starts; constructs
without a counterpart (helpers, partials, history, media) become text, and are reported. Values, `if`, `unless`,
`each`, `with` and their `else` have one. A block alone on its line removes the line, as in Handlebars but not in Go.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from prosa.convert.body import spelled
from prosa.convert.neutral import Said
from prosa.regex import regex
from prosa.template import Template, TemplateError, nodes

ROLES = {"system": "system", "user": "user", "model": "assistant"}
MODEL_ROLES = {value: key for key, value in ROLES.items()}

_TAG = regex(
    r"\{\{(?P<left>~?)(?:!--(?:(?!--~?\}\}|\{\{!--).)*--(?P<a>~?)\}\}"
    r"|(?P<raw>\{)(?P<three>[^{}]*?)\}(?P<b>~?)\}\}"
    r"|(?P<body>[^{}]*?)(?P<c>~?)\}\})",
    re.DOTALL,
)
_NAME = regex(r"[A-Za-z_][\w-]*")
_PATH = regex(r"(?:this|\.|@root|@index|(?:\.\./)+)?(?:[./]?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)?")
_ROLE = regex(r"role\s+(?:\"(?P<one>\w+)\"|'(?P<two>\w+)')")
_LITERAL = regex(r"\"[^\"\\\r\n]*\"|-?\d+(?:\.\d+)?|true|false")
_BEFORE = regex(r"(?:(?<=\n)|\A)[ \t]*\Z")
_AFTER = regex(r"\A[ \t]*(?:\r?\n|\Z)")
_SPACE = regex(r"\s*")


class _Piece(Struct):
    """A piece of the source: text, or a tag with its content."""

    kind: str
    text: str
    inner: str = ""


def from_handlebars(text: str) -> tuple[tuple[Said, ...], bool, tuple[str, ...]]:
    """Return the messages as Go templates, whether they are templates, and the tags that have no counterpart."""
    return _Reading(_stripped(_pieces(text))).run()


def _pieces(text: str) -> list[_Piece]:
    """Return text and tags; `\\{{` is text up to the next tag, as in Handlebars."""
    pieces: list[_Piece] = []
    at = begun = 0
    while (opened := text.find("{{", at)) >= 0:
        slashes = _slashes(text, begun, opened)
        if slashes == 1:
            until = text.find("{{", opened + 2)
            until = len(text) if until < 0 else until
            while until < len(text) and text[until - 1] == "\\" and until > opened + 2:
                until -= 1
            pieces += [_Piece("text", text[begun : opened - 1]), _Piece("text", text[opened:until])]
            at = begun = until
            continue
        tag = _TAG.match(text, opened)
        if tag is None:
            at = opened + 2
            continue
        pieces.append(_Piece("text", text[begun : opened - 1] if slashes > 1 else text[begun:opened]))
        pieces.append(_tag(tag, pieces[-1]))
        at = begun = tag.end()
        if tag["a"] or tag["b"] or tag["c"]:
            begun = at = _SPACE.match(text, begun).end()  # type: ignore[union-attr]
    pieces.append(_Piece("text", text[begun:]))
    return pieces


def _slashes(text: str, start: int, end: int) -> int:
    """Return the backslashes in front of an offset."""
    at = end
    while at > start and text[at - 1] == "\\":
        at -= 1
    return end - at


def _tag(tag: re.Match[str], before: _Piece) -> _Piece:
    if tag["left"]:
        before.text = before.text.rstrip()
    inner = (tag["three"] if tag["raw"] else tag["body"] or "!").strip()
    if inner.startswith("!"):
        return _Piece("comment", tag[0])
    first = inner[:1]
    if first == "#" or (first == "^" and len(inner) > 1):
        return _Piece("open", tag[0], inner)
    if first == "/":
        return _Piece("close", tag[0], inner[1:].strip())
    if inner == "^" or inner.split()[:1] == ["else"]:
        return _Piece("else", tag[0], "else" if inner == "^" else inner)
    return _Piece("partial" if first == ">" else "value", tag[0], inner.removeprefix("&").strip())


def _stripped(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces without the lines of blocks and comments that stand alone on them."""
    alone = [at for at, piece in enumerate(pieces) if piece.kind in _LINES and _is_alone(pieces, at)]
    for at in alone:
        pieces[at - 1].text = _BEFORE.sub("", pieces[at - 1].text)
    for at in alone:
        pieces[at + 1].text = _AFTER.sub("", pieces[at + 1].text, count=1)
    return pieces


_LINES = ("open", "close", "else", "comment")


def _is_alone(pieces: Sequence[_Piece], at: int) -> bool:
    """Return whether nothing but blank space stands on the line of a tag; between two tags there is always a text."""
    before, after = pieces[at - 1].text, pieces[at + 1].text
    begins = "\n" in before or at == 1
    ends = "\n" in after or at == len(pieces) - 2
    return begins and ends and bool(_BEFORE.search(before)) and bool(_AFTER.match(after))


MAX_BLOCKS = 50
"""Blocks inside one another; a template has not many more."""

_SCOPES = ("each", "with")


class _Reading(Struct):
    """The state of reading a text. ``blocks`` are the open ones: what closes each, and whether it has a counterpart."""

    pieces: list[_Piece]
    said: list[Said] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    role: str | None = None
    blocks: list[tuple[str, bool]] = field(default_factory=list)
    scopes: int = 0
    unknown: list[str] = field(default_factory=list)
    acts: bool = False

    def run(self) -> tuple[tuple[Said, ...], bool, tuple[str, ...]]:
        for piece in self.pieces:
            if piece.kind == "text":
                self.parts.append(spelled(piece.text) if "{{" in piece.text else piece.text)
            elif piece.kind != "comment":
                self.tag(piece)
        while self.blocks:
            name, known = self.blocks.pop()
            self.unknown.append(f"{{{{#{name}}}}}")
            self.parts.append("{{ end }}" if known else "")
        self.flush()
        messages = tuple(self.said) or (Said(""),)
        if not self.acts and not self.unknown:
            messages = tuple(Said(_plain(message.text), message.role) for message in messages)
        return messages, self.acts or bool(self.unknown), tuple(self.unknown)

    def flush(self) -> None:
        text = "".join(self.parts)
        self.parts = []
        if self.role is not None or text.strip():
            self.said.append(Said(text, self.role))

    def tag(self, piece: _Piece) -> None:
        role = _ROLE.fullmatch(piece.inner) if piece.kind == "value" else None
        if role and not self.blocks and (role["one"] or role["two"]) in ROLES:
            self.flush()
            if self.said and self.said[0].role is None:
                self.said[0] = Said(self.said[0].text, "user")
            self.role = ROLES[role["one"] or role["two"]]
            return
        action = self.action(piece)
        if action is None:
            self.unknown.append(piece.text)
            self.parts.append(spelled(piece.text))
        else:
            self.acts = True
            self.parts.append(action)

    def action(self, piece: _Piece) -> str | None:
        """Return the action of a tag; None where there is none."""
        if piece.kind == "value":
            path = self.path(piece.inner)
            return None if path is None else f"{{{{ {path} }}}}"
        if piece.kind == "open":
            return self.opened(piece.inner)
        if piece.kind == "close":
            if not self.blocks or self.blocks[-1][0] != piece.inner:
                return None
            name, known = self.blocks.pop()
            self.scopes -= known and name in _SCOPES
            return "{{ end }}" if known else None
        if piece.kind == "else" and self.blocks and self.blocks[-1][1]:
            rest = piece.inner.removeprefix("else").strip()
            if not rest:
                return "{{ else }}"
            condition = self.condition(rest.split(None, 1)) if self.blocks[-1][0] != "each" else None
            return None if condition is None else f"{{{{ else {condition} }}}}"
        return None

    def opened(self, inner: str) -> str | None:
        words = inner.lstrip("#^").strip().split(None, 1)
        if inner.startswith("^"):
            words = ["unless", *words[:1]]
        condition = self.condition(words) if len(self.blocks) < MAX_BLOCKS else None
        name = words[0] if words else ""
        self.blocks.append((name, condition is not None))
        self.scopes += condition is not None and name in _SCOPES
        return None if condition is None else f"{{{{ {condition} }}}}"

    def condition(self, words: Sequence[str]) -> str | None:
        if len(words) != 2:
            return None
        kind, rest = words
        if kind in ("ifEquals", "unlessEquals"):
            return self.comparison("eq" if kind == "ifEquals" else "ne", rest)
        path = self.path(rest)
        if path is None or path.startswith("$index"):
            return None
        wanted = {"if": f"if {path}", "unless": f"if not {path}", "each": f"range {path}", "with": f"with {path}"}
        return wanted.get(kind)

    def comparison(self, name: str, rest: str) -> str | None:
        words = regex(r"\"[^\"]*\"|\S+").findall(rest)
        operands = [word if _LITERAL.fullmatch(word) else self.path(word) for word in words]
        return f"if {name} {operands[0]} {operands[1]}" if len(operands) == 2 and None not in operands else None

    def path(self, text: str) -> str | None:
        """Return a path in Go's notation; None for helpers, and for parents above the root."""
        if not _PATH.fullmatch(text) or not text or text in ("else", "history") or text.startswith("@index"):
            return None
        up = text.count("../")
        rest = text.replace("../", "").removeprefix("@root").removeprefix("this").lstrip("./")
        names = rest.replace("/", ".").split(".") if rest else []
        if text.startswith("@root") or (up and up == self.scopes):
            return "$" + "".join(f".{name}" for name in names)
        if up:
            return None
        return "".join(f".{name}" for name in names) or "."


_SPELLED = regex(r'\{\{ "(\{*)" \}\}')


def _plain(template: str) -> str:
    """Return the text of pieces that contain no actions."""
    return _SPELLED.sub(lambda match: match[1], template)


def to_handlebars(template: str) -> str | None:
    """Return a Go template in Handlebars; None if Handlebars cannot express it."""
    try:
        tree = Template(template).tree
    except TemplateError:
        return None
    if tree.defined:
        return None
    written = list(_written(tree.body, 0))
    if None in written:
        return None
    pieces: list[_Piece] = [_Piece("text", "")]
    for piece in written:
        assert piece is not None
        if piece.kind == "text" and pieces[-1].kind == "text":
            pieces[-1].text += piece.text
        else:
            pieces += [piece] if piece.kind == "text" or pieces[-1].kind == "text" else [_Piece("text", ""), piece]
    if pieces[-1].kind != "text":
        pieces.append(_Piece("text", ""))
    return "".join(_guarded(pieces, at) for at in range(len(pieces)))


def _guarded(pieces: Sequence[_Piece], at: int) -> str:
    """Return a piece as it is written: a block alone on its line gets a comment beside it, which keeps the line."""
    piece = pieces[at]
    if piece.kind == "text":
        return escaped(piece.text, before_tag=at + 1 < len(pieces))
    return f"{piece.text}{{{{!}}}}" if piece.kind in _LINES and _is_alone(pieces, at) else piece.text


def escaped(text: str, *, before_tag: bool = False) -> str:
    """Return a text that Handlebars renders unchanged. A backslash before a tag is doubled."""
    first, *rest = text.split("{{")
    done, last = [first], first
    for part in rest:
        done.append(("\\{{!}}\\{{" if last.endswith("\\") else "\\{{") + part)
        last = part or "{{"
    return "".join(done) + ("\\" if before_tag and last.endswith("\\") else "")


def _written(body: nodes.Body, depth: int) -> Iterator[_Piece | None]:
    for node in body:
        match node:
            case nodes.Text():
                yield _Piece("text", node.text)
            case nodes.Action():
                yield from _value(node.pipeline, depth)
            case nodes.If() | nodes.With():
                yield from _branches(node, depth)
            case nodes.Range():
                path = _path(node.pipeline, depth)
                yield _Piece("open", f"{{{{#each {path}}}}}") if path else None
                yield from _written(node.body, depth + 1)
                if node.otherwise:
                    yield _Piece("else", "{{else}}")
                    yield from _written(node.otherwise, depth)
                yield _Piece("close", "{{/each}}")
            case _:
                yield None


def _value(pipeline: nodes.Pipeline, depth: int) -> Iterator[_Piece | None]:
    operand = _operand(pipeline)
    if isinstance(operand, nodes.Literal) and isinstance(operand.value, str):
        yield _Piece("text", operand.value)
    else:
        path = _path(pipeline, depth)
        yield _Piece("value", f"{{{{{path}}}}}") if path else None


def _branches(node: nodes.If | nodes.With, depth: int) -> Iterator[_Piece | None]:
    kind = "if" if isinstance(node, nodes.If) else "with"
    inner = depth + (kind == "with")
    first, *rest = node.arms
    if rest:
        yield None
        return
    path, negated = _path(first.pipeline, depth), False
    if path is None and kind == "if":
        path, negated = _negated(first.pipeline, depth), True
    word = "unless" if negated else kind
    yield _Piece("open", f"{{{{#{word} {path}}}}}") if path else None
    yield from _written(first.body, inner)
    if node.otherwise:
        yield _Piece("else", "{{else}}")
        yield from _written(node.otherwise, depth)
    yield _Piece("close", f"{{{{/{word}}}}}")


def _operand(pipeline: nodes.Pipeline) -> nodes.Operand | None:
    """Return the operand of a pipeline that consists of one alone."""
    if pipeline.declares or len(pipeline.commands) != 1 or len(pipeline.commands[0].operands) != 1:
        return None
    return pipeline.commands[0].operands[0]


def _negated(pipeline: nodes.Pipeline, depth: int) -> str | None:
    if pipeline.declares or len(pipeline.commands) != 1 or len(pipeline.commands[0].operands) != 2:
        return None
    first, second = pipeline.commands[0].operands
    return _spelled_path(second, depth) if isinstance(first, nodes.Word) and first.name == "not" else None


def _path(pipeline: nodes.Pipeline, depth: int) -> str | None:
    operand = _operand(pipeline)
    return None if operand is None else _spelled_path(operand, depth)


def _spelled_path(operand: nodes.Operand, depth: int) -> str | None:
    match operand:
        case nodes.Dot():
            return "this"
        case nodes.Field():
            return _joined("", operand.names)
        case nodes.Variable() if operand.name == "$" and operand.names:
            return _joined("../" * depth, operand.names)
        case _:
            return None


def _joined(prefix: str, names: Sequence[str]) -> str | None:
    known = all(_NAME.fullmatch(name) and name.isascii() for name in names)
    taken = names[0] in ("else", "this", "history", "role", "json", "media", "section") if names else True
    return prefix + ".".join(names) if known and (not taken or prefix) else None
