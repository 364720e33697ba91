"""The checks of what agents look for on any site: skills, the API catalogue, the card of an MCP server, OpenAPI,
`llms-full.txt` and content signals (X40).

A file that is not there is no fault: its check does not apply, and its words say what to publish. Nothing that is
fetched is run; archives are read in memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from prosa.data import JsonError, Value, parse_json
from prosa.dialects.fields import shown
from prosa.dialects.mdh.facts import action_value
from prosa.regex import regex
from prosa.site import discovery as forms
from prosa.site.archive import ArchiveProblem
from prosa.site.probe.evidence import DiscoverySeen, Evidence, Mark, Outcome, Reply, judged
from prosa.site.skills_index import SkillEntry, files_of, read_index

_CARD_NAME = regex(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_SIGNAL = regex(r"^[ \t]*content-signal[ \t]*:[ \t]*([^\n#]*)", re.IGNORECASE | re.MULTILINE)
_HTML = regex(r"\s*<(?:!doctype|html)", re.IGNORECASE)
SIGNALS = ("search", "ai-input", "ai-train")
METHODS = ("get", "put", "post", "delete", "patch")


def _seen(evidence: Evidence) -> DiscoverySeen:
    assert evidence.site is not None and evidence.site.discovery is not None
    return evidence.site.discovery


def _file(evidence: Evidence, path: str) -> Reply | None:
    """Return a file that is there; one that is a page of HTML is the answer of a host for any path."""
    reply = _seen(evidence).files.get(path)
    return reply if reply is not None and reply.is_success and not reply.is_html else None


def _none(path: str, what: str) -> Outcome:
    return Outcome("not-applicable", words=f"no /{path}: publish one {what}")


def _judge(reply: Reply, wrong: Iterator[str], noticed: tuple[Mark, ...] = ()) -> Outcome:
    return judged([Mark(reply.url, words) for words in wrong], 1, "file", "files", noticed=noticed)


def skills_index(evidence: Evidence) -> Outcome:
    """Judge the index of skills."""
    reply = _file(evidence, forms.SKILLS_INDEX)
    if reply is None:
        return _none(forms.SKILLS_INDEX, "if the site has skills")
    return _judge(reply, _index_faults(reply))


def _index_faults(reply: Reply) -> Iterator[str]:
    if not reply.is_json:
        yield f"it is served as {shown(reply.media_type) or 'no named type'}, not as application/json"
    yield from read_index(_value(reply), reply.url).complaints


def _value(reply: Reply) -> Value:
    """Return the JSON of a file, whatever its type says."""
    try:
        return parse_json(reply.text or "")
    except JsonError:
        return None


def skills_as_listed(evidence: Evidence) -> Outcome:
    """Judge the skills themselves: digests, archives, media types."""
    seen = _seen(evidence).skills
    wrong = [Mark(reply.url, words) for entry, reply in seen for words in _skill_faults(entry, reply)]
    return judged(wrong, len(seen), "skill", "skills", none="no skills are listed on this origin")


def _skill_faults(entry: SkillEntry, reply: Reply) -> Iterator[str]:
    if not reply.is_success:
        yield f"{entry.name}: {reply.said}"
        return
    try:
        files_of(entry, reply.data)
    except ArchiveProblem as problem:
        yield f"{entry.name}: {problem}"
    wanted = ("text/markdown", "text/plain") if entry.type == "skill-md" else ("application/gzip", "application/zip")
    if reply.media_type not in wanted:
        yield f"{entry.name} is served as {shown(reply.media_type) or 'no named type'}, not as {wanted[0]}"


def api_catalog(evidence: Evidence) -> Outcome:
    """Judge the linkset of RFC 9727."""
    reply = _file(evidence, forms.API_CATALOG)
    if reply is None:
        return _none(forms.API_CATALOG, "if the site has an interface")
    return _judge(reply, _catalog_faults(reply))


def _catalog_faults(reply: Reply) -> Iterator[str]:
    if reply.media_type != "application/linkset+json":
        yield f"it is served as {shown(reply.media_type) or 'no named type'}, not as application/linkset+json"
    value = _value(reply)
    sets = value.get("linkset") if isinstance(value, dict) else None
    if not isinstance(sets, list) or not sets:
        yield "it is not an object with a list `linkset`"
        return
    for at, entry in enumerate(sets):
        if not isinstance(entry, dict) or not isinstance(entry.get("anchor"), str):
            yield f"linkset[{at}] has no `anchor`"
            continue
        for rel, targets in entry.items():
            fits = isinstance(targets, list) and all(isinstance(one, dict) and "href" in one for one in targets)
            if rel != "anchor" and not fits:
                yield f"linkset[{at}].{shown(rel)} is not a list of objects with `href`"


def openapi(evidence: Evidence) -> Outcome:
    """Judge the description of the actions."""
    reply = _file(evidence, forms.OPENAPI)
    if reply is None:
        return _none(forms.OPENAPI, "if the site has actions")
    return _judge(reply, _openapi_faults(reply, evidence))


def _openapi_faults(reply: Reply, evidence: Evidence) -> Iterator[str]:
    value = _value(reply)
    version = value.get("openapi") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(version, str) or not version.startswith("3."):
        yield "it is not an object with `openapi: 3.…`"
        return
    if not isinstance(value.get("info"), dict):
        yield "it has no `info`"
    paths = value.get("paths")
    if not isinstance(paths, dict):
        yield "it has no `paths`"
        return
    ids: set[Value] = set()
    for path, methods in paths.items():
        for method, operation in methods.items() if isinstance(methods, dict) else ():
            own = operation.get("operationId") if method in METHODS and isinstance(operation, dict) else None
            if isinstance(own, str) and own in ids:
                yield f"two operations have the id {shown(own)}, one of them {method.upper()} {shown(path)}"
            ids.add(own if isinstance(own, str) else None)
    for path, method in _declared(evidence):
        known = paths.get(path)
        if not isinstance(known, Mapping) or method not in known:
            yield f"the action {method.upper()} {shown(path)} is not in it"


def _declared(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the URLs and methods of actions that nodes declare on their own site."""
    for node in evidence.nodes:
        for action in node.model.actions:
            value = action_value(action)
            url, method, own = value.get("url"), value.get("method"), value.get("id")
            if isinstance(url, str) and url.startswith("/") and isinstance(method, str) and own:
                yield url.partition("?")[0], method.lower()


