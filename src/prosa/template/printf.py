"""Go's ``fmt.Sprintf`` over plain data: a format and its arguments become text, with Go's error texts in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.regex import regex
from prosa.template.errors import FunctionError, joined
from prosa.template.printing import Layout, go_float, integer_text, json_text, laid_out, number_text, value_text
from prosa.template.values import Absent, TemplateValue, described, go_type

_NIL: Final = "<nil>"
_BASES: Final = {"b": 2, "d": 10, "o": 8, "O": 8, "x": 16, "X": 16}
_DIGITS: Final[dict[int, str]] = {2: "b", 8: "o", 16: "x"}
_FLOAT_VERBS: Final = {"e": 6, "E": 6, "f": 6, "F": 6, "g": None, "G": None, "b": None, "x": None, "X": None}
"""The verbs of a float with the precision each has when none is given."""

_LEAST_CODE_DIGITS: Final = 4
_WORD: Final = 1 << 64


def sprintf(format: str, args: Sequence[TemplateValue]) -> str:  # noqa: A002 - the name that Go gives it
    """Return the formatted text. A verb that does not fit its value prints Go's text, such as ``%!d(string=hi)``.

    Raises `FunctionError` for a width or precision above 10,000, for a result of more than 10,485,760 characters,
    and for values that have no text.
    """
    return joined(_pieces(format, args))


def _pieces(format_text: str, args: Sequence[TemplateValue]) -> Iterator[str]:
    for step in steps(format_text, args):
        if isinstance(step, str):
            yield step
        elif isinstance(step, Directive):
            yield _formatted(step.value, step.verb, step.spec)
        else:
            yield from _extra(step)


def _extra(extra: Extra) -> Iterator[str]:
    separator = "%!(EXTRA "
    for value in extra.values:
        yield separator + (_NIL if _is_nil(value) else f"{go_type(value)}={value_text(value)}")
        separator = ", "
    yield ")"


def _formatted(value: TemplateValue, verb: str, spec: Spec) -> str:
    if verb in "vw":
        bare = replace(spec, sharp=False, plus=False)
        if verb == "v":
            return _plain(value, bare, go_syntax=spec.sharp)
        return _misfit(value, verb, bare, go_syntax=spec.sharp)
    if verb == "T":
        return padded(_NIL, spec) if _is_nil(value) else padded(truncated(go_type(value), spec), spec)
    if _is_nil(value) or verb == "p":
        return _misfit(value, verb, spec)
    if isinstance(value, list | dict):
        return laid_out(value, _go_layout(verb, spec))
    return _scalar(value, verb, spec)


def _is_nil(value: TemplateValue) -> bool:
    return value is None or isinstance(value, Absent)


def _misfit(value: TemplateValue, verb: str, spec: Spec, *, go_syntax: bool = False) -> str:
    """Go's text for a verb that does not fit the value."""
    shown = _NIL if _is_nil(value) else f"{go_type(value)}={_plain(value, spec, go_syntax=go_syntax)}"
    return f"%!{verb}({shown})"


def _plain(value: TemplateValue, spec: Spec, *, go_syntax: bool = False) -> str:
    """Return ``%v``: the text of X12 at its width. The precision shortens strings and rounds floats, as in Go."""
    if isinstance(value, str):
        text = truncated(value, spec)
        return padded(quoted(text) if go_syntax else text, spec)
    if isinstance(value, int) and not isinstance(value, bool):
        return _integer(value, "d", spec)
    if isinstance(value, float):
        exact = spec.precision is None and not spec.sharp
        return floating(number_text(value) if exact else go_float(value, "g", spec.precision), spec, "g")
    return padded("" if isinstance(value, Absent) else json_text(value), spec)


def _go_layout(verb: str, spec: Spec) -> Layout:
    """Go's own layout of lists and maps: the verb applies to every element and every key."""

    def leaf(value: TemplateValue) -> str:
        return _NIL if _is_nil(value) else _scalar(value, verb, spec)

    return Layout(("[", "]"), ("map[", "]"), " ", leaf, lambda key: leaf(key) + ":", sorted_keys=True)


