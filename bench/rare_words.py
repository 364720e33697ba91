"""Words for generated documents that are as unequal as words are: a few stand everywhere, most in a handful of places.

In: a language and a rank, or a random generator. Out: a word. The word of rank 1 is the most frequent one of its
language, and the word of rank n stands about a n-th as often (Zipf). Words are spelled from syllables and mean nothing.
"""

from __future__ import annotations

from random import Random

VOCABULARY = 60_000
"""Words of a language."""

_SYLLABLES = {
    "en": "ba den fo gar hel il kor lum mas nev or pel rin sho tam ur vex wil yon zab",
    "de": "bach dorf eich feld grü heim käl lau müh nord ost quer rös schil tau un vor wen zie ham",
    "fr": "bel chan dé eau fleur gar jou lac mon né ou pré que roi sou té vau yon zel mar",
    "es": "bar cho den es fuen gar hue isla jar llo mon ño or pal que rió sol tor ur ver",
    "pl": "bo cze dół gór ha ja ka łąk mie nów ość pol ró ści trz uch wod żyw zam dru",
    "el": "βα γο δεν ζα θη κορ λι μα νε ξω ου πελ ρι σα ταμ υρ φο χελ ψι ων",
    "ru": "ба го ден жу зар ил кор лум мас нев ор пел рин со там ур фо хел шо юн",
    "ar": "با تو جن حر دل رم زن سل شم صب طر عم غد فن قل كر لب مد نو هي",
    "ja": "山 川 田 野 木 森 石 水 空 雲 花 鳥 風 月 星 雪 雨 海 原 谷",
    "zh": "山 河 田 林 石 水 天 云 花 鸟 风 月 星 雪 雨 海 谷 城 门 桥",
}
SYLLABLES = {tag: tuple(pieces.split()) for tag, pieces in _SYLLABLES.items()}
"""Twenty pieces of words of each language (`Tongue.tag`)."""

FRONT = {"en": "qua"}
"""What begins every word of a language, so that it is none of those that sentences are made of."""


def word(tag: str, rank: int) -> str:
    """Return the word of a rank, from 1. Frequent words are short."""
    pieces, spelled = SYLLABLES[tag], ""
    while rank:
        rank, piece = divmod(rank, len(pieces))
        spelled += pieces[piece]
    return FRONT.get(tag, "") + spelled


def words(rng: Random, tag: str, count: int) -> list[str]:
    """Return some words, the frequent ones often."""
    return [word(tag, int(VOCABULARY ** rng.random())) for _ in range(count)]
