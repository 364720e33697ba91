"""Draws the icon of the extension: lines of a text on green, and a tick. `make vscode` writes it into `build`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).resolve().parents[2] / "build" / "icon.png"
SIZE = 256
GREEN, WHITE, LIGHT = (20, 104, 58), (255, 255, 255), (127, 208, 160)


class Stroke(NamedTuple):
    """A line with round ends: from one point to another, with half its width, and a colour."""

    start: tuple[float, float]
    end: tuple[float, float]
    half: float
    colour: tuple[int, int, int]

    def distance(self, x: float, y: float) -> float:
        """Return how far a point is outside of the stroke; less than zero inside."""
        (ax, ay), (bx, by) = self.start, self.end
        along = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)
        part = min(1.0, max(0.0, along))
        return float(((x - ax - part * (bx - ax)) ** 2 + (y - ay - part * (by - ay)) ** 2) ** 0.5 - self.half)


STROKES = (
    Stroke((60, 76), (196, 76), 10, WHITE),
    Stroke((60, 120), (148, 120), 10, LIGHT),
    Stroke((60, 164), (104, 164), 10, LIGHT),
    Stroke((122, 172), (152, 202), 12, WHITE),
    Stroke((152, 202), (206, 132), 12, WHITE),
)


def pixels() -> Iterator[bytes]:
    """Yield the rows of the picture, four bytes a pixel: red, green, blue, opacity."""
    for y in range(SIZE):
        yield b"\x00" + b"".join(bytes(_pixel(x + 0.5, y + 0.5)) for x in range(SIZE))


def _pixel(x: float, y: float) -> tuple[int, int, int, int]:
    colour: tuple[float, ...] = GREEN
    for stroke in STROKES:
        cover = min(1.0, max(0.0, 0.5 - stroke.distance(x, y)))
        colour = tuple(old + (new - old) * cover for old, new in zip(colour, stroke.colour, strict=True))
    middle, corner = SIZE / 2, 52.0
    dx, dy = (max(abs(each - middle) - (middle - corner), 0.0) for each in (x, y))
    inside = min(1.0, max(0.0, corner + 0.5 - (dx * dx + dy * dy) ** 0.5))
    red, green, blue = (round(each) for each in colour)
    return red, green, blue, round(255 * inside)


def png() -> bytes:
    """Return the picture."""
    head = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 6, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(pixels()), 9)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_bytes(png())
