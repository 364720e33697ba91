"""The part of a document that a search changes, and what no candidate may be (X41).

In: a document and a text for one of its parts. Out: the document with that text and every other byte as it was, or why
the text is refused: a proposing model may write anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.app.check.check import Checker
from prosa.app.check.gather import Group
from prosa.data import Scalar, Value
from prosa.data.yaml_write import yaml_text
from prosa.diagnostics import Severity
from prosa.dialects.front import FrontReading, read_front
from prosa.dialects.skill_md.model import MAX_DESCRIPTION
from prosa.evaluation.case import Case
from prosa.evaluation.matchers import Missing
from prosa.records.improvement import PartName
from prosa.regex import regex
from prosa.runtime.errors import RunError
from prosa.source import SourceText, Span

LEAST_ROOM = 8_000
"""Characters that a body may always have, however short it is now."""

MIN_COPIED = 16
"""Characters of a request or an expected text from which on repeating it word for word is copying."""

_GIVES_ORDERS = regex(r"!`|(?:^|\s)@[\w.~/-]*[/.~]")
"""What hosts carry out or include when they read a file: a command in backticks behind `!`, an import behind `@`."""


GUARDED = frozenset(
    (
        *("control-character", "download-and-run", "exposed-credential", "hidden-instruction", "invisible-character"),
        *("key-file-access", "sent-environment"),
    )
)
"""Rules whose findings refuse a candidate whatever their severity, besides errors and warnings of all others."""


class SubjectPart(Struct, frozen=True):
    """A part of a document: its ``text``, where it stands, and how many characters it may have."""

    name: PartName
    source: SourceText
    span: Span
    text: str
    most: int

    def document(self, text: str) -> str:
        """Return the document with another text of the part. Raises `RunError` where it would change more than that."""
        new = _lines_as(self.source.text, self._written(text))
        document_text = self.source.text[: self.span.start] + new + self.source.text[self.span.end :]
        before, after = read_front(self.source), read_front(SourceText(document_text, self.source.path))
        if not _is_same_but(self.name, before, after):
            raise RunError(f"{self.source.path}: the {self.name} cannot be replaced alone")
        return document_text

    def _written(self, text: str) -> str:
        old = self.span.of(self.source.text)
        if self.name == "body":
            start = old[: len(old) - len(old.lstrip("\r\n"))]
            return f"{start}{text.strip()}\n"
        return yaml_text(" ".join(text.split())) + ("\n" if old.endswith("\n") else "")


def part_of(name: PartName, source: SourceText) -> SubjectPart:
    """Return a part of a document. Raises `RunError` where it has none that could be replaced."""
    front = read_front(source)
    if name == "body":
        text = front.body.of(source.text).strip().replace("\r\n", "\n")
        return SubjectPart(name, source, front.body, text, max(LEAST_ROOM, 2 * len(text)))
    entry = None if front.fields is None else front.fields.entry("description")
    if entry is None or not isinstance(entry.value, Scalar) or not front.complete:
        raise RunError(f"{source.path}: it has no description that could be improved")
    return SubjectPart(name, source, entry.value.span, " ".join(entry.value.text.split()), MAX_DESCRIPTION)


def _lines_as(document: str, text: str) -> str:
    return text.replace("\n", "\r\n") if "\r\n" in document else text


def _is_same_but(name: PartName, before: FrontReading, after: FrontReading) -> bool:
    if name == "body":
        return before.source.text[: before.body.start] == after.source.text[: after.body.start]
    old, new = before.value or {}, after.value or {}
    same_body = before.body.of(before.source.text) == after.body.of(after.source.text)
    return same_body and after.complete and [*old] == [*new] and all(old[key] == new[key] for key in old if key != name)


# ---- what is refused ----


class Gate(Struct, frozen=True):
    """What decides whether a candidate may be asked at all. ``answers`` are the texts that belong to one of the cases
    that the proposing model saw, with its name; ``found`` counts what a check finds in the subject itself, by rule."""

    part: SubjectPart
    group: Group
    checker: Checker
    answers: Mapping[str, str]
    found: Counter[str]

    @classmethod
    def of(cls, part: SubjectPart, group: Group, checker: Checker, cases: Sequence[Case]) -> Gate:
        """Return the gate of a part; ``group`` has the subject alone. A text that several cases share is no answer:
        what they all ask for, a subject may say."""
        pairs = [(text, case.name) for case in cases for text in set(_told(case))]
        times = Counter(text for text, _ in pairs)
        answers = {text: name for text, name in pairs if times[text] == 1 and text not in _plain(part.text)}
        return cls(part, group, checker, answers, Counter(rule for rule, _ in _findings(group, checker)))

    def refusal(self, text: str) -> str:
        """Return why a text is refused, empty where it is not."""
        written = text.strip()
        if not written:
            return "it is empty"
        if len(written) > self.part.most:
            return f"it has {len(written):,} characters, more than {self.part.most:,}"
        if written.startswith(("---\n", "---\r\n")):
            return "it begins with front matter"
        if (copied := self._copied(written)) is not None:
            return f"it repeats what case {copied!r} asks or expects, word for word"
        if Counter(_GIVES_ORDERS.findall(written)) - Counter(_GIVES_ORDERS.findall(self.part.text)):
            return "it has a command or an import that the subject has not"
        try:
            document = self.part.document(written)
        except RunError as error:
            return error.message
        return self._new_finding(document)

    def _copied(self, text: str) -> str | None:
        now = _plain(text)
        return next((name for answer, name in self.answers.items() if answer in now), None)

    def _new_finding(self, document: str) -> str:
        path = self.group.files.real(self.group.paths[0])
        left = self.found.copy()
        for rule, message in _findings(self.group, self.checker, {path: document}):
            left[rule] -= 1
            if left[rule] < 0:
                return f"`prosa check` finds {rule}: {message}"
        return ""


def _findings(group: Group, checker: Checker, texts: Mapping[Path, str] | None = None) -> Iterator[tuple[str, str]]:
    for diagnostic in checker.check(group, texts=texts).diagnostics:
        if diagnostic.severity in (Severity.ERROR, Severity.WARNING) or diagnostic.rule in GUARDED:
            yield diagnostic.rule, diagnostic.message


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _told(case: Case) -> Iterator[str]:
    """Yield the texts of a case that no candidate may repeat: its request and its inputs, and what is expected."""
    expected = [] if isinstance(case.expect, Missing) else [case.expect]
    values = [case.request, case.input, *expected, *case.grade, *(assertion.expect for assertion in case.assertions)]
    for text in (_plain(text) for value in values for text in _texts(value)):
        if len(text) >= MIN_COPIED:
            yield text


def _texts(value: Value) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for member in value.values() for text in _texts(member))
    elif isinstance(value, list | tuple):
        yield from (text for item in value for text in _texts(item))