def _scalar(value: TemplateValue, verb: str, spec: Spec) -> str:
    if isinstance(value, bool):
        return padded("true" if value else "false", spec) if verb == "t" else _misfit(value, verb, spec)
    if isinstance(value, str):
        write = _TEXT_VERBS.get(verb)
        return write(value, spec) if write else _misfit(value, verb, spec)
    if isinstance(value, int):
        return _integer(value, verb, spec)
    if isinstance(value, float):
        return _float(value, verb, spec)
    raise FunctionError(f"cannot format {described(value)}")


def _integer(value: int, verb: str, spec: Spec) -> str:
    if verb == "c":
        return padded(character_of(value), spec)
    if verb == "q":
        return padded(quoted_character(value, ascii_only=spec.plus), spec)
    if verb == "U":
        return _code_point(value, spec)
    base = _BASES.get(verb)
    if base is None:
        return _misfit(value, verb, spec)
    size = abs(value)
    digits = integer_text(size) if base == 10 else f"{size:{_DIGITS[base]}}"
    text = integer(digits, spec, negative=value < 0, base=base, prefix="0o" if verb == "O" else "")
    return text.upper() if verb == "X" else text


def _code_point(value: int, spec: Spec) -> str:
    code = value if value >= 0 else value % _WORD
    text = f"U+{code:0{max(spec.precision or 0, _LEAST_CODE_DIGITS)}X}"
    if spec.sharp and code <= 0x10FFFF and chr(code).isprintable():
        text += f" '{chr(code)}'"
    return padded(text, spec, zero=False)


def _float(value: float, verb: str, spec: Spec) -> str:
    if verb not in _FLOAT_VERBS:
        return _misfit(value, verb, spec)
    precision = _FLOAT_VERBS[verb] if spec.precision is None else spec.precision
    return floating(go_float(value, "f" if verb == "F" else verb, precision), spec, verb)


def _text(value: str, spec: Spec) -> str:
    return padded(truncated(value, spec), spec)


def _quoted_text(value: str, spec: Spec) -> str:
    text = truncated(value, spec)
    if spec.sharp and can_backquote(text):
        return padded(f"`{text}`", spec)
    return padded(quoted(text, ascii_only=spec.plus), spec)


def _hexadecimal(value: str, spec: Spec) -> str:
    """Return the UTF-8 bytes of a text; the precision counts bytes, a space stands between them on request."""
    data = value.encode("utf-8", "replace")[: spec.precision]
    prefix = "0x" if spec.sharp and data else ""
    if spec.space:
        return padded(" ".join(f"{prefix}{byte:02x}" for byte in data), spec)
    return padded(prefix + data.hex(), spec)


def _upper_hexadecimal(value: str, spec: Spec) -> str:
    return _hexadecimal(value, spec).upper()


_TEXT_VERBS: Final[dict[str, Callable[[str, Spec], str]]] = {
    "s": _text,
    "q": _quoted_text,
    "x": _hexadecimal,
    "X": _upper_hexadecimal,
}


# Go's quoted strings and characters, as ``%q`` writes them. In: text or a code point. Out: quoted text.

_NAMED: Final = {7: "\\a", 8: "\\b", 12: "\\f", 10: "\\n", 13: "\\r", 9: "\\t", 11: "\\v", 92: "\\\\"}
_REPLACEMENT: Final = 0xFFFD
_BYTE_ORDER_MARK: Final = "\ufeff"


def quoted(text: str, *, ascii_only: bool = False, quote: str = '"') -> str:
    """Return the text between quotes with Go's escapes; ``ascii_only`` escapes every other character too."""
    return quote + "".join(_escaped(character, quote, ascii_only) for character in text) + quote


def quoted_character(code: int, *, ascii_only: bool = False) -> str:
    """Return a character constant such as ``'a'``; an invalid character becomes ``U+FFFD``."""
    return quoted(character_of(code), ascii_only=ascii_only, quote="'")


def character_of(code: int) -> str:
    """Return the character of a code point, ``U+FFFD`` for a number that has none."""
    valid = 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
    return chr(code if valid else _REPLACEMENT)


def can_backquote(text: str) -> bool:
    """Return whether the text can stand between backquotes on one line, unescaped."""
    return not any(
        (character < " " and character != "\t") or character in ("`", "\x7f", _BYTE_ORDER_MARK) for character in text
    )


def _escaped(character: str, quote: str, ascii_only: bool) -> str:
    code = ord(character)
    if character == quote:
        return "\\" + character
    if code in _NAMED:
        return _NAMED[code]
    if character.isprintable() and (not ascii_only or character.isascii()):
        return character
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# Text, integers and floats laid out by the flags, width and precision of a ``printf`` directive. Text comes out.

