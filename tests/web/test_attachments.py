"""YA21: files that documents embed by name are looked for rarely, however many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from prosa.app.site.assets import Assets, Named
from prosa.app.site.files import SiteFiles, VisibleFile
from prosa.app.site.keeper import IndexThread, SiteOptions
from prosa.corpus.found import Stamp
from prosa.graph.resolve import by_nearness, nearest_to
from prosa.settings import Settings


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


class NamedFiles(SiteFiles):
    """Files that are there by name; some may not be seen. Counts how often one is asked for."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(Path("/nowhere"), 1_000)
        self.names, self.hidden, self.asked = names, frozenset[str](), 0

    def others(self, wanted: Callable[[str], bool]) -> Iterator[str]:
        return iter(sorted(each for each in self.names - self.hidden if wanted(each)))

    def place(self, path: str) -> VisibleFile | None:
        self.asked += 1
        is_seen = path in self.names and path not in self.hidden
        return VisibleFile(self.root / path, Stamp(1, 1, 1, 1)) if is_seen else None


@given(
    names=st.frozensets(st.lists(st.sampled_from("abc"), max_size=3).map(lambda some: "/".join((*some, "plan.png")))),
    gone=st.frozensets(st.integers(0, 8), max_size=3),
    here=st.lists(st.sampled_from("abc"), max_size=3).map("/".join),
)
def test_ya21_the_nearest_file_that_may_be_seen_is_meant(names: frozenset[str], gone: frozenset[int], here: str):
    """YA21. Files that became hidden after the look among them; of many with one name few are asked for."""
    files = NamedFiles(names)
    attachments = Assets(files, IndexThread(files, SiteOptions("x"), {}, Settings()), Clock())
    attachments.find("elsewhere/x.md", "plan.png")  # the look
    ordered = sorted(names)
    files.hidden = frozenset(ordered[each] for each in gone if each < len(ordered))
    files.asked = 0
    found = attachments.find(f"{here}/x.md" if here else "x.md", "plan.png")
    seen = [Named(each, "") for each in ordered if each not in files.hidden]
    beside = f"{here}/plan.png" if here else "plan.png"
    near = nearest_to(here, seen) if seen else ()
    expected = next((each for each in (beside, "plan.png") if each in {each.path for each in seen}), None)
    assert found == (expected or (near[0].path if len(near) == 1 else None))
    ties = max(map(len, by_nearness(here, [Named(each, "") for each in ordered])), default=0)
    assert files.asked <= 2 + ties * (1 + len(files.hidden))


@given(look=st.floats(0, 100), pages=st.lists(st.floats(0.001, 2), min_size=1, max_size=60))
def test_ya21_looking_for_files_is_a_small_part_of_the_work(look: float, pages: list[float]):
    clock = Clock()
    files = SlowFiles(Path("/nowhere"), 1_000, clock=clock, seconds=look)
    attachments = Assets(files, IndexThread(files, SiteOptions("x"), {}, Settings()), clock)
    for seconds in pages:
        assert attachments.find("notes/one.md", "plan.png") is None
        clock.now += seconds
    work = sum(pages)
    assert files.looks <= 1 + work / 5
    assert (files.looks - 1) * look <= work / 20 + 1e-6
