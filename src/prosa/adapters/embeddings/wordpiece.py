"""WordPiece: a text as the tokens of a BERT model without case (Devlin et al. 2018, Wu et al. 2016).

In: a vocabulary and a text. Out: token numbers, at most ``limit``, between the marks of beginning and end. Linear in
the part of the text that is used.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

CLS, SEP, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"

MAX_WORD = 100
"""Characters of a word that is looked at in pieces; a longer one is unknown, as in the reference."""

CHARACTERS_PER_TOKEN = 64
"""Of a text no more characters are read than these for each token: words are shorter, even with blanks between them."""


def tokens(text: str, vocabulary: Mapping[str, int], limit: int) -> list[int]:
    """The token numbers of ``text``."""
    found = [vocabulary[CLS]]
    for word in _words(text[: limit * CHARACTERS_PER_TOKEN]):
        found += _pieces(word, vocabulary)
        if len(found) >= limit - 1:
            break
    return [*found[: limit - 1], vocabulary[SEP]]


def _words(text: str) -> Iterator[str]:
    """Words in lower case without accents; each mark of punctuation and each Chinese character is a word of its own."""
    word: list[str] = []
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn":
            continue
        alone = _stands_alone(character, category)
        if alone or character.isspace() or category[0] == "C":
            if word:
                yield "".join(word)
                word = []
            if alone:
                yield character
        else:
            word.append(character)
    if word:
        yield "".join(word)


def _stands_alone(character: str, category: str) -> bool:
    point = ord(character)
    if point < 128:
        return character.isprintable() and not character.isalnum() and character != " "
    return category[0] == "P" or 0x4E00 <= point <= 0x9FFF or 0x3400 <= point <= 0x4DBF or 0x20000 <= point <= 0x2FA1F


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The longest known beginning, then the longest known continuation, and so on; one unknown token otherwise."""
    unknown = [vocabulary[UNKNOWN]]
    if len(word) > MAX_WORD:
        return unknown
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((at for at in range(len(word), start, -1) if mark + word[start:at] in vocabulary), None)
        if end is None:
            return unknown
        found.append(vocabulary[mark + word[start:end]])
        start = end
    return found
