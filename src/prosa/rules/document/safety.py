"""What harms people and agents that read a document: credentials, instructions that people do not see, and, where
agents act on the text, commands that run a download, send the environment or read keys (X38). Nothing is executed."""

# Without postponed annotations: `NamedTuple` compiles each of those when the module is imported.

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from prosa.diagnostics import Applicability, Fix, Severity
from prosa.dialects.context.places import is_agent_file
from prosa.regex import regex
from prosa.rules.document import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, Span
from prosa.source.credentials import Credential, credentials

if TYPE_CHECKING:
    from prosa.document import Document

MOST = 50
"""Findings of one of these rules in one document."""


@RULES.document("MD046", "exposed-credential", Severity.ERROR)
def exposed_credential(subject: Subject[object]) -> Iterator[Finding]:
    """Find credentials by the forms of their issuers, each once. The finding points at the first place and shows the
    beginning alone; kinds of which some are public are notes."""
    text = subject.source.text
    by_text: dict[str, list[Credential]] = {}
    for credential in credentials(text):
        by_text.setdefault(text[credential.start : credential.end], []).append(credential)
    for written, places in islice(by_text.items(), MOST):
        first, times = places[0], len(places)
        more = f", in {times:,} places" if times > 1 else ""
        message = f"the text holds a {first.kind}: `{written[: first.shown]}…`, {len(written):,} characters{more}"
        notes = ("revoke it where it was issued: history keeps what is deleted here",)
        severity = None if first.certain else Severity.INFO
        yield Finding(message, Span(first.start, first.end), notes, severity=severity)


# Text that is not shown to people and is about what an agent should do.

MAX_HIDDEN = 4_000
"""Characters of one hidden text that are read."""

_TAG = regex(r"<([A-Za-z][A-Za-z0-9-]*)\b([^<>]+)>")
_EMPTY = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
"""Elements without text in them."""

_QUOTED = regex(r"\"[^\"]*\"|'[^']*'")
_ATTRIBUTE = regex(r"(?<!\S)hidden(?![^\s=/])", re.IGNORECASE)
_STYLE = regex(
    r"display\s?:\s?none|visibility\s?:\s?hidden|(?:font-size|opacity)\s?:\s?0(?![\d.])"
    r"|(?<![\w-])color\s?:\s?(?:white|transparent|#fff(?:fff)?)\b",
    re.IGNORECASE,
)
_UNSEEN_SIGNS = ("hidden", "display", "font-size", "opacity", "color")
"""One of these stands where `_ATTRIBUTE` or `_STYLE` finds something."""

_ATTACK = regex(
    r"\b(?:ignore|disregard|forget|override|bypass)\s{1,9}(?:(?:all|any|the|your|these|of|other|my)\s{1,9}){0,4}"
    r"(?:previous|prior|above|earlier|preceding|existing|system)\s{1,9}(?:[\w-]{1,20}\s{1,9})?"
    r"(?:instructions?|prompts?|rules|directives?|guidelines|messages?)\b"
    r"|\b(?:do\s{1,9}not|don't|never|without)\s{1,9}(?:tell|inform|mention|reveal|notify|alert|warn)(?:ing)?\s{1,9}"
    r"(?:(?:this|it|that|anything|to|about|the)\s{1,9}){0,4}(?:users?|humans?|operators?|developers?|anyone)\b"
    r"|<\|(?:im_start|system)\|>|\[INST\]|<<SYS>>"
    r"|\b(?:send|post|upload|forward|exfiltrate|leak)\s[^.\n]{0,80}\b(?:api.?keys?|tokens?|credentials?|passwords?"
    r"|secrets?|environment variables|ssh keys?|\.env)\b[^.\n]{0,60}\bto\b",
    re.IGNORECASE,
)
"""What is said to an agent against its user."""