_PREFIXES: Final = {2: "0b", 16: "0x"}
_SHARP_DIGITS: Final = 6
"""Significant digits that ``%#g`` restores when no precision is given."""


def padded(text: str, spec: Spec, *, zero: bool = True) -> str:
    """Return the text at its width: right by default, left with ``-``; zeros in front with ``0`` where ``zero``
    allows."""
    width = spec.width or 0
    if spec.minus:
        return text.ljust(width)
    return text.rjust(width, "0" if spec.zero and zero else " ")


def truncated(text: str, spec: Spec) -> str:
    """Return the first characters of a text, up to the precision."""
    return text if spec.precision is None else text[: spec.precision]


def integer(digits: str, spec: Spec, *, negative: bool, base: int, prefix: str = "") -> str:
    """Return an integer from its digits without a sign: precision, prefix (``#``, or the given one), sign and width."""
    if spec.precision == 0 and digits == "0":
        return " " * (spec.width or 0)
    least = spec.precision
    if least is None:
        fills = spec.zero and not spec.minus and spec.width is not None
        least = (spec.width or 0) - (negative or spec.plus or spec.space) if fills else 0
    digits = digits.rjust(least, "0")
    if spec.sharp and base == 8 and not digits.startswith("0"):
        digits = "0" + digits
    if spec.sharp:
        digits = _PREFIXES.get(base, "") + digits
    return padded(_sign(spec, negative=negative) + prefix + digits, spec, zero=False)


def floating(text: str, spec: Spec, verb: str) -> str:
    """Return a float from its text, which has ``-`` in front when it is negative: sign, ``#`` and width."""
    negative = text.startswith("-")
    body = text.lstrip("+-")
    sign = _sign(spec, negative=negative)
    if body == "NaN":
        return padded(sign + body, spec, zero=False)
    if body == "Inf":
        return padded((sign or "+") + body, spec, zero=False)
    if spec.sharp and verb != "b":
        body = _with_point(body, verb, spec.precision)
    if sign and spec.zero and not spec.minus and spec.width is not None:
        return sign + body.rjust(spec.width - len(sign), "0")
    return padded(sign + body, spec)


def _sign(spec: Spec, *, negative: bool) -> str:
    if negative:
        return "-"
    return "+" if spec.plus else " " if spec.space else ""


def _with_point(body: str, verb: str, precision: int | None) -> str:
    """Return the number in the alternate form ``#``: always a point, and for ``g`` the zeros that the shortest form
    leaves out."""
    marks = "pP" if verb in "xX" else "pPeE"
    end = next((place for place, character in enumerate(body) if character in marks), len(body))
    number, tail = body[:end], body[end:]
    missing = 0
    if verb in "vgGx":
        wanted = _SHARP_DIGITS if precision is None else precision
        missing = wanted - len(number.replace(".", "").lstrip("0"))
        missing -= number == "0"
    if "." not in number:
        number += "."
    return number + "0" * max(missing, 0) + tail


# A ``printf`` format taken apart as Go does it. In: the format and the arguments. Out: literal text and directives.

MAX_WIDTH: Final = 10_000
"""Largest width and precision. Go allows a million; wider than any page, and a loop would fill the memory."""

_FLAGS: Final = {"#": "sharp", "0": "zero", "+": "plus", "-": "minus", " ": "space"}
_NUMBER: Final = regex("[0-9]+")
_SHORTEST_INDEX: Final = 3
_MOST_INDEX_DIGITS: Final = 10
"""Digits after which an index is always out of range."""


class Spec(Struct, frozen=True):
    """How one value is laid out: the flags, the width and the precision, None where there is none."""

    sharp: bool = False
    zero: bool = False
    plus: bool = False
    minus: bool = False
    space: bool = False
    width: int | None = None
    precision: int | None = None


class Directive(Struct, frozen=True):
    """One verb, how to lay it out, and the value it takes."""

    verb: str
    spec: Spec
    value: TemplateValue


class Extra(Struct, frozen=True):
    """The arguments that no verb took, when no index was used."""

    values: tuple[TemplateValue, ...]


Step: TypeAlias = str | Directive | Extra