def server_card(evidence: Evidence) -> Outcome:
    """Judge the card of an MCP server."""
    reply = _file(evidence, forms.SERVER_CARD)
    if reply is None:
        return _none(forms.SERVER_CARD, "if the site has an MCP server")
    return _judge(reply, _card_faults(_value(reply)))


def _card_faults(value: Value) -> Iterator[str]:
    if not isinstance(value, dict):
        yield "it is not an object"
        return
    if value.get("$schema") != forms.CARD_SCHEMA:
        yield f"its `$schema` is not {forms.CARD_SCHEMA}"
    name = value.get("name")
    if not isinstance(name, str) or not _CARD_NAME.fullmatch(name):
        yield "its `name` is none in reverse DNS form, as in `org.example/docs`"
    for key in ("description", "version"):
        if not isinstance(value.get(key), str) or not value[key]:
            yield f"it has no `{key}`"
    remotes = value.get("remotes")
    for at, remote in enumerate(remotes if isinstance(remotes, list) else ()):
        url = remote.get("url") if isinstance(remote, dict) else None
        if not isinstance(url, str) or not url.startswith(("https://", "http://", "{")):
            yield f"remotes[{at}] has no `url`"


def llms_full(evidence: Evidence) -> Outcome:
    """Judge the whole text of the site."""
    reply = _file(evidence, forms.LLMS_FULL)
    if reply is None:
        return _none(forms.LLMS_FULL, "with the text of the pages")
    wrong = ["it is empty, or no UTF-8 text"] if not (reply.text or "").strip() else []
    wrong += ["it is HTML"] if _HTML.match(reply.text or "") else []
    return _judge(reply, iter(wrong))


def content_signals(evidence: Evidence) -> Outcome:
    """Judge the content signals in `robots.txt`."""
    reply = _file(evidence, "robots.txt")
    lines = [match[1].strip() for match in _SIGNAL.finditer(reply.text or "")] if reply is not None else []
    if reply is None or not lines:
        words = "no `Content-Signal` in /robots.txt: write one to say what the content may be used for"
        return Outcome("not-applicable", words=words)
    return _judge(reply, (words for line in lines for words in _signal_faults(line)))


def _signal_faults(line: str) -> Iterator[str]:
    for part in line.split(","):
        name, _, value = (piece.strip().lower() for piece in part.partition("="))
        if name in SIGNALS and value not in ("yes", "no"):
            yield f"`{shown(part.strip())}` must be `{name}=yes` or `{name}=no`"
        elif not value:
            yield f"`{shown(part.strip())}` is not a signal, as in `search=yes`"


def linked(evidence: Evidence) -> Outcome:
    """Require that the first page leads to the files that there are, by `Link` or `<link>`."""
    seen = _seen(evidence)
    there = [path for path in (*forms.LINKED, forms.LLMS_FULL) if _file(evidence, path) is not None]
    text = f"{seen.page.header('link')} {seen.page.text if seen.page.is_html else ''} {seen.html.text or ''}"
    missing = [Mark(seen.page.url, f"it does not lead to /{path}") for path in there if path not in text]
    return judged(missing, len(there), "file", "files", none="the site has none of these files")
