"""What a site publishes for agents that look for it, by path: the one builder for sites that are served, built, or
stand beside another one (X40, X23).

In: a site whose catalogue is there, and its address. Out: files. Absolute addresses are made of what the user said,
never of a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from prosa import __version__
from prosa.app.site.search import declared_actions
from prosa.app.site.skills import PublishedSkill, Skills
from prosa.data import Plain
from prosa.render.json import dump
from prosa.site import discovery as forms
from prosa.site.discovery import FullPage, Link, SkillRow
from prosa.site.openapi import openapi

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite


class DiscoveryFile(NamedTuple):
    """A file: its path below the site, its media type, its bytes."""

    path: str
    media_type: str
    content: bytes


Pages = Callable[[], Iterator[FullPage]]
"""Yields the pages of `llms-full.txt` in the order of the site."""


class Discovery(Struct, frozen=True):
    """The files of one site. ``origin`` is its `https://host`, empty if unknown, ``prefix`` its path; ``mcp`` is the
    address of its MCP server, empty without one. ``closed`` sites want a token; a site without ``indexes`` is
    beside another one."""

    site: LiveSite
    skills: Skills
    pages: Pages
    origin: str = ""
    prefix: str = ""
    mcp: str = ""
    closed: bool = False
    indexes: bool = True

    @property
    def base(self) -> str:
        """What precedes URL paths: the address of the site as far as it is known."""
        return f"{self.origin}{self.prefix}"

    @property
    def has_operations(self) -> bool:
        """Whether there is something to describe as an interface."""
        return self.indexes or next(declared_actions(self.site), None) is not None

    def file(self, path: str) -> DiscoveryFile | None:
        """Return the file at a path; None where there is none."""
        made = _MAKERS.get(path)
        if made is not None:
            return made(self)
        return self._artifact(path) if path.startswith(forms.SKILLS) else None

    def all(self) -> Iterator[DiscoveryFile]:
        """Yield every file; the index of skills is of the same state as they are."""
        rows: list[SkillRow] = []
        for skill, content in self.skills.each():
            yield _skill_file(skill, content)
            rows.append(_row(skill))
        if self.site.index.catalogue.skills:
            yield _json(forms.SKILLS_INDEX, forms.skills_index(rows))
        for path, make in _MAKERS.items():
            made = make(self) if path != forms.SKILLS_INDEX else None
            if made is not None:
                yield made

    def _artifact(self, path: str) -> DiscoveryFile | None:
        asked = path.removeprefix(forms.SKILLS)
        name = asked.removesuffix(".tar.gz").removesuffix("/SKILL.md")
        skill = self.skills.named(name)
        if skill is None or asked != forms.skill_path(name, is_archive=skill.is_archive):
            return None
        content = self.skills.artifact(name)
        return _skill_file(skill, content) if content is not None else None


def links_of(site: LiveSite, mcp: str) -> tuple[Link, ...]:
    """Return the links to the files that a site has."""
    links = [
        Link("api-catalog", forms.API_CATALOG, forms.LINKSET),
        Link("service-desc", forms.OPENAPI, forms.JSON),
        Link("llms-txt", "llms.txt", "text/markdown"),
        Link("llms-full-txt", forms.LLMS_FULL, "text/plain"),
    ]
    if site.index.catalogue.skills:
        links.append(Link("agent-skills", forms.SKILLS_INDEX, forms.JSON))
    if mcp:
        links.append(Link("mcp-server-card", forms.SERVER_CARD, forms.CARD))
        links.append(Link("ai-catalog", forms.AI_CATALOG, forms.AI_CATALOG_TYPE))
    return tuple(links)


def _row(skill: PublishedSkill) -> SkillRow:
    return SkillRow(skill.name, skill.description, skill.artifact, skill.is_archive)


def _skill_file(skill: PublishedSkill, content: bytes) -> DiscoveryFile:
    path = f"{forms.SKILLS}{forms.skill_path(skill.name, is_archive=skill.is_archive)}"
    return DiscoveryFile(path, forms.GZIP if skill.is_archive else "text/markdown; charset=utf-8", content)


def _json(path: str, value: Plain, media_type: str = forms.JSON) -> DiscoveryFile:
    return DiscoveryFile(path, media_type, f"{dump(value)}\n".encode("utf-8", "replace"))


def _skills_index(asked: Discovery) -> DiscoveryFile | None:
    if not asked.site.index.catalogue.skills:
        return None
    return _json(forms.SKILLS_INDEX, forms.skills_index(_row(skill) for skill in asked.skills.all()))


def _api_catalog(asked: Discovery) -> DiscoveryFile | None:
    """Return the catalogue; None where there is no interface."""
    if not asked.has_operations:
        if not asked.mcp:
            return None
        return _json(forms.API_CATALOG, forms.api_catalog(asked.base, asked.mcp, described=False), forms.LINKSET)
    return _json(forms.API_CATALOG, forms.api_catalog(asked.base, asked.mcp), forms.LINKSET)


def _server_card(asked: Discovery) -> DiscoveryFile | None:
    if not asked.mcp:
        return None
    card = forms.server_card(asked.site.options.name, asked.mcp, __version__, closed=asked.closed)
    return _json(forms.SERVER_CARD, card, forms.CARD)


def _ai_catalog(asked: Discovery) -> DiscoveryFile | None:
    if not asked.mcp:
        return None
    card = forms.server_card(asked.site.options.name, asked.mcp, __version__, closed=asked.closed)
    url = f"{asked.base}/{forms.SERVER_CARD}" if "://" in asked.base else ""
    return _json(forms.AI_CATALOG, forms.ai_catalog(card, url), forms.AI_CATALOG_TYPE)


def _full(asked: Discovery) -> DiscoveryFile:
    text = forms.full_text(
        asked.site.options.name, asked.pages(), len(asked.site.index.catalogue.rows), f"{asked.base}/llms.txt"
    )
    return DiscoveryFile(forms.LLMS_FULL, "text/plain; charset=utf-8", text.encode("utf-8", "replace"))


def _openapi(asked: Discovery) -> DiscoveryFile | None:
    if not asked.has_operations:
        return None
    actions = [action for _, action in declared_actions(asked.site)]
    name, root = asked.site.options.name, asked.prefix
    return _json(forms.OPENAPI, openapi(name, actions, origin=asked.origin, prefix=root, indexes=asked.indexes))


_MAKERS: dict[str, Callable[[Discovery], DiscoveryFile | None]] = {
    forms.SKILLS_INDEX: _skills_index,
    forms.API_CATALOG: _api_catalog,
    forms.SERVER_CARD: _server_card,
    forms.AI_CATALOG: _ai_catalog,
    forms.LLMS_FULL: _full,
    forms.OPENAPI: _openapi,
}
