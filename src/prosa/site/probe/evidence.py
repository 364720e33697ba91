"""What the probe has seen, as records: the nodes of a site or a folder, what rules remarked, what a server answered.

The checks judge this and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct, field

from prosa.dialects.mdh.model import NodeModel
from prosa.dialects.mdh.url import resolve
from prosa.site.probe.reply import Reply
from prosa.source.url import origin_of

Kind: TypeAlias = Literal["node", "html", "asset", "action", "index", "elsewhere", "missing", "unasked"]
"""The state of a URL path: Markdown, a page that has only HTML, something else, the URL of a declared action or an
index (neither is requested as a page), a redirect to another site, nothing, or not requested because the limit was
reached."""

Part: TypeAlias = Literal["head", "actions", "rest"]
"""Where in a node a remark points: `id`, `type` and `title`; its actions; anything else."""


class Mark(Struct, frozen=True):
    """One line of evidence: a URL or a path, the line if there is one (1-based), and the message."""

    at: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        return f"{self.at}{'' if self.line is None else f':{self.line}'}: {self.message}"


class Remark(Struct, frozen=True):
    """What a rule of `prosa check` found in a node."""

    rule: str
    part: Part
    mark: Mark


class NodeSeen(Struct, frozen=True):
    """A node that was read. ``at`` is its URL or its path, ``path`` its decoded URL path on the site; ``derived`` are
    the fields that the site adds because its author wrote none (H9)."""

    at: str
    path: str
    model: NodeModel
    derived: Collection[str] = ()

    @property
    def id(self) -> str:
        """Its id, empty without one."""
        return self.model.id.text if self.model.id else ""

    def mark(self, offset: int, message: str) -> Mark:
        """Evidence at an offset of its text."""
        return Mark(self.at, message, self.model.source.position(offset).line)


class PageSeen(Struct, frozen=True):
    """A requested URL path. ``path`` is decoded, ``url`` as requested; ``reply`` answers `text/markdown`.

    ``twin`` is the answer at the same path with `.md` if that was needed. ``answers`` are those to the further
    questions (`questions`), of a sample of the nodes.
    """

    path: str
    url: str
    kind: Kind
    reply: Reply
    twin: Reply | None = None
    answers: Mapping[str, Reply] = field(default_factory=dict)

    @property
    def markdown(self) -> Reply | None:
        """The answer that is its Markdown."""
        found = (each for each in (self.reply, self.twin) if each is not None and each.is_markdown)
        return next(found, None)

    def answer(self, name: str) -> Reply | None:
        """Return the answer to a further question; None if it was not sent."""
        found = self.answers.get(name)
        return found if found is not None and found.asked else None


class CallSeen(Struct, frozen=True):
    """A GET action without required input that was called: its node, its id, the pages' signals and the answer."""

    mark: Mark
    reply: Reply
    paginated: bool


class SiteSeen(Struct, frozen=True):
    """The answers of a running site. ``root`` is its root as a URL; ``pages`` by decoded path, in the order they were
    found; ``targets`` is the state of every linked path. ``same`` maps a path to the one where the same document was
    seen first. ``beside`` are other files by path: indexes, `llms.txt`. ``missing`` are answers for a page that cannot
    exist, by requested form. ``calls`` is None if no action was to be called. ``cut`` is true if the limit was
    reached."""

    root: str
    start: str
    pages: Mapping[str, PageSeen]
    targets: Mapping[str, Kind]
    same: Mapping[str, str]
    beside: Mapping[str, Reply]
    missing: Mapping[str, Reply]
    calls: tuple[CallSeen, ...] | None = None
    cut: bool = False

    @property
    def nodes(self) -> tuple[PageSeen, ...]:
        """The pages that are Markdown, each document once."""
        return tuple(page for path, page in self.pages.items() if page.kind == "node" and path not in self.same)

    @property
    def sampled(self) -> tuple[PageSeen, ...]:
        """The pages that were requested in every form."""
        return tuple(page for page in self.nodes if page.answers)

    def path_of(self, base: str, href: str) -> str | None:
        """Return the decoded path on this site that a link in a document at ``base`` leads to; None for one that leads
        elsewhere (HA5, HA6)."""
        return path_on(self.root, base, href)


class Evidence(Struct, frozen=True):
    """All evidence. ``site`` is None for a folder. ``unreadable`` are files that are no documents; ``passed_over``
    counts documents of a folder that are not nodes, by dialect."""

    target: str
    nodes: tuple[NodeSeen, ...]
    remarks: tuple[Remark, ...]
    site: SiteSeen | None = None
    unreadable: tuple[Mark, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict)

    def remarked(self, *rules: str) -> tuple[Mark, ...]:
        """Return what the rules of these names found."""
        return tuple(each.mark for each in self.remarks if each.rule in rules)


def path_on(root: str, base: str, href: str) -> str | None:
    """Return the decoded URL path that ``href`` leads to from the path ``base``, where that is on the origin of
    ``root``."""
    found = resolve(base, href)
    if found.origin:
        scheme = f"{root.partition('//')[0]}{found.origin}" if found.origin.startswith("//") else found.origin
        try:
            if origin_of(scheme) != origin_of(root):
                return None
        except ValueError:
            return None
        if found.origin.startswith("//"):
            return resolve(base, f"{root.partition('//')[0]}{href}").path
    return found.path
