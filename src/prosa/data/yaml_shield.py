"""Characters and escapes that libyaml would misread or refuse, hidden from it and restored afterwards.

libyaml ends lines at U+0085, U+2028 and U+2029 (YAML 1.2 does not), refuses every character outside its printable set,
and refuses the surrogate pairs that JSON writes as escapes. Each is replaced by a private character, or by the escape
of one, that the text does not use: one for one, so that offsets stay what they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct, field

from prosa.data.reading import Findings
from prosa.data.surrogates import SURROGATE_ESCAPE, joined_pairs, without_surrogates
from prosa.regex import regex

_SPECIAL = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_REFUSED = regex("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_ESCAPED = regex(r"\\(?:u[dD][89a-fA-F][0-9a-fA-F]{2}|.)", re.DOTALL)
_MENTIONED = regex(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_WRITTEN = regex(r"\\u([0-9a-f]{4})")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Shield(Struct):
    """A text that is safe for libyaml, and the way back for what libyaml makes of it."""

    text: str
    characters: dict[int, str] = field(default_factory=dict)
    escapes: dict[int, str] = field(default_factory=dict)

    @property
    def hides(self) -> bool:
        """Whether anything is hidden, so that scalars have to be restored."""
        return bool(self.characters or self.escapes)

    def restore(self, value: str, *, escapes_decoded: bool) -> str:
        """Return a scalar as in the author's text; escaped halves of surrogate pairs are joined.

        ``escapes_decoded`` is true for a double-quoted scalar, where an escape has become a character.
        """
        if self.characters and not value.isascii():
            value = value.translate(self.characters)
        if self.escapes:
            if escapes_decoded:
                value = joined_pairs(value.translate({code: chr(int(was, 16)) for code, was in self.escapes.items()}))
            value = _WRITTEN.sub(lambda match: "\\u" + self.escapes.get(int(match[1], 16), match[1]), value)
        return value


def shield(text: str, findings: Findings) -> Shield:
    """Return the text made safe. Characters that YAML does not allow anywhere are reported as ``yaml-syntax``."""
    has_special = _SPECIAL.search(text) is not None
    has_escape = SURROGATE_ESCAPE.search(text) is not None
    shielded = Shield(text)
    if not (has_special or has_escape):
        return shielded
    taken = set(map(ord, set(text))) | {int(a or b, 16) for a, b in _MENTIONED.findall(text)}
    if has_special:
        _report(text, findings)
        _hide_characters(shielded, _free(taken, range(0x100000, 0x10FFFE), range(0xF0000, 0xFFFFE)))
    if has_escape:
        _hide_escapes(shielded, _free(taken, range(0xE000, 0xF900)))
    return shielded


def _free(taken: set[int], *ranges: range) -> Iterator[int]:
    return (code for code in chain(*ranges) if code not in taken)


def _report(text: str, findings: Findings) -> None:
    for match in _REFUSED.finditer(text):
        code = ord(match[0])
        if code >= 0xD800:
            findings.add("lone-surrogate", f"half of a surrogate pair, U+{code:04X}, is not a character", *match.span())
        else:
            notes = (f'In a double-quoted value write "\\x{code:02x}".',)
            findings.add(
                "yaml-syntax", f"control character U+{code:04X} is not allowed in YAML", *match.span(), notes=notes
            )


def _hide_characters(shielded: Shield, free: Iterator[int]) -> None:
    hidden: dict[int, str] = {}
    for character in sorted(set(_SPECIAL.findall(shielded.text))):
        code = next(free, None)
        hidden[ord(character)] = _REPLACEMENT if code is None else chr(code)
        if code is not None:
            shielded.characters[code] = without_surrogates(character)
    shielded.text = shielded.text.translate(hidden)


def _hide_escapes(shielded: Shield, free: Iterator[int]) -> None:
    """Replace surrogate escapes; when no private character is left they stay and libyaml reports them."""
    hidden: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        escape = match[0]
        if len(escape) < 6:
            return escape
        if escape not in hidden:
            code = next(free, None)
            hidden[escape] = escape if code is None else f"\\u{code:04x}"
            if code is not None:
                shielded.escapes[code] = escape[2:]
        return hidden[escape]

    shielded.text = _ESCAPED.sub(replace, shielded.text)
