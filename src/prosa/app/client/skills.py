"""The skills of another site: what it lists, and skills fetched into a folder of the user's (X40).

In: the URL of a site, and names. Out: entries; folders. Each skill is checked against the digest of its index before it
is unpacked, and nothing of it is run. An existing folder is never written into.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urljoin

from prosa.adapters.files.skill_files import skill_files
from prosa.adapters.files.write import write_folder
from prosa.app.client.requests import Bounds, SiteClient
from prosa.app.client.tokens import SiteTokens
from prosa.diagnostics.nearest import nearest
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.site.answer import json_of
from prosa.site.archive import SKILL_FILE, ArchiveProblem, Files
from prosa.site.discovery import SKILLS_INDEX
from prosa.site.problems import HttpProblem
from prosa.site.skills_index import FetchedSkill, SkillEntry, SkillsIndex, files_of, read_index
from prosa.source import SourceText
from prosa.source.url import origin_of


class UnknownSkill(Exception):
    """The site lists no skill of that name; the message says which one may have been meant."""


def list_skills(url: str, bounds: Bounds, tokens: SiteTokens) -> SkillsIndex:
    """Return the index of the site at ``url``. Raises `HttpProblem` where there is none."""
    with SiteClient(bounds, tokens) as client:
        return _index(client, url)


def fetch_skills(
    url: str,
    names: Sequence[str],
    folder: Path,
    bounds: Bounds,
    tokens: SiteTokens,
    on_fetched: Callable[[FetchedSkill], None],
    *,
    any_origin: bool = False,
) -> SkillsIndex:
    """Fetch skills by name, or all, each into a folder of its name below ``folder``. Files on another origin are only
    fetched with ``any_origin``. Raises `HttpProblem`, `UnknownSkill`, `OSError`."""
    with SiteClient(bounds, tokens) as client:
        index = _index(client, url)
        known = {entry.name: entry for entry in index.entries}
        for name in names:
            if name not in known:
                near = nearest(name, list(known))
                raise UnknownSkill(f"there is no skill {name!r}" + (f"; did you mean {near}?" if near else ""))
        for entry in [known[name] for name in dict.fromkeys(names)] if names else index.entries:
            on_fetched(_fetched(client, entry, url, folder, any_origin=any_origin))
    return index


def _index(client: SiteClient, url: str) -> SkillsIndex:
    """Return the index below the path of a site, else that of its host (RFC 8615)."""
    path = url.partition("?")[0].partition("#")[0]
    problem: HttpProblem | None = None
    for base in dict.fromkeys((f"{path.rstrip('/')}/", urljoin(path, "./"), f"{origin_of(url)}/")):
        place = f"{base}{SKILLS_INDEX}"
        answer = client.get(place, "application/json")
        if answer.is_success and origin_of(answer.url) == origin_of(url):
            return read_index(json_of(answer), answer.url)
        problem = problem or HttpProblem(f"{place}: {answer.status} {answer.reason}".rstrip())
    raise HttpProblem(problem.message if problem else url, "the site lists no skills") from None


def _fetched(client: SiteClient, entry: SkillEntry, url: str, folder: Path, *, any_origin: bool) -> FetchedSkill:
    if not any_origin and origin_of(entry.url) != origin_of(url):
        return FetchedSkill(entry, "refused", f"it lies on {origin_of(entry.url)}; allow that with --any-origin")
    try:
        answer = client.get(entry.url, "*/*")
        if not answer.is_success:
            return FetchedSkill(entry, "refused", f"{entry.url}: {answer.status} {answer.reason}".rstrip())
        if not any_origin and origin_of(answer.url) != origin_of(url):
            return FetchedSkill(entry, "refused", f"it lies on {origin_of(answer.url)}; allow that with --any-origin")
        files = files_of(entry, answer.body)
        _require_name(entry, files)
    except HttpProblem as problem:
        return FetchedSkill(entry, "refused", problem.message)
    except ArchiveProblem as problem:
        return FetchedSkill(entry, "refused", str(problem))
    return _written(entry, files, folder)


def _require_name(entry: SkillEntry, files: Files) -> None:
    """Raise `ArchiveProblem` for a skill that calls itself something else than the index does."""
    try:
        text = dict(files)[SKILL_FILE].decode("utf-8")
    except UnicodeDecodeError:
        raise ArchiveProblem(f"its {SKILL_FILE} is not UTF-8 text") from None
    front = open_document(SourceText(text, SKILL_FILE), Hints(explicit="skill_md")).front.value or {}
    if front.get("name") != entry.name:
        raise ArchiveProblem(f"its {SKILL_FILE} has the name {str(front.get('name'))[:64]!r}")


def _written(entry: SkillEntry, files: Files, folder: Path) -> FetchedSkill:
    """Write a skill as a whole, and over nothing."""
    target = folder / entry.name
    if os.path.lexists(target):
        if _is_same(target, files):
            return FetchedSkill(entry, "same")
        return FetchedSkill(entry, "kept", f"{target} is something else; move it away to fetch the skill")
    write_folder(target, files)
    return FetchedSkill(entry, "fetched")


def _is_same(target: Path, files: Files) -> bool:
    if target.is_symlink() or not target.is_dir():
        return False
    there = {SKILL_FILE, *skill_files(target)}
    try:
        return all(path in there and (target / path).read_bytes() == data for path, data in files)
    except OSError:
        return False
