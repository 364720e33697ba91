"""Several processes and one index, and processes that are killed while they write."""

from __future__ import annotations

import os
import random
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from prosa.adapters.sqlite import Index
from tests.adapters.sqlite.place import Place
from tests.depth import examples

KILLS = examples(14, share=2)


def forked(work: Callable[[], None]) -> int:
    """The number of a process that does the work and nothing else."""
    number = os.fork()
    if number:
        return number
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def text(dice: random.Random, names: list[str]) -> str:
    links = " ".join(f"[[{dice.choice(names)}]]" for _ in range(5))
    return f"---\ntitle: T{dice.randrange(50)}\ntags: [a{dice.randrange(5)}]\n---\n# H\n\n{links}\n" + "word " * 200


def change_and_refresh(place: Place, seed: int, rounds: int) -> None:
    """Writes and removes documents, and brings the index up to date after each."""
    dice = random.Random(seed)
    names = [f"n{number}" for number in range(40)]
    index = Index(place.index.path)
    for _ in range(rounds):
        for name in dice.sample(names, 8):
            file = place.root / f"{seed}-{name}.md"
            if dice.random() < 0.3:
                file.unlink(missing_ok=True)
            else:
                file.write_text(text(dice, names), encoding="utf-8")
        Place(place.root, index).refresh(anew=dice.random() < 0.2)


def same_as_new(place: Place, folder: Path) -> None:
    place.check()
    report = place.refresh()
    assert report.healed == ""
    other = Place(place.root, Index(folder / "other-v1.sqlite"))
    other.refresh(anew=True)
    assert place.dump() == other.dump()
    other.index.close()


def test_a_writer_that_is_killed_at_any_moment_leaves_an_index_that_can_be_used(tmp_path: Path):
    dice = random.Random(4)
    place = Place.at(tmp_path, {f"s{number}.md": text(dice, ["n1", "s2"]) for number in range(60)})
    for attempt in range(KILLS):
        child = forked(lambda seed=attempt: change_and_refresh(place, seed, 1000))
        time.sleep(dice.uniform(0.0, 0.12))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert place.refresh().healed == ""
        place.check()
        place.index.close()
    same_as_new(place, tmp_path)


def test_two_writers_at_once_leave_what_one_would(tmp_path: Path):
    place = Place.at(tmp_path, {f"s{number}.md": "[[n1]]" for number in range(20)})
    children = [forked(lambda seed=seed: change_and_refresh(place, seed, 12)) for seed in range(3)]
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    same_as_new(place, tmp_path)


def test_two_processes_that_meet_a_broken_index_heal_it_once(tmp_path: Path):
    place = Place.at(tmp_path, {f"s{number}.md": f"# {number}" for number in range(20)})
    for _ in range(5):
        place.index.close()
        place.index.path.write_bytes(b"no database " * 1000)
        children = [forked(lambda: Place(place.root, Index(place.index.path)).refresh() and None) for _ in range(3)]
        assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
        same_as_new(place, tmp_path)
