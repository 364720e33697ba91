"""Invisible characters that their context does not need (X39). In: text. Out: runs of them. Linear."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator
from typing import NamedTuple

from prosa.regex import UNSEEN, regex

_JOINING = regex(
    "[\u0590-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc"
    "\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
)
"""Scripts whose letters take other forms beside a joiner or non-joiner."""

_UNSPACED = regex("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u19ff\u1a20-\u1aaf\ua9e0-\ua9ff\uaa60-\uaadf]")
"""Scripts without blanks between words, where a zero-width space says where a line may end."""

_RIGHT_TO_LEFT = regex("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_MONGOLIAN = regex("[\u1807-\u180a\u1810-\u18aa]")
_IDEOGRAPH = regex("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_STANDARD = regex(
    "[\u1000-\u109f\u2018-\u201d\u3001\u3002\ua840-\ua877\uaa60-\uaa7f\uff01-\uff1f\U00010ac0-\U00010aff]"
)
"""What else has standardized variants, beside symbols and ideographs."""

_JAMO = regex("[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]")
_FLAG = regex("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,15}\U000e007f")


class Run(NamedTuple):
    """Neighbouring invisible characters, from ``start`` to ``end``."""

    start: int
    end: int
    codes: tuple[int, ...]

    @property
    def hidden(self) -> str:
        """The ASCII text that the Unicode tags among them spell."""
        return "".join(chr(code - 0xE0000) for code in self.codes if 0xE0020 <= code <= 0xE007E)


def invisible(text: str, signs: Collection[str] | None = None) -> Iterator[Run]:
    """Yield the runs of invisible characters in ``text`` that no script, emoji or flag around them needs. ``signs`` are
    those that it holds, if they are known: then each is searched for by itself, which takes a tenth of the time."""
    if text.isascii():
        return
    context, start, end = _Context(text), -1, -1
    for at in (match.start() for match in UNSEEN.finditer(text)) if signs is None else _places(text, signs):
        if context.needs(at):
            continue
        if at != end:
            if start >= 0:
                yield _run(text, start, end)
            start = at
        end = at + 1
    if start >= 0:
        yield _run(text, start, end)


def _places(text: str, signs: Collection[str]) -> list[int]:
    offsets: list[int] = []
    for sign in signs:
        at = text.find(sign)
        while at >= 0:
            offsets.append(at)
            at = text.find(sign, at + 1)
    return sorted(offsets)


def _run(text: str, start: int, end: int) -> Run:
    return Run(start, end, tuple(map(ord, text[start:end])))


class _Context:
    """The context of the characters of one text, read from front to back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.flag = self.line = 0  # where the last flag and the last requested line end
        self.turned = False  # that line has letters that are written from right to left

    def needs(self, at: int) -> bool:
        text, char = self.text, self.text[at]
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        alone = not UNSEEN.match(after)
        before = "" if UNSEEN.match(before) else before  # what may be removed makes nothing needed
        after = after if alone else ""
        code = ord(char)
        if char == "\ufeff":
            return at == 0
        if 0xFE00 <= code <= 0xFE0F:
            return _symbol(before) or (code <= 0xFE02 and bool(_IDEOGRAPH.match(before) or _STANDARD.match(before)))
        if char in "\u200c\u200d":
            joins = alone and (_JOINING.match(before) or _JOINING.match(after))
            return bool(joins) or (char == "\u200d" and _symbol(after) and self._emoji_ends(at))
        if char == "\u200b":
            return bool(_UNSPACED.match(before) or _UNSPACED.match(after))
        if char == "\u00ad":
            return _letter(before) and _letter(after)
        if char in "\u200e\u200f\u061c":
            return self._is_turned(at)
        if 0xE0000 <= code <= 0xE007F:
            return self._in_flag(at)
        if 0xE0100 <= code <= 0xE01EF:
            return bool(_IDEOGRAPH.match(before))
        if 0x180B <= code <= 0x180F:
            return bool(_MONGOLIAN.match(before))
        if char in "\u115f\u1160":
            return bool(_JAMO.match(before) or _JAMO.match(after))
        if char in "\u17b4\u17b5":
            return "\u1780" <= before <= "\u17b3"
        if char == "\u034f":
            return unicodedata.category(before or " ")[0] in "LM" and unicodedata.category(after or " ") == "Mn"
        return 0x1D173 <= code <= 0x1D17A and any("\U0001d100" <= other <= "\U0001d1ff" for other in (before, after))

    def _emoji_ends(self, at: int) -> bool:
        if at == self.flag:
            return at > 0
        back = at - 2 if self.text[at - 1 : at] == "\ufe0f" else at - 1
        return back >= 0 and _symbol(self.text[back])

    def _is_turned(self, at: int) -> bool:
        if at >= self.line:
            end = self.text.find("\n", at)
            self.line = len(self.text) if end < 0 else end
            start = self.text.rfind("\n", 0, at) + 1
            self.turned = any(
                not UNSEEN.match(match.group()) for match in _RIGHT_TO_LEFT.finditer(self.text, start, self.line)
            )
        return self.turned

    def _in_flag(self, at: int) -> bool:
        if at >= self.flag and at and (match := _FLAG.match(self.text, at - 1)):
            self.flag = match.end()
        return at < self.flag


def _symbol(char: str) -> bool:
    """Return whether a character may be an emoji, or the part of one."""
    return bool(char) and (char in "#*0123456789\u203c\u2049\u2139\u3030" or unicodedata.category(char) in _SYMBOLS)


_SYMBOLS = frozenset({"So", "Sm", "Sk"})


def _letter(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] in "LM"
