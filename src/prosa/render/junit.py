"""Diagnostics as JUnit XML: one suite per document, one failed case per error, one passed case for a clean document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from prosa.diagnostics import Diagnostic, Severity
from prosa.regex import regex
from prosa.render.plain import safe

_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(diagnostics: Sequence[Diagnostic], paths: Sequence[str]) -> str:
    """Return the report. An error is a failure; anything less is a passed case with its message on `system-out`."""
    by_path: dict[str, list[Diagnostic]] = {path: [] for path in paths}
    for each in diagnostics:
        by_path.setdefault(each.path, []).append(each)
    failures = sum(each.severity is Severity.ERROR for each in diagnostics)
    tests = sum(len(found) or 1 for found in by_path.values())
    head = f'<testsuites name="prosa check" tests="{tests}" failures="{failures}" errors="0">'
    lines = [line for path, found in by_path.items() for line in _suite(path, found)]
    return "\n".join(('<?xml version="1.0" encoding="UTF-8"?>', head, *lines, "</testsuites>"))


def _suite(path: str, found: Sequence[Diagnostic]) -> Iterator[str]:
    failures = sum(each.severity is Severity.ERROR for each in found)
    name = attribute(path)
    yield f'  <testsuite name={name} tests="{len(found) or 1}" failures="{failures}" errors="0">'
    if not found:
        yield f'    <testcase name="check" classname={name}/>'
    for each in found:
        yield from _case(each, name)
    yield "  </testsuite>"


def _case(each: Diagnostic, name: str) -> Iterator[str]:
    line, column = each.start
    place = attribute(f"{each.code} {each.rule} {line}:{column}")
    text = escape(xml_text("\n".join((f"{each.path}:{line}:{column}", *each.notes))))
    yield f"    <testcase name={place} classname={name}>"
    if each.severity is Severity.ERROR:
        yield f"      <failure message={attribute(each.message)} type={attribute(each.rule)}>{text}</failure>"
    else:
        yield f"      <system-out>{escape(xml_text(f'{each.severity}: {each.message}'))}</system-out>"
    yield "    </testcase>"


def attribute(text: str) -> str:
    """Return a text as an attribute, on one line and in quotes."""
    return quoteattr(xml_text(safe(text)))


def xml_text(text: str) -> str:
    """Return the text without characters that XML has not."""
    return _NOT_XML.sub("\ufffd", text)
