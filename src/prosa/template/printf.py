"""Go's ``fmt.Sprintf`` over plain data. In: a format and its arguments. Out: text, with Go's error texts in it.

``%v`` is the form in which values print (X12); ``%#v`` puts a string in quotes; ``%+v`` is ``%v``. Every other verb is
Go's, element by element in lists and maps. An absent value is nothing under ``%v`` and Go's ``<nil>`` elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from prosa.template.directive import Directive, Extra, Spec, steps
from prosa.template.floats import go_float
from prosa.template.function import FunctionError, joined
from prosa.template.nesting import Layout, laid_out
from prosa.template.padding import floating, integer, padded, truncated
from prosa.template.printing import integer_text, json_text, number_text, value_text
from prosa.template.quote import can_backquote, character_of, quoted, quoted_character
from prosa.template.values import Absent, described, go_type

_NIL: Final = "<nil>"
_BASES: Final = {"b": 2, "d": 10, "o": 8, "O": 8, "x": 16, "X": 16}
_DIGITS: Final[dict[int, str]] = {2: "b", 8: "o", 16: "x"}
_FLOAT_VERBS: Final = {"e": 6, "E": 6, "f": 6, "F": 6, "g": None, "G": None, "b": None, "x": None, "X": None}
"""The verbs of a float with the precision each has when none is given."""

_LEAST_CODE_DIGITS: Final = 4
_WORD: Final = 1 << 64


def sprintf(format: str, args: Sequence[object]) -> str:  # noqa: A002 - the name that Go gives it
    """The formatted text. A verb that does not fit its value prints Go's text, such as ``%!d(string=hi)``.

    Raises `FunctionError` for a width or precision above 10,000, for a result of more than 10,485,760 characters,
    and for values that have no text.
    """
    return joined(_pieces(format, args))


def _pieces(format_text: str, args: Sequence[object]) -> Iterator[str]:
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


def _formatted(value: object, verb: str, spec: Spec) -> str:
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


def _is_nil(value: object) -> bool:
    return value is None or isinstance(value, Absent)


def _misfit(value: object, verb: str, spec: Spec, *, go_syntax: bool = False) -> str:
    """Go's text for a verb that does not fit the value."""
    shown = _NIL if _is_nil(value) else f"{go_type(value)}={_plain(value, spec, go_syntax=go_syntax)}"
    return f"%!{verb}({shown})"


def _plain(value: object, spec: Spec, *, go_syntax: bool = False) -> str:
    """``%v``: the text of X12 at its width. The precision shortens strings and rounds floats, as in Go."""
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

    def leaf(value: object) -> str:
        return _NIL if _is_nil(value) else _scalar(value, verb, spec)

    return Layout(("[", "]"), ("map[", "]"), " ", leaf, lambda key: leaf(key) + ":", sorted_keys=True)


def _scalar(value: object, verb: str, spec: Spec) -> str:
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
    """The UTF-8 bytes of a text; the precision counts bytes, a space stands between them on request."""
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