_ADDRESS = regex(
    r"\b(?:AIs?(?![\s-](?:tool|assist|generat|model|system|disclos|usage))|LLMs?|(?:language|AI) models?|chatbots?"
    r"|assistants?|agents?|Claude|Copilot|ChatGPT|GPT|Gemini|Codex)\b"
    r"[^.\n]{0,60}?\b(?:must|should|shall|always|never|please|do not|don't|need to|have to|has to)\b"
    r"|\b(?:instructions?|notes?|messages?) (?:to|for) (?:the |all |any |an? )?(?:AI|LLM|agent|assistant|Claude)\b"
    r"|\bif you are an? (?:AI|LLM|language model|agent|assistant)\b|\bas an (?:AI|LLM)\b",
    re.IGNORECASE,
)
"""What addresses an agent."""


class _Hidden(NamedTuple):
    start: int
    end: int
    how: str
    whole: Span | None = None


@RULES.document("MD047", "hidden-instruction", Severity.INFO, strict=Severity.WARNING)
def hidden_instruction(subject: Subject[object]) -> Iterator[Finding]:
    """Find text that no reader of the page sees and that speaks to agents: in comments, in elements that a style hides,
    in titles of link definitions. The finding points at the words. What only addresses agents is a note; what turns
    them against their user is a warning under the strict profile."""
    result = subject.document.parsed.found
    if not (result.html_blocks or result.inline_html or subject.document.definitions):
        return iter(())
    return islice(_instructions(subject), MOST)


def _instructions(subject: Subject[object]) -> Iterator[Finding]:
    text = subject.source.text
    for hidden in _hidden(subject):
        instruction = _said(text[hidden.start : min(hidden.end, hidden.start + MAX_HIDDEN)])
        if instruction is None:
            continue
        attack, place = instruction
        fix = None
        if hidden.whole is not None:
            fix = Fix(f"remove the {hidden.how}", (Edit(hidden.whole, ""),), Applicability.UNSAFE)
        says = "tells agents what their user should not know" if attack else "speaks to agents"
        notes = ("people read the page, agents the source: say it where both see it, or remove it",)
        severity = None if attack else Severity.INFO
        yield Finding(f"a {hidden.how} {says}", place.shift(hidden.start), notes, fix=fix, severity=severity)


@lru_cache(maxsize=256)
def _said(hidden: str) -> tuple[bool, Span] | None:
    """Return whether a hidden text turns an agent against its user, or only addresses it, and where. The comments of a
    project are often the same in each document."""
    attack = _ATTACK.search(hidden)
    match = attack or _ADDRESS.search(hidden)
    return (attack is not None, Span(*match.span())) if match is not None else None


def _hidden(subject: Subject[object]) -> Iterator[_Hidden]:
    """Yield the hidden texts of a document."""
    document = subject.document
    low = document.html_text.lower()  # most documents hold no HTML, or only tags that are seen
    if "<!--" in low or "hidden" in low or "style" in low:
        yield from (_Hidden(comment.start, comment.end, "comment", comment) for comment in document.comments)
        if document.parsed.masked or _may_be_unseen(document.html_text):
            yield from _styled(document)
    for definition in document.definitions:
        if definition.title:
            yield _Hidden(definition.span.start, definition.span.end, "title of a link definition")


def _styled(document: "Document") -> Iterator[_Hidden]:
    """Yield the text in elements that a style or an attribute hides, up to the first end of such an element."""
    from prosa.document.document import html_spans  # only here: a check of what is known loads no parser

    text, done = document.source.text, 0
    for html in html_spans(document.parsed, _may_be_unseen):
        for tag in _TAG.finditer(text, html.start, html.end):
            if tag.start() < done or tag[1].lower() in _EMPTY or not _is_unseen(tag[2]):
                continue
            end = text.find(f"</{tag[1]}", tag.end(), tag.end() + MAX_HIDDEN)
            done = end if end >= 0 else min(len(text), tag.end() + MAX_HIDDEN)
            yield _Hidden(tag.end(), done, "hidden element")


def _may_be_unseen(tag: str) -> bool:
    low = tag.lower()
    return not tag.isascii() or any(sign in low for sign in _UNSEEN_SIGNS)


def _is_unseen(attributes: str) -> bool:
    return bool(_STYLE.search(attributes) or _ATTRIBUTE.search(_QUOTED.sub("", attributes)))