def steps(format_text: str, args: Sequence[TemplateValue]) -> Iterator[Step]:
    """Literal text and Go's error texts, directives with their values, and at most one `Extra` at the end.

    Raises `FunctionError` for a width or precision above `MAX_WIDTH`.
    """
    return _Reader(format_text, args).steps()


class _Reader:
    """The state of reading a format: the position, the next argument, and the indexes seen."""

    def __init__(self, text: str, args: Sequence[TemplateValue]) -> None:
        self._text = text
        self._args = args
        self._at = 0
        self._next = 0
        self._reordered = False
        self._good_index = True
        self._last_bracket = text.rfind("]")

    def steps(self) -> Iterator[Step]:
        while self._at < len(self._text):
            percent = self._text.find("%", self._at)
            end = len(self._text) if percent < 0 else percent
            if end > self._at:
                yield self._text[self._at : end]
            self._at = end + 1
            if percent >= 0:
                yield from self._directive()
        if not self._reordered and self._next < len(self._args):
            yield Extra(tuple(self._args[self._next :]))

    def _directive(self) -> Iterator[Step]:
        self._good_index = True
        spec = self._flags()
        after_index = self._index()
        starred = self._peek() == "*"
        width = self._star() if starred else self._number()
        if width is None and starred:
            yield "%!(BADWIDTH)"
        self._good_index &= starred or not after_index or width is None
        spec = _with_width(spec, width)
        after_index = after_index and not starred
        if self._peek() == "." and self._at + 1 < len(self._text):
            self._good_index &= not after_index
            self._at += 1
            after_index = self._index()
            starred = self._peek() == "*"
            precision = self._star() if starred else self._number() or 0
            if starred and (precision is None or precision < 0):
                yield "%!(BADPREC)"
                precision = None
            spec = replace(spec, precision=precision)
            after_index = after_index and not starred
        if not after_index:
            self._index()
        yield self._verb(spec)

    def _verb(self, spec: Spec) -> Step:
        verb = self._peek()
        self._at += 1
        if not verb:
            return "%!(NOVERB)"
        if verb == "%":
            return "%"
        if not self._good_index:
            return f"%!{verb}(BADINDEX)"
        if self._next >= len(self._args):
            return f"%!{verb}(MISSING)"
        self._next += 1
        return Directive(verb, spec, self._args[self._next - 1])

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _flags(self) -> Spec:
        start = self._at
        while self._peek() in _FLAGS:
            self._at += 1
        return Spec(**{_FLAGS[flag]: True for flag in set(self._text[start : self._at])})

    def _number(self) -> int | None:
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            return None
        self._at = match.end()
        digits = match[0].lstrip("0")
        if len(digits) > len(str(MAX_WIDTH)):
            raise _too_wide()
        return _checked(int(digits or "0"))

    def _star(self) -> int | None:
        """Return the argument that ``*`` takes; None when there is none or it is not an integer."""
        self._at += 1
        if self._next >= len(self._args):
            return None
        value = self._args[self._next]
        self._next += 1
        return None if isinstance(value, bool) or not isinstance(value, int) else _checked(value)

    def _index(self) -> bool:
        """Read ``[n]``, if one stands here, and moves to that argument. Whether an index was read."""
        if self._peek() != "[":
            return False
        self._reordered = True
        if len(self._text) - self._at < _SHORTEST_INDEX or self._last_bracket < self._at:
            self._at += 1
            self._good_index = False
            return False
        closing = self._text.index("]", self._at)
        match = _NUMBER.fullmatch(self._text, self._at + 1, closing)
        self._at = closing + 1
        number = int(match[0].lstrip("0")[:_MOST_INDEX_DIGITS] or "0") if match else 0
        if 1 <= number <= len(self._args):
            self._next = number - 1
        else:
            self._good_index = False
        return match is not None


def _with_width(spec: Spec, width: int | None) -> Spec:
    """Return a negative width, which only ``*`` can bring, means its value and the flag ``-``."""
    if width is not None and width < 0:
        return replace(spec, width=-width, minus=True, zero=False)
    return replace(spec, width=width)


def _checked(number: int) -> int:
    if abs(number) > MAX_WIDTH:
        raise _too_wide()
    return number


def _too_wide() -> FunctionError:
    return FunctionError(f"a width or precision is at most {MAX_WIDTH:,}")
