"""The index of skills of another site (Agent Skills Discovery 0.2.0): what it offers, and what is wrong with it.

In: the JSON of an index and its URL. Out: entries, and complaints. Never fails: what cannot be used is a complaint.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, TypeAlias
from urllib.parse import urljoin

from msgspec import Struct

from prosa.data import Value
from prosa.dialects.fields import shown
from prosa.dialects.skill_md.model import MAX_DESCRIPTION, MAX_NAME
from prosa.regex import regex
from prosa.site.archive import SKILL_FILE, ArchiveProblem, Files, unpack
from prosa.site.discovery import SKILLS_SCHEMA
from prosa.source.url import origin_of

TYPES = ("skill-md", "archive")
NAME = regex(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""The name of a skill on a site: ASCII alone, since it is part of a URL."""

_DIGEST = regex(r"sha256:[0-9a-f]{64}")


class SkillEntry(Struct, frozen=True):
    """A skill that a site offers. ``url`` is absolute, ``digest`` the SHA-256 in hex of what is there."""

    name: str
    type: str
    description: str
    url: str
    digest: str


State: TypeAlias = Literal["fetched", "same", "kept", "refused"]
"""What became of a skill: written, already there, not written over something else, or not used."""


class FetchedSkill(Struct, frozen=True):
    """A skill that was asked for; ``note`` says why it was not written."""

    entry: SkillEntry
    state: State
    note: str = ""


class SkillsIndex(Struct, frozen=True):
    """What an index says; ``complaints`` are sentences about the rest of it."""

    entries: tuple[SkillEntry, ...] = ()
    complaints: tuple[str, ...] = ()


def read_index(value: Value, url: str) -> SkillsIndex:
    """Return the entries of the index at ``url``. One in another version has none (section "Versioning")."""
    skills = value.get("skills") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(skills, list):
        return SkillsIndex(complaints=("it is not an object with a list `skills`",))
    schema = value.get("$schema")
    if schema is None:
        return SkillsIndex(complaints=("it has no `$schema`: it is of version 0.1.0, which has no digests",))
    if schema != SKILLS_SCHEMA:
        return SkillsIndex(complaints=(f"its `$schema` is {shown(str(schema))}, and {SKILLS_SCHEMA} is known",))
    by_name: dict[str, SkillEntry] = {}
    complaints: list[str] = []
    for at, skill in enumerate(skills):
        entry = _entry(skill, url)
        if isinstance(entry, str):
            complaints.append(f"skills[{at}]: {entry}")
        elif entry.name in by_name:
            complaints.append(f"skills[{at}]: a second skill is named {entry.name!r}")
        else:
            by_name[entry.name] = entry
    return SkillsIndex(tuple(by_name.values()), tuple(complaints))


def _entry(value: Value, base: str) -> SkillEntry | str:
    """Return an entry, or what is wrong with it."""
    if not isinstance(value, dict):
        return "is not an object"
    name, kind, about, url, digest = (value.get(key) for key in ("name", "type", "description", "url", "digest"))
    if not isinstance(name, str) or len(name) > MAX_NAME or not NAME.fullmatch(name):
        return "`name` must be 1 to 64 small letters a to z, digits and single hyphens"
    if kind not in TYPES:
        return f"`type` of {name} is {shown(str(kind))}, and must be one of {', '.join(TYPES)}"
    if not isinstance(about, str) or not 0 < len(about) <= MAX_DESCRIPTION:
        return f"`description` of {name} must have 1 to {MAX_DESCRIPTION:,} characters"
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return f"`digest` of {name} must be `sha256:` and 64 small hexadecimal digits"
    try:
        where = urljoin(base, url) if isinstance(url, str) and url else ""
        origin_of(where)
    except ValueError:
        return f"`url` of {name} must be a URL of a file"
    return SkillEntry(name, kind, about, where, digest.removeprefix("sha256:"))


def files_of(entry: SkillEntry, data: bytes) -> Files:
    """Return the files of a skill out of what was fetched for it. Raises `ArchiveProblem` where its digest is another
    one, and for an archive that is not safe."""
    digest = sha256(data).hexdigest()
    if digest != entry.digest:
        raise ArchiveProblem(f"its digest is sha256:{digest}, and the index says sha256:{entry.digest}")
    return unpack(data) if entry.type == "archive" else ((SKILL_FILE, data),)
