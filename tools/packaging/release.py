"""Says whether this tree can be released: one version everywhere, a changelog that has it, addresses that are known.

`python -m tools.packaging.release` looks; `--tag v1.2.3` demands that version, and that nothing waits to be described;
`--notes FILE` writes what the changelog says about it. Exit status 1 with a line for each thing that is not so.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tools.packaging.owner import FILE, empty, read_owner

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = (".", "sandbox", "packaging/prosa")
CODE = "src/prosa/__init__.py"
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
_HEAD = re.compile(r"## \[(?P<version>[^\]]+)\](?: - (?P<date>\d{4}-\d{2}-\d{2}))?")


class Section(NamedTuple):
    """What the changelog says about a version: its date, empty for what is not released, and its text."""

    version: str
    date: str
    text: str


def sections(changelog: str) -> Iterator[Section]:
    """Yield the sections of a changelog, the newest first. Raises `ValueError` for another form."""
    for part in re.split(r"^(?=## )", changelog, flags=re.MULTILINE)[1:]:
        head, _, text = part.partition("\n")
        found = _HEAD.fullmatch(head)
        if found is None or (found["version"] == "Unreleased") == bool(found["date"]):
            raise ValueError(f"not the heading of a version: {head}")
        wrong = [kind for kind in re.findall(r"^### (.*)$", text, re.MULTILINE) if kind not in KINDS]
        if wrong:
            raise ValueError(f"{found['version']}: {wrong[0]} is none of {', '.join(KINDS)}")
        yield Section(found["version"], found["date"] or "", text.strip())


def versions() -> dict[str, str]:
    """Return every place that says the version, and what it says."""
    said = {}
    for folder in PROJECTS:
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        said[f"{folder}/pyproject.toml"] = project["version"]
        extras = project.get("optional-dependencies", {}).values()
        lines = [*project.get("dependencies", ()), *(line for extra in extras for line in extra)]
        ours = (line.partition("==") for line in lines if line.startswith("prosa-"))
        said |= {f"{folder}/pyproject.toml: {name}": pin for name, _, pin in ours}
    code = (ROOT / CODE).read_text(encoding="utf-8")
    return said | {CODE: code.partition('__version__ = "')[2].partition('"')[0]}


def differing(said: dict[str, str]) -> list[tuple[str, str]]:
    """Return the places that say another version than the code does, and what they say."""
    return [(place, found) for place, found in said.items() if found != said[CODE]]


class Changes(NamedTuple):
    """The dates of the released versions in a changelog, and whether something waits for the next one."""

    dates: dict[str, str]
    waits: bool


def changes(changelog: str) -> Changes:
    """Return what a changelog says of releases. Raises `ValueError` for another form."""
    log = list(sections(changelog))
    waits = any(section.version == "Unreleased" and "- " in section.text for section in log)
    return Changes({section.version: section.date for section in log if section.date}, waits)


def problems(tag: str | None) -> Iterator[str]:
    """Yield why this tree cannot be released, or not as ``tag``; nothing where it can."""
    said = versions()
    version = said[CODE]
    yield from (f"{place} says {found}, not {version}" for place, found in differing(said))
    log = changes((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    if tag is None:
        return
    if tag != f"v{version}":
        yield f"the tag {tag} is not v{version}"
    if version not in log.dates:
        yield f"CHANGELOG.md has no section [{version}] with a date"
    if log.waits:
        yield "CHANGELOG.md still has entries under [Unreleased]"
    if missing := empty(read_owner(FILE.read_text(encoding="utf-8"))):
        yield f"packaging/owner.toml is empty at {', '.join(missing)}: docs/releasing.md"


def main() -> int:
    """Look, tell, and give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag")
    parser.add_argument("--notes", type=Path)
    wanted = parser.parse_args()
    found = list(problems(wanted.tag))
    for problem in found:
        print(problem, file=sys.stderr)
    if wanted.notes and not found:
        log = sections((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
        version = versions()[CODE]
        wanted.notes.write_text(next(each.text for each in log if each.version == version) + "\n", encoding="utf-8")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
