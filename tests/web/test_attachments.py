"""YA21: files that documents embed by name are looked for rarely, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from prosa.app.site.attachments import Attachments
from prosa.app.site.files import SiteFiles


@dataclass
class Clock:
    """A clock that goes on when somebody works."""

    now: float = 1.0

    def __call__(self) -> float:
        return self.now


class SlowFiles(SiteFiles):
    """A folder without files whose looks take so many seconds."""

    def __init__(self, root: Path, max_size: int, *, clock: Clock, seconds: float) -> None:
        super().__init__(root, max_size)
        self.clock, self.seconds, self.looks = clock, seconds, 0

    def others(self, wanted: Callable[[str], bool]) -> Iterator[str]:
        del wanted
        self.looks += 1
        self.clock.now += self.seconds
        return iter(())


@given(look=st.floats(0, 100), pages=st.lists(st.floats(0.001, 2), min_size=1, max_size=60))
def test_ya21_looking_for_files_is_a_small_part_of_the_work(look: float, pages: list[float]):
    clock = Clock()
    files = SlowFiles(Path("/nowhere"), 1_000, clock=clock, seconds=look)
    attachments = Attachments(files, clock)
    for seconds in pages:
        assert attachments.find("notes/one.md", "plan.png") is None
        clock.now += seconds
    work = sum(pages)
    assert files.looks <= 1 + work / 5
    assert (files.looks - 1) * look <= work / 20 + 1e-6
