"""`unresolved-link`: a relative link to a file that does not exist within the root."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from prosa.diagnostics import Applicability, Fix, Problem, Severity
from prosa.rules.corpus_names import file_names, is_vault
from prosa.rules.document.targets import Found, followed
from prosa.rules.subject import Corpus
from prosa.source import Edit


def check_corpus(corpus: Corpus) -> Iterator[tuple[Path, Problem]]:
    """At the destination. Addresses, site paths and placeholders are not looked at (`rules.links`)."""
    lowered: dict[str, str] = {}
    for found in followed(corpus):
        if found.state == "missing" and not _in_site(corpus, found):
            elsewhere = _by_name(corpus, found)
            if elsewhere and is_vault(corpus):
                continue
            if elsewhere:
                yield found.source, _only_by_name(found, elsewhere)
                continue
            lowered = lowered or {path.as_posix().lower(): path.as_posix() for path in corpus.entries}
            yield found.source, _problem(found, lowered.get(found.shown.lower()))


def _in_site(corpus: Corpus, found: Found) -> bool:
    """Whether the rules of MDH look at this link: the nodes of a site are known by their URLs."""
    return corpus.rooted != "guessed" and corpus.entries[found.source].dialect == "mdh"


def _by_name(corpus: Corpus, found: Found) -> str:
    """Where a file of this name lies, for an image that is given as a name alone (YA21); empty where there is none."""
    if not found.link.embedded or "/" in found.link.target:
        return ""
    return file_names(corpus).get(found.link.target.casefold(), "")


def _only_by_name(found: Found, elsewhere: str) -> Problem:
    message = f"`{found.link.target}` is found by its name alone, at {elsewhere}"
    note = "Obsidian looks for it there; everywhere else the link needs the path"
    return Problem("unresolved-link", message, found.link.span, (note,), severity=Severity.HINT)


def _problem(found: Found, other_case: str | None) -> Problem:
    target, span = found.link.target, found.link.span
    message = f"`{target}` does not exist"
    if other_case is None:
        return Problem("unresolved-link", message, span, ("a relative link starts at the folder of the document",))
    name = posixpath.basename(other_case)
    note = f"there is `{name}`: upper and lower case matter on most systems"
    fix = None
    if posixpath.dirname(other_case) == posixpath.dirname(found.shown) and target.isascii() and " " not in target:
        written = f"{target.removesuffix(posixpath.basename(target))}{name}"
        edited = written + (f"#{found.link.fragment}" if found.link.fragment else "")
        fix = Fix(f"write `{edited}`", (Edit(span, edited),), Applicability.UNSAFE)
    return Problem("unresolved-link", message, span, (note,), fix=fix)
