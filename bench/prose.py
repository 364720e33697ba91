"""Sentences for generated documents, in ten languages: subjects, verbs and ends that go together in any combination.

In: a random generator. Out: text of a few words, a sentence or a paragraph, a part of it beyond ASCII. Nothing in it
has a meaning in Markdown, so that the documents decide their own structure.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from bench import rare_words


class Tongue(NamedTuple):
    """A language. ``gap`` stands between words, ``stop`` ends a sentence; with ``rare`` sentences and titles have words
    that are not in every document."""

    tag: str
    subjects: tuple[str, ...]
    verbs: tuple[str, ...]
    ends: tuple[str, ...]
    gap: str = " "
    stop: str = "."
    rare: bool = False


TONGUES: tuple[Tongue, ...] = (
    Tongue(
        "en",
        ("The night train", "A small harbour", "Every new reader", "The second timetable", "Our oldest map"),
        ("reaches", "describes", "quietly replaces", "waits for", "does not mention"),
        ("the station behind the hills", "three islands in the north", "what the guide had promised", "the last ferry"),
    ),
    Tongue(
        "de",
        ("Der Nachtzug", "Die größte Brücke", "Ein übermüdeter Schaffner", "Das grüne Heft"),
        ("erreicht", "erklärt", "überholt", "erwähnt"),
        ("den äußersten Bahnsteig", "die Fähre nach Süden", "das kürzeste Gespräch", "die höhere Straße"),
    ),
    Tongue(
        "fr",
        ("Le dernier bac", "Une carte dépliée", "Le garçon de café", "L'été suivant"),
        ("traverse", "précède", "évoque", "ne remplace pas"),
        ("la forêt près du canal", "les îles du nord", "un café à moitié vide", "le château où l'on dîne"),
    ),
    Tongue(
        "es",
        ("El tren de mañana", "La señal pequeña", "Ningún viajero", "Aquel año"),
        ("cruza", "enseña", "también nombra", "llegará a"),
        ("la montaña sin camino", "una estación vacía", "el jardín del corazón", "la última isla"),
    ),
    Tongue(
        "pl",
        ("Nocny pociąg", "Żółta łódka", "Każdy gość", "Świeża mapa"),
        ("mija", "wyjaśnia", "później pokazuje", "omija"),
        ("ostatnią stację", "źródło rzeki", "dwie wyspy na północy", "most za miastem"),
    ),
    Tongue(
        "el",
        ("Το νυχτερινό τρένο", "Η παλιά γέφυρα", "Κάθε επιβάτης", "Ο μικρός χάρτης"),
        ("φτάνει", "εξηγεί", "δείχνει", "περιμένει"),
        ("τον τελευταίο σταθμό", "το βόρειο νησί", "τη θάλασσα", "ένα άδειο λιμάνι"),
    ),
    Tongue(
        "ru",
        ("Ночной поезд", "Старая карта", "Каждый пассажир", "Второй мост"),
        ("проходит", "описывает", "ждёт", "не упоминает"),
        ("последнюю станцию", "северный остров", "пустую гавань", "новое расписание"),
    ),
    Tongue(
        "ar",
        ("القطار الليلي", "الخريطة القديمة", "كل مسافر", "الجسر الثاني"),
        ("يصل إلى", "يصف", "ينتظر", "لا يذكر"),
        ("المحطة الأخيرة", "الجزيرة الشمالية", "ميناء صغير", "الطريق الجديد"),
    ),
    Tongue(
        "ja",
        ("夜行列車は", "古い地図は", "新しい読者は", "二つ目の橋は"),
        ("静かに", "もう一度", "ゆっくりと", "必ず"),
        ("最後の駅に着く", "北の島を示す", "港で船を待つ", "長い坂を越える"),
        "",
        "。",
    ),
    Tongue(
        "zh",
        ("夜行的火车", "旧的地图", "每一位读者", "第二座桥"),
        ("慢慢地", "又一次", "总是", "很少"),
        ("到达最后一站", "指向北方的岛", "等待渡船", "越过长长的山坡"),
        "",
        "。",
    ),
)

ENGLISH = TONGUES[0]

TOPICS = ("harbour", "timetable", "lantern", "bridge", "ferry", "map", "island", "platform", "garden", "signal")

FIGURES = ("🚂", "⛴️", "🗺️", "→", "½", "€ 4.20", "№ 7", "°C")


def tongue(rng: Random) -> Tongue:
    """Return a language; half of all documents are in English."""
    return ENGLISH if rng.random() < 0.5 else rng.choice(TONGUES)


def sentence(rng: Random, words: Tongue) -> str:
    """Return one sentence."""
    parts = [rng.choice(words.subjects), rng.choice(words.verbs), rng.choice(words.ends)]
    if words.rare:
        parts[2:] = rare_words.words(rng, words.tag, rng.randint(2, 5))
    return words.gap.join(parts) + words.stop


def title(rng: Random, words: Tongue) -> str:
    """Return a few words for a heading."""
    subject = rng.choice(words.subjects)
    return words.gap.join([subject, *rare_words.words(rng, words.tag, 1)]) if words.rare else subject


def paragraph(rng: Random, words: Tongue) -> str:
    """Return three to six sentences, each on a line of its own, some with emphasis, code or a sign beyond the first
    plane."""
    return "\n".join(_dressed(rng, sentence(rng, words)) for _ in range(rng.randint(3, 6))) + "\n"


def _dressed(rng: Random, text: str) -> str:
    choice = rng.random()
    if choice < 0.12:
        return f"**{text[:-1]}**{text[-1]}"
    if choice < 0.24:
        return f"{text} It says `{rng.choice(TOPICS)}_{rng.randint(1, 99)}`."
    if choice < 0.32:
        return f"{text} {rng.choice(FIGURES)} _and so on_."
    return text
