"""A check as the command line does it: with the project's settings, several processes, and what was kept from the last
time. In: groups of documents and the flags. Out: what was found in each.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.app.check.gather import Group
from prosa.cli.check_options import chosen_dialect
from prosa.cli.console import Console
from prosa.cli.parser import WrongUse
from prosa.diagnostics.nearest import nearest
from prosa.rules.engine import Checked, Surroundings, check
from prosa.rules.looking import Looker
from prosa.rules.overlay import Overlay
from prosa.rules.policy import Profile
from prosa.rules.table import RULES, is_selector
from prosa.source import Files

if TYPE_CHECKING:
    from prosa.rules.keeping import Store
    from prosa.rules.looking import Workers

_DAY = 24 * 60 * 60

MANY = 200
"""Documents from which on a status line is worth showing."""


@dataclass(frozen=True, slots=True)
class Checking:
    """How this command checks."""

    profile: Profile
    store: Store | None = None
    workers: Workers | None = None
    progress: Callable[[int], None] | None = None

    def profile_of(self, group: Group) -> Profile:
        """The flags over the settings of the project."""
        return replace(self.profile, settings=group.project.settings, root=group.root)

    def check(
        self,
        group: Group,
        *,
        keep: bool = False,
        texts: Mapping[Path, str] | None = None,
        only: Collection[Path] | None = None,
    ) -> Checked:
        """Checks the documents of a group, with ``texts`` in place of files, or ``only`` some of them. Only with
        ``keep`` the answer holds readings."""
        profile = self.profile_of(group)
        files: Files = Overlay(texts, group.files) if texts else group.files
        looker = Looker(
            files,
            profile.hints,
            keep,
            datetime.now(UTC),
            store=self.store,
            workers=self.workers,
            progress=self.progress,
        )
        beside = None if group.whole and only is None else group.beside
        metas = None if group.whole and only is None else group.metas
        around = Surroundings(group.root, beside, group.rooted, metas)
        paths = group.paths if only is None else [path for path in group.paths if group.files.real(path) in only]
        return check(paths, looker, profile, around)


@contextlib.contextmanager
def checking(args: argparse.Namespace, console: Console, count: int) -> Iterator[Checking]:
    """How to check ``count`` documents, with a status line on a terminal while it goes on. Raises `WrongUse`."""
    from prosa.cli.progress import progress

    profile = Profile(
        chosen_dialect(args.dialect),
        strict=args.strict,
        select=selectors(getattr(args, "select", ())),
        ignore=selectors(getattr(args, "ignore", ())),
    )
    with progress(console, wanted=count >= MANY) as status:
        done = _Done(count, status.show)
        yield Checking(profile, _store(args, console), _workers(args), done if status.enabled else None)


@dataclass(slots=True)
class _Done:
    """Counts documents on the status line."""

    total: int
    show: Callable[[str], None]
    count: int = field(default=0)

    def __call__(self, more: int, /) -> None:
        self.count += more
        self.show(f"checked {min(self.count, self.total):,} of {self.total:,} documents")


def _store(args: argparse.Namespace, console: Console) -> Store | None:
    """What was kept; None with `--no-cache`, and where there is no private place to keep anything."""
    if not getattr(args, "cache", True):
        return None
    from prosa.adapters.files.code_mark import code_mark
    from prosa.adapters.files.places import cache_dir
    from prosa.adapters.files.result_store import ResultStore

    try:
        return ResultStore(cache_dir(console.environ), code_mark(), int(time.time()) // _DAY)
    except OSError:
        return None


def _workers(args: argparse.Namespace) -> Workers | None:
    jobs = getattr(args, "jobs", None)
    from prosa.adapters.processes import Pool, worker_count

    count = worker_count() if jobs is None else jobs
    return Pool(count) if count > 1 else None


def selectors(values: Sequence[str]) -> tuple[str, ...]:
    """Rule names and beginnings of codes, given several times or with commas. Raises `WrongUse` for an unknown one."""
    names = tuple(name.strip() for value in values for name in value.split(",") if name.strip())
    for name in names:
        if not is_selector(name):
            guess = nearest(name, (*(rule.name for rule in RULES), *(rule.code for rule in RULES)))
            raise WrongUse(f"unknown rule {name!r}", hint=f"did you mean {guess}?" if guess else "see: prosa explain")
    return names
