"""Evidence to a report: the table of checks, their findings, and the score.

The agent-readiness score is one number from 0 to 100 out of all findings that apply. Each check has a weight by its
level; the six points of §11 weigh twice as much as others of their level, because they are what the specification calls
conformance. Where a MUST failed it stays below 50: an agent cannot rely on the site. A MUST that cannot be observed
from outside has no row: that a GET has no side effect, that a forged request is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from prosa.site.probe import judge_answers as answers
from prosa.site.probe import judge_discovery as found
from prosa.site.probe import judge_nodes as nodes
from prosa.site.probe import judge_pages as pages
from prosa.site.probe.evidence import Check, Evidence, Level, Mark, Status

WEIGHTS: Mapping[Level, int] = {"MUST": 10, "SHOULD": 3, "MAY": 1}
CONFORMANCE = "§11"
FACTOR = 2
"""For the points of §11."""

CAP = 49
"""The most that a site can reach of which a MUST failed."""


def weight_of(check: Check) -> int:
    """Return what a check weighs."""
    return WEIGHTS[check.level] * (FACTOR if check.source.startswith(CONFORMANCE) else 1)


def score_of(judged: Iterable[tuple[Check, Status]]) -> int:
    """Return the score. Checks that do not apply count neither way; where none applies it is 0."""
    applying = [(check, status) for check, status in judged if status != "not-applicable"]
    whole = sum(weight_of(check) for check, _ in applying)
    passed = sum(weight_of(check) for check, status in applying if status == "passed")
    score = passed * 100 // whole if whole else 0
    broken = any(check.level == "MUST" and status == "failed" for check, status in applying)
    return min(score, CAP) if broken else score


MOST_MARKS = 10
"""Lines of evidence that a finding shows; the rest are counted."""


class Finding(Struct, frozen=True):
    """What a check found. ``evidence`` are the first marks, ``more`` is how many there are beyond them."""

    check: Check
    status: Status
    words: str
    evidence: tuple[Mark, ...]
    more: int


class Report(Struct, frozen=True):
    """``target`` is the URL or the folder as the user named it; ``pages`` counts the examined documents. ``notes`` are
    sentences about omissions."""

    target: str
    is_site: bool
    findings: tuple[Finding, ...]
    pages: int
    score: int
    notes: tuple[str, ...]

    def failed(self, *levels: Level) -> tuple[Finding, ...]:
        """Return the findings of these levels that failed."""
        return tuple(
            finding for finding in self.findings if finding.status == "failed" and finding.check.level in levels
        )

    @property
    def conformant(self) -> bool:
        """Whether every MUST holds."""
        return not self.failed("MUST")


def report_on(evidence: Evidence, checks: tuple[Check, ...] | None = None) -> Report:
    """Judge everything, or what ``checks`` are about, in the order of the table."""
    findings = tuple(_finding(check, evidence) for check in checks or CHECKS)
    score = score_of((finding.check, finding.status) for finding in findings)
    site = evidence.site
    pages = len(evidence.nodes) + len(evidence.unreadable) if site is None else len(site.pages)
    return Report(evidence.target, site is not None, findings, pages, score, tuple(_notes(evidence)))


def _finding(check: Check, evidence: Evidence) -> Finding:
    outcome = check.outcome(evidence)
    shown = outcome.marks[:MOST_MARKS]
    return Finding(check, outcome.status, outcome.words, shown, len(outcome.marks) - len(shown))


def _notes(evidence: Evidence) -> Iterator[str]:
    site = evidence.site
    if evidence.passed_over:
        counted = ", ".join(f"{number} {title}" for title, number in sorted(evidence.passed_over.items()))
        yield f"skipped, because they are not nodes in a folder: {counted}"
    if site is None:
        return
    unasked = sum(kind == "unasked" for kind in site.targets.values())
    if unasked:
        yield f"{unasked} more paths were not requested and not checked; see --max-pages"
    if 0 < len(site.sampled) < len(site.nodes):
        yield f"{len(site.sampled)} of {len(site.nodes)} nodes were requested in every form"


DISCOVERY: tuple[Check, ...] = (
    Check(
        "skills-index",
        "MAY",
        "Agent Skills Discovery 0.2.0",
        "the index of skills is complete",
        "write `$schema`, and of each skill name, type, description, url and digest",
        found.skills_index,
        live=True,
    ),
    Check(
        "skills-as-listed",
        "MAY",
        "Agent Skills Discovery 0.2.0",
        "each skill has its digest, and is safe to unpack",
        "write the index from the files that are served; put neither links nor `..` into archives",
        found.skills_as_listed,
        live=True,
    ),
    Check(
        "api-catalog",
        "MAY",
        "RFC 9727, RFC 9264",
        "the API catalogue is a linkset",
        "serve `linkset` with an `anchor` for each interface, as application/linkset+json",
        found.api_catalog,
        live=True,
    ),
    Check(
        "openapi",
        "MAY",
        "OpenAPI 3.1",
        "/openapi.json describes the actions of the site",
        "build it from the actions that the nodes declare",
        found.openapi,
        live=True,
    ),
    Check(
        "mcp-server-card",
        "MAY",
        "SEP-2127",
        "the card of the MCP server says what and where it is",
        "write `$schema`, `name`, `description`, `version` and `remotes`",
        found.server_card,
        live=True,
    ),
    Check(
        "has-llms-full-txt",
        "MAY",
        "llms.txt",
        "/llms-full.txt has the text of the pages",
        "serve the Markdown of the pages as one text",
        found.llms_full,
        live=True,
    ),
    Check(
        "content-signals",
        "MAY",
        "contentsignals.org",
        "content signals in /robots.txt can be read",
        "write `Content-Signal: search=yes, ai-input=yes, ai-train=no`",
        found.content_signals,
        live=True,
    ),
    Check(
        "discovery-is-linked",
        "MAY",
        "RFC 8288",
        "the first page leads to these files",
        "send `Link` headers, or write `<link>` elements into the page",
        found.linked,
        live=True,
    ),
)
"""What agents look for on any site."""

CHECKS: tuple[Check, ...] = (
    Check(
        "markdown-for-every-node",
        "MUST",
        "§11 (1), H21",
        "every node has its Markdown at a stable URL",
        "serve the Markdown of each node at its URL, or at the same path with `.md`",
        pages.markdown,
    ),
    Check(
        "front-matter-in-every-node",
        "MUST",
        "§11 (2), H21",
        "every node begins with `id`, `type` and `title`",
        "write the three into the front matter of each node",
        nodes.front_matter,
    ),
    Check(
        "unique-ids",
        "MUST",
        "§5.1, HA20",
        "no two nodes share an id",
        "give one of them another id",
        nodes.unique_ids,
    ),
    Check(
        "links-lead-to-nodes",
        "MUST",
        "§11 (3), H21, HA5",
        "every inline link leads to a node of the site",
        "fix the link, or publish its target",
        pages.links,
    ),
    Check(
        "complete-actions",
        "MUST",
        "§11 (4), H21",
        "every action has `id`, `method` and `url`",
        "write all three; the method is GET, POST, PUT, PATCH or DELETE",
        nodes.complete_actions,
    ),
    Check(
        "actions-stay-on-the-site",
        "MUST",
        "§8.1, HA12",
        "every action is called on its own site",
        "write the `url` as a path from the root of the site; clients refuse others",
        nodes.actions_stay,
    ),
    Check(
        "one-meaning-per-action-id",
        "MUST",
        "§8.1, HA13",
        "an action id stands for one method and one URL",
        "give one of the actions another id",
        nodes.one_meaning,
    ),
    Check(
        "negotiates-markdown",
        "SHOULD",
        "§11 (5), H21e",
        "`Accept: text/markdown` gives Markdown at the URL of a node",
        "answer with `Content-Type: text/markdown; charset=utf-8`",
        answers.negotiates_markdown,
        live=True,
    ),
    Check(
        "negotiates-json",
        "SHOULD",
        "§11 (5), H21e, H23",
        "`Accept: application/json` gives a node as JSON",
        "answer with the front matter as an object, with `md_url` and `body`",
        answers.negotiates_json,
        live=True,
    ),
    Check(
        "json-agrees",
        "SHOULD",
        "§7, HA8",
        "the JSON of a node has the id, type and title of its Markdown",
        "make both from the same document",
        answers.json_agrees,
        live=True,
    ),
    Check(
        "respects-q-values",
        "SHOULD",
        "RFC 9110 §12.4.2, HA7, HW1",
        "q-values decide between Markdown and JSON",
        "parse `Accept`; do not search it for a word",
        answers.weights_respected,
        live=True,
    ),
    Check(
        "markdown-by-default",
        "SHOULD",
        "§4, HA7",
        "a client that accepts anything gets Markdown",
        "answer `*/*` with Markdown; give HTML to those that prefer text/html",
        answers.markdown_by_default,
        live=True,
    ),
    Check(
        "never-406",
        "SHOULD",
        "§4, HA7",
        "an unavailable form gives Markdown, not 406",
        "fall back to Markdown",
        answers.never_refused,
        live=True,
    ),
    Check(
        "vary-accept",
        "SHOULD",
        "RFC 9110 §12.5.5, HA7",
        "answers whose form is negotiated have `Vary: Accept`",
        "send `Vary: Accept` with every form, or caches mix them up",
        answers.varies,
        live=True,
    ),
    Check(
        "head-like-get",
        "SHOULD",
        "RFC 9110 §9.3.2, HA7",
        "HEAD answers as GET does, without a body",
        "let HEAD take the same way as GET",
        answers.head_like_get,
        live=True,
    ),
    Check(
        "same-bytes-twice",
        "SHOULD",
        "§2, H6",
        "a node that is requested twice gives the same bytes",
        "keep times and tokens out of nodes",
        answers.same_twice,
        live=True,
    ),
    Check(
        "auth-on-every-action",
        "SHOULD",
        "§11 (6), H21, HA14",
        "every action declares `auth`",
        "write `auth: {type: none}` where anybody may call",
        nodes.auth_declared,
    ),
    Check(
        "csrf-documented",
        "SHOULD",
        "§10.4, H20",
        "changes with a cookie say how they are protected from forged requests",
        "say it in the action, under `csrf` for example, or in the text",
        nodes.csrf_documented,
    ),
    Check(
        "reads-by-get",
        "SHOULD",
        "§10.1, H17, HA19",
        "no GET action is called after a change",
        "use POST, PUT, PATCH or DELETE for what changes something",
        nodes.reads_by_get,
    ),
    Check(
        "readable-contracts",
        "SHOULD",
        "§8, H12, H13, HA16, HA18",
        "authentication, query, body and pages of every action can be read",
        "look at the action with `prosa check`",
        nodes.readable_contracts,
    ),
    Check(
        "copies-agree",
        "SHOULD",
        "§8.1, HA13, HW8",
        "an action that is declared twice has one contract",
        "make the copies alike, or keep one",
        nodes.copies_agree,
    ),
    Check(
        "followable-pagination",
        "SHOULD",
        "§9.1, H15",
        "what is declared about pages leads to the next one",
        "declare a cursor, its parameter and where the next one is",
        nodes.pagination_followed,
    ),
    Check(
        "listing-envelope",
        "SHOULD",
        "§9.2, H16",
        "pages of a listing have `page` and `links`",
        "answer with page_size and next_cursor in `page`, self and next in `links`",
        answers.listing_envelope,
        live=True,
    ),
    Check(
        "reads-answer",
        "SHOULD",
        "§8.4, H5",
        "GET actions that need no input answer",
        "fix the endpoint, or declare what it needs",
        answers.reads_answer,
        live=True,
    ),
    Check(
        "declared-links-lead-to-nodes",
        "SHOULD",
        "§5.2, HA4",
        "targets in front matter are ids of nodes",
        "write the id of a node, or `url:` and a URL",
        nodes.declared_links,
    ),
    Check(
        "well-formed-fields",
        "SHOULD",
        "§5.1, §5.2, H9, H10",
        "the other fields of front matter have their form",
        "look at the node with `prosa check`",
        nodes.forms,
    ),
    Check(
        "cache-headers",
        "SHOULD",
        "§10.2, H18",
        "nodes have `Cache-Control` and `ETag`",
        "send both with every node",
        answers.cache_headers,
        live=True,
    ),
    Check(
        "not-modified",
        "SHOULD",
        "§10.2, RFC 9110 §13.1.2, HA7",
        "a node that has not changed answers 304",
        "compare `If-None-Match` with the ETag",
        answers.not_modified,
        live=True,
    ),
    Check(
        "etag-for-each-form",
        "SHOULD",
        "RFC 9110 §8.8.3, HA7",
        "the forms of a node have different ETags",
        "make the ETag of the bytes that are sent",
        answers.etag_for_each_form,
        live=True,
    ),
    Check(
        "pages-may-be-stored",
        "SHOULD",
        "§10.2, HW2",
        "public nodes are not `no-store`",
        "keep `no-store` for what is sensitive or belongs to one user",
        answers.may_be_stored,
        live=True,
    ),
    Check(
        "missing-pages-answer-404",
        "SHOULD",
        "RFC 9110 §15.5.5, HW1",
        "a missing page is a 404 in the requested form",
        "negotiate the 404 as everything else",
        pages.not_found,
        live=True,
    ),
    Check(
        "indexes-agree",
        "SHOULD",
        "HA1",
        "indexes, if any, agree with the nodes",
        "rebuild the indexes, or remove them: they are optional",
        pages.indexes,
    ),
    Check(
        "has-indexes",
        "MAY",
        "HA1",
        "/mdh/nodes.json and /mdh/actions.json list the site",
        "serve them, and agents know the site without walking it",
        pages.has_indexes,
        live=True,
    ),
    Check(
        "has-llms-txt",
        "MAY",
        "llms.txt",
        "/llms.txt introduces the site",
        "serve a short Markdown file with the most important links",
        pages.has_llms,
        live=True,
    ),
    Check(
        "file-forms",
        "MAY",
        "HA7",
        "nodes are at the same path with `.md` and `.json` too",
        "serve them for clients that cannot send `Accept`",
        answers.file_forms,
        live=True,
    ),
    Check(
        "html-for-people",
        "MAY",
        "§4, H8",
        "a browser gets HTML",
        "render the nodes for people at the same URLs",
        answers.html_for_people,
        live=True,
    ),
    Check(
        "html-is-guarded",
        "MAY",
        "HW3",
        "HTML has a content security policy and its type is not guessed",
        "send `Content-Security-Policy` and `X-Content-Type-Options: nosniff`",
        answers.html_guarded,
        live=True,
    ),
    *DISCOVERY,
)