# Commands in documents that agents act on. Only code counts: prose that warns of a command does not ask for it.

_LOADERS = r"(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)"
_SHELL = r"(?:sudo(?: -\S{1,9})? )?(?:/usr)?(?:/bin/)?(?:env )?(?:ba|z|da|k)?sh(?![\w.-])"
_DOWNLOAD = regex(
    rf"\b{_LOADERS}\b[^\n|;&]{{3,400}}\|[ \t]?{_SHELL}(?! -c)"
    rf"|\b{_LOADERS}\b[^\n|;&]{{3,400}}\|[ \t]?(?:sudo )?python[\d.]{{0,4}}(?: -)?[ \t]?(?=[\n;&|)`'\"]|\Z)"
    rf"|\b{_LOADERS}\b[^\n|;&]{{3,400}}\|[ \t]?(?:iex|Invoke-Expression)\b"
    rf"|\b(?:(?:ba|z|da|k)?sh|source|eval|python[\d.]{{0,4}})(?: -c)? ?[\"']?(?:\$|<)\( ?{_LOADERS}\b[^\n]{{3,300}}"
    rf"|\b(?:iex|Invoke-Expression)[ (]{{1,3}}(?:{_LOADERS}|\(?New-Object (?:System\.)?Net\.WebClient\))[^\n]{{3,300}}",
)
_DECODED = regex(
    r"\b(?:base64 (?:-d|-D|--decode)|xxd -r(?: -p)?)\b[^\n|]{0,200}"
    rf"\|[ \t]?(?:{_SHELL}|(?:python|perl|node)(?![\w.-]))"
)
_PIPED = regex(r"\|[ \t]?(?:sudo|/|env|(?:ba|z|da|k)?sh|python|perl|node|iex|Invoke-E)\b")
_INSIDE = regex(r"\((?: ?(?:curl|wget|iwr|irm|Invoke-|\(?New-Object))")
_UNPROTECTED = regex(
    r"\bftp://|http://(?!localhost|127\.|0\.0\.0\.0|\[::1\])|https?://(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\b"
)


@RULES.document("MD048", "download-and-run", Severity.INFO, strict=Severity.WARNING)
def download_and_run(subject: Subject[object]) -> Iterator[Finding]:
    """Find commands in files for agents that run what they download, or what they decode, unseen. The finding points at
    the command. A download without TLS, from an address in numbers, or encoded is a warning under the
    strict profile."""
    for span in _in_code(subject, _DOWNLOAD, _PIPED, _INSIDE):
        message = "the command runs what it downloads, unseen"
        notes = ("name a version and compare its check sum, or install it from a package index",)
        unprotected = _UNPROTECTED.search(span.of(subject.source.text))
        yield Finding(message, span, notes, severity=None if unprotected else Severity.INFO)
    for span in _in_code(subject, _DECODED, _PIPED):
        message = "the command runs what it decodes: no reader sees what that is"
        yield Finding(message, span, ("write the commands as they are",))


_SENT = regex(
    r"(?<![\w.-])(?:env|printenv|export -p|cat \S{0,60}\.env|cat /proc/self/environ)[ \t]?"
    r"(?:\|[^\n|]{0,120}){0,3}\|[ \t]?(?:curl|wget|nc|ncat|socat)\b"
    r"|\bcurl\b[^\n]{0,300}?(?:@[\"']?\S{0,60}\.env\b|\$\((?:env|printenv|cat \S{0,60}\.env)\b)"
    r"|\brequests\.(?:post|put)\([^\n]{0,200}?(?:json|data)=(?:dict\(|json\.dumps\(dict\()?os\.environ(?![\[.\w])"
    r"|\bfetch\([^\n]{0,200}?JSON\.stringify\(process\.env\)",
)
_SENDING = regex(r"\|[ \t]?(?:curl|wget|nc|ncat|socat)\b")
_FILED = regex(r"@(?=[\"']?\S{0,60}\.env\b)")
_GATHERED = regex(r"\((?:(?<=\$\()(?:env|printenv|cat )|os\.environ|process\.env\))")
_ASSIGNED = regex(r"=(?=os\.environ\b)")


