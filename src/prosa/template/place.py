"""What is at an offset of a template that is being edited.

In: a text and an offset. Out: a `TemplatePlace` if the offset lies in an action, closed or not; otherwise None. The
scope is computed from the tokens before the offset, so it is known even if the template does not parse. Never fails,
sees no data.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from prosa.regex import regex
from prosa.source import Span
from prosa.template.lex import CLOSE, OPEN, Token, lex
from prosa.template.values import Scope

Path: TypeAlias = tuple[str | None, ...]
"""A way into the data; None stands for any element of a list or map."""

MAX_BLOCKS: Final = 200
"""Maximum nesting of blocks; deeper ones are not followed."""

_FIELD_BACK = regex(r"(?:\.|(?<![\w-]))[\w-]*+\Z")
_WORD_BACK = regex(r"(?:\$|(?<!\w))\w*+\Z")
_WORD = regex(r"[\w-]*")
_NAME = regex(r"\w*")
_QUOTED = regex(r"[^\"\r\n{}]*")
_DEFINED = regex(r"\{\{-?\s*(?:define|block)\s+\"([^\"\n]{1,200})\"")

Opened: TypeAlias = Literal["if", "range", "with", "define"]


class TemplatePlace(Struct, frozen=True):
    """A place in an action. ``slot``: a name of the data after a dot, a variable after `$`, a word or nothing yet, the
    name of a template in quotes. ``span`` covers the written text without its dot, `$` or quotes; ``typed`` its part
    before the offset.

    ``path`` is the value whose names may follow the dot, None if unknown; ``dot`` is the meaning of `.`. ``variables``
    are those in scope with their values, ``blocks`` the open blocks, outermost first. ``first`` is true if nothing
    precedes the offset in the action, ``piped`` after a `|`, ``closed`` if the action is.
    """

    slot: Literal["name", "variable", "word", "template"]
    span: Span
    typed: str
    path: Path | None = None
    dot: Path | None = ()
    variables: Mapping[str, Path | None] = {}
    blocks: tuple[Opened, ...] = ()
    first: bool = False
    piped: bool = False
    closed: bool = False


def template_place(text: str, offset: int) -> TemplatePlace | None:
    """Return the place at an offset of a template."""
    opened = _opened(text, offset)
    if opened < 0:
        return None
    walk = _ScopeWalk()
    for action in _actions(text[:opened]):
        walk.action(action)
    return _place(text, opened, offset, walk)


def template_names(text: str) -> tuple[str, ...]:
    """Return the names of the templates that a text defines."""
    return tuple(dict.fromkeys(match[1] for match in _DEFINED.finditer(text)))


def _opened(text: str, offset: int) -> int:
    """Return where the action around the offset starts; -1 outside of actions and in comments."""
    opened = text.rfind(OPEN, 0, offset)
    if opened < 0 or offset < opened + len(OPEN) or text.startswith(("/*", "- /*"), opened + len(OPEN)):
        return -1
    tokens, _ = lex(text[opened:offset])
    return -1 if any(token.kind == "close" for token in tokens) else opened


def _actions(text: str) -> list[list[Token]]:
    """Return the tokens of each action without blanks."""
    actions: list[list[Token]] = []
    for token in lex(text)[0]:
        if token.kind == "open":
            actions.append([])
        elif actions and token.kind not in ("text", "space", "close", "end"):
            actions[-1].append(token)
    return actions


class _Block(Struct):
    """An open block: its word, the scope and the `.` before it; ``inner`` is the scope after its first action, whose
    variables are valid in the whole block."""

    word: Opened
    mark: int
    dot: Path | None
    inner: int = 0


class _ScopeWalk(Struct):
    """The scope after the actions visited so far."""

    dot: Path | None = ()
    scope: Scope[Path | None] = field(default_factory=lambda: Scope[Path | None](()))
    known: set[str] = field(default_factory=set)
    blocks: list[_Block] = field(default_factory=list)

    def action(self, tokens: list[Token]) -> None:
        """Take in one whole action."""
        word = tokens[0].text if tokens and tokens[0].kind == "word" else ""
        if word == "end":
            self._leave()
        elif word == "else":
            self._otherwise(tokens[1:])
        elif word in ("if", "with", "range", "define", "block"):
            if len(self.blocks) < MAX_BLOCKS:
                self._enter(word, tokens[1:])
        else:
            self._declare(tokens)

    def _enter(self, word: str, tokens: list[Token]) -> None:
        opened: Opened = "define" if word in ("define", "block") else word  # type: ignore[assignment]
        self.blocks.append(_Block(opened, self.scope.mark(), self.dot))
        if word == "define":
            self.dot = None
        elif word == "block":
            self.dot = self.value(tokens[1:])
        elif word == "range":
            self._range(tokens)
        else:
            value = self._declare(tokens)
            self.dot = value if word == "with" else self.dot
        self.blocks[-1].inner = self.scope.mark()

    def _range(self, tokens: list[Token]) -> None:
        names, value = self._split(tokens)
        path = self.value(value)
        element = None if path is None else (*path, None)
        for name in names[:-1]:
            self._bind(name, None)
        if names:
            self._bind(names[-1], element)
        self.dot = element

    def _otherwise(self, tokens: list[Token]) -> None:
        if self.blocks:
            self.scope.leave(self.blocks[-1].inner)
            self.dot = self.blocks[-1].dot
            if tokens and tokens[0].text == "with":
                self.dot = self._declare(tokens[1:])
            elif tokens:
                self._declare(tokens[1:])

    def _leave(self) -> None:
        if self.blocks:
            block = self.blocks.pop()
            self.scope.leave(block.mark)
            self.dot = block.dot

    def _declare(self, tokens: list[Token]) -> Path | None:
        """Return the value of a pipeline, assigned to the variable in front of it."""
        names, value = self._split(tokens)
        path = self.value(value)
        for name in names:
            self._bind(name, path)
        return path

    def _split(self, tokens: list[Token]) -> tuple[list[str], list[Token]]:
        at = next((at for at, token in enumerate(tokens[:5]) if token.kind in (":=", "=")), -1)
        names = [token.text for token in tokens[: max(at, 0)] if token.kind == "variable"]
        return (names if at >= 0 and tokens[at].kind == ":=" else []), tokens[at + 1 :]

    def _bind(self, name: str, path: Path | None) -> None:
        self.known.add(name)
        self.scope.declare(name, path)

    def value(self, tokens: list[Token]) -> Path | None:
        """Return the path that one operand stands for; None for anything else."""
        if not tokens:
            return None
        first, *rest = tokens
        base = self.dot
        if first.kind == "variable":
            base = self.scope.get(first.text) if first.text in self.scope else None
        elif first.kind == "field":
            rest = tokens
        elif first.kind != "dot":
            return None
        if base is None or any(token.kind != "field" for token in rest):
            return None
        joined = all(left.end == right.start for left, right in pairwise(tokens))
        return (*base, *(token.text for token in rest)) if joined else None


def _place(text: str, opened: int, offset: int, walk: _ScopeWalk) -> TemplatePlace | None:
    start = opened + len(OPEN)
    written = text[start:offset]
    tokens = [token for token in lex(text[opened:offset])[0] if token.kind not in ("open", "space", "end")]
    if _in_quotes(written):
        return _quoted(text, offset, tokens, walk)
    field_back, word_back = _FIELD_BACK.search(written), _WORD_BACK.search(written)
    assert field_back is not None and word_back is not None
    dotted = field_back[0].startswith(".")
    back = field_back if dotted else word_back
    mark = 1 if back[0].startswith((".", "$")) else 0
    ahead = (_WORD if dotted else _NAME).match(text, offset)
    span = Span(start + back.start() + mark, ahead.end() if ahead else offset)
    if not dotted and back.start() and written[back.start() - 1] in ".$":
        return None
    before = written[: back.start()]
    slot: Literal["name", "variable", "word"] = "name" if dotted else "variable" if mark else "word"
    if slot == "word" and back[0][:1].isdigit():
        return None
    return TemplatePlace(
        slot,
        span,
        text[span.start : offset],
        path=_base(before, walk) if dotted else None,
        dot=walk.dot,
        variables={name: walk.scope.get(name) for name in sorted(walk.known) if name in walk.scope},
        blocks=tuple(block.word for block in walk.blocks),
        first=not before.strip(" \t\r\n-"),
        piped=before.rstrip().endswith("|"),
        closed=_is_closed(text, span.end),
    )


def _base(before: str, walk: _ScopeWalk) -> Path | None:
    """Return the value in front of a dot: that of the chain that touches it, else what the dot stands for."""
    if not before or before[-1] in " \t\r\n(|,=-":
        return walk.dot
    tokens = [token for token in lex(f"{OPEN}{before}")[0] if token.kind not in ("open", "end", "error")]
    chain: list[Token] = []
    for token in reversed(tokens):
        if token.kind not in ("field", "variable", "dot") or (chain and token.end != chain[0].start):
            break
        chain.insert(0, token)
        if token.kind != "field":
            break
    whole = bool(chain) and (chain[0].start <= len(OPEN) or tokens[0] is chain[0] or _parted(before, chain[0]))
    return walk.value(chain) if whole and before[-1] != ")" else None


def _parted(before: str, first: Token) -> bool:
    """Return whether a chain does not continue an expression before it, such as a parenthesis."""
    return before[first.start - len(OPEN) - 1] in " \t\r\n(|,="


def _in_quotes(written: str) -> bool:
    quote = ""
    at = 0
    while at < len(written):
        char = written[at]
        if quote and char == "\\" and quote != "`":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        at += 1
    return bool(quote)


def _quoted(text: str, offset: int, tokens: list[Token], walk: _ScopeWalk) -> TemplatePlace | None:
    """Return the name of a template that is called; other quoted texts are not names."""
    if not tokens or tokens[0].text != "template":
        return None
    start = text.rfind('"', 0, offset) + 1
    ahead = _QUOTED.match(text, offset)
    span = Span(start, ahead.end() if ahead else offset)
    return TemplatePlace("template", span, text[start:offset], dot=walk.dot, closed=_is_closed(text, offset))


def _is_closed(text: str, at: int) -> bool:
    closed, opened = text.find(CLOSE, at), text.find(OPEN, at)
    return closed >= 0 and (opened < 0 or closed < opened)
