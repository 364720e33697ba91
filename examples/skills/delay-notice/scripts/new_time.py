"""Prints the time of day so many minutes after another: `new_time.py 09:40 25` prints `10:05`."""

import re
import sys

DAY = 24 * 60


def main(words: list[str]) -> None:
    """Print the time, with `next day` where it is after midnight."""
    if len(words) != 2 or not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", words[0]) or not words[1].isdigit():
        sys.exit("usage: new_time.py HH:MM MINUTES")
    hours, minutes = map(int, words[0].split(":"))
    late = hours * 60 + minutes + int(words[1])
    print(f"{late % DAY // 60:02}:{late % 60:02}" + (" next day" if late >= DAY else ""))


main(sys.argv[1:])