@RULES.document("MD049", "sent-environment", Severity.INFO, strict=Severity.WARNING)
def sent_environment(subject: Subject[object]) -> Iterator[Finding]:
    """Find commands in files for agents that send all variables of the environment, or a file of them, elsewhere. The
    finding points at the command."""
    for span in _in_code(subject, _SENT, _SENDING, _FILED, _GATHERED, _ASSIGNED):
        message = "the command sends the environment elsewhere, with all keys in it"
        yield Finding(message, span, ("send the values that are needed, by their names",))


_READ = regex(
    r"\b(?:cat|less|more|head|tail|base64|xxd|strings|grep|cp|scp|tar|zip|rsync|type|Get-Content|curl|open)\b"
    r"[^\n|;&]{0,160}?(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%|\$env:USERPROFILE)[/\\]"
    r"(?:\.ssh[/\\](?:id_\w{1,20}\b(?!\.pub)|\*)|\.aws[/\\]credentials|\.npmrc|\.pypirc|\.netrc|\.git-credentials"
    r"|\.docker[/\\]config\.json|\.kube[/\\]config|\.config[/\\]gh[/\\]hosts\.yml|\.config[/\\]gcloud|\.gnupg"
    r"|Library/Keychains|\.mozilla[/\\]firefox|\.config/google-chrome|Library/Application Support/Google/Chrome)"
)
_AT_HOME = regex(r"~[/\\][.L]")
_HOME = regex(r"E(?:(?<=\bHOME)|(?<=USERPROFILE))[}%]?[/\\][.L]")


@RULES.document("MD050", "key-file-access", Severity.INFO)
def key_file_access(subject: Subject[object]) -> Iterator[Finding]:
    """Find commands in files for agents that read the places of keys and logins. The finding points at the command."""
    for span in _in_code(subject, _READ, _AT_HOME, _HOME):
        message = "the command reads a file with keys or logins of the user"
        yield Finding(message, span, ("an agent that has read a key may write it anywhere",))


def _in_code(subject: Subject[object], pattern: re.Pattern[str], *signs: re.Pattern[str]) -> Iterator[Span]:
    """Yield where a pattern matches in the code of a document that agents act on. Every match has one of the ``signs``,
    each of which begins with one character that a search can jump to."""
    if subject.dialect not in ("plain", "skill_md", "context") or (
        subject.dialect == "plain" and not subject.agent_place
    ):
        return
    if not any(sign.search(subject.source.text) for sign in signs):
        return
    spans = list(islice(_matches(subject, pattern), MOST))
    if spans and (subject.dialect != "plain" or _is_for_agents(subject)):
        yield from spans


def _matches(subject: Subject[object], pattern: re.Pattern[str]) -> Iterator[Span]:
    document, text = subject.document, subject.source.text
    pieces = [piece for fence in document.fences for piece in fence.content]
    pieces += [*document.indented_code, *(span.content for span in document.code_spans)]
    for piece in sorted(pieces):
        for match in pattern.finditer(text, piece.start, piece.end):
            if not _SHOWN_ATTACK.search(match[0]):
                yield Span(*match.span())


_SHOWN_ATTACK = regex(r"attack|evil|malicious|exfil|victim|payload|hacker", re.IGNORECASE)
"""Words of those who explain an attack; those who try one avoid them."""


MAX_FOLDERS = 4
"""Folders around a document in which a `SKILL.md` is looked for."""


def _is_for_agents(subject: Subject[object]) -> bool:
    """Return whether agents act on a plain document: a host reads it by its name, or it lies in the folder of a
    skill."""
    path, files = subject.path, subject.files
    if path is None or files is None:
        return path is not None and is_agent_file(path.as_posix())
    folders = islice(path.parents, MAX_FOLDERS)
    return is_agent_file(files.real(path).as_posix()) or any(files.exists(folder / "SKILL.md") for folder in folders)
