"""What an audit found, for people, as JSON and as pages.

In: an audit. Out: text, plain data, Markdown, or a page that loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from prosa.data import Value
from prosa.evaluation.audit import Audit, CaseAudit, MutantAudit
from prosa.render.json import dump
from prosa.render.plain import safe
from prosa.render.report.frame import MAX_PAGE, page
from prosa.render.report.markdown import code
from prosa.render.tests import count_words, dollars, short_name, wrapped

NOTICES, MISSES, CANNOT = "x", "-", " "
"""The signs of the matrix: a case notices a mutant, it does not, it could not."""

MAX_NAME = 40


def audit_text(audit: Audit) -> str:
    """Return the audit for people."""
    blocks = [_found(audit), _matrix(audit), _unnoticed(audit), _listed("notes:", audit.notes)]
    blocks.append(_listed("not tried:", audit.untried))
    return "\n\n".join("\n".join(block) for block in (*blocks, [*wrapped(audit_total(audit))]) if block)


def audit_total(audit: Audit) -> str:
    """Return the last line: what was found, of how much, and what it cost."""
    count = len(audit.findings)
    words = [f"{count_words(count, 'vacuous finding')}" if count else "nothing vacuous"]
    words.append(count_words(len(audit.cases), "case"))
    words += [count_words(len(audit.mutants), "mutant")] if audit.mutants else []
    words.append("cost unknown" if audit.cost is None else dollars(audit.cost))
    return f"{'failed' if count else 'passed'}: {' · '.join(words)}"


def _found(audit: Audit) -> list[str]:
    lines: list[str] = []
    paths = [*(case.path for case in audit.cases), *(finding.path for finding in audit.findings)]
    for path in dict.fromkeys(paths):
        lines.append(safe(path))
        findings = [finding for finding in audit.findings if finding.path == path]
        for finding in findings:
            about = f"{short_name(finding.case, MAX_NAME)}: " if finding.case else ""
            lines += wrapped(f"  ✗ {about}{safe(finding.message)}")
        flagged = {finding.case for finding in findings}
        for case in audit.cases:
            if case.path == path and case.passes_without and case.id not in flagged:
                lines += wrapped(f"  ~ {short_name(case.id, MAX_NAME)}: passes without the subject")
        if not findings:
            lines.append("  ✓ every case can fail")
    return lines


def _matrix(audit: Audit) -> list[str]:
    """Return which case notices which mutant: a line for each case, a column for each mutant that was tried."""
    tried = [mutant for mutant in audit.mutants if not mutant.why]
    if not tried:
        return []
    numbers = [str(at) for at in range(1, len(tried) + 1)]
    lines = [f"which case notices what is missing ({NOTICES}: notices, {MISSES}: does not, blank: could not)"]
    names = [case.id for case in audit.cases if any(case.id in mutant.tried for mutant in tried)]
    lines.append(f"  {' '.join(numbers)}")
    for name in names:
        cells = (sign(mutant, name).ljust(len(number)) for mutant, number in zip(tried, numbers, strict=True))
        lines.append(f"  {' '.join(cells)}  {short_name(name, MAX_NAME)}")
    for number, variant in zip(numbers, tried, strict=True):
        noticed = f"{len(variant.noticed_by)} of {count_words(len(variant.tried), 'case')}"
        lines += wrapped(f"  {number}: {safe(variant.section)}, about {variant.tokens:,} tokens: noticed by {noticed}")
    for variant in audit.mutants:
        if variant.why:
            lines += wrapped(f"  not tried without {safe(variant.section)}: {safe(variant.why)}")
    return lines


def sign(mutant: MutantAudit, case: str) -> str:
    """Return the sign of a case and a mutant."""
    return NOTICES if case in mutant.noticed_by else MISSES if case in mutant.tried else CANNOT


def _unnoticed(audit: Audit) -> list[str]:
    return _listed("no case notices the absence of:", audit.unnoticed)


def _listed(head: str, items: tuple[str, ...]) -> list[str]:
    return [head, *(line for item in items for line in wrapped(f"  - {safe(item)}"))] if items else []


def audit_json(audit: Audit) -> dict[str, Value]:
    """Return the audit as data."""
    return {
        "cases": [
            {
                "id": case.id,
                "path": case.path,
                "cannot_fail": case.cannot_fail,
                "passes_without": case.passes_without,
                "reason": case.reason or None,
            }
            for case in audit.cases
        ],
        "mutants": [
            {
                "section": mutant.section,
                "noticed_by": list(mutant.noticed_by),
                "tried": list(mutant.tried),
                "tokens": mutant.tokens,
                "reason": mutant.why or None,
            }
            for mutant in audit.mutants
        ],
        "unnoticed": list(audit.unnoticed),
        "findings": [
            {
                "kind": finding.kind,
                "path": finding.path,
                "case": finding.case or None,
                "place": finding.place or finding.path,
                "message": finding.message,
            }
            for finding in audit.findings
        ],
        "notes": list(audit.notes),
        "not_tried": list(audit.untried),
        "ok": audit.ok,
        "cost": audit.cost,
    }


def audit_report(audit: Audit, form: str) -> str:
    """Return the audit as a file of a report: `html`, `md` or `json`."""
    if form == "json":
        return dump(audit_json(audit), indent=2)
    return _page(audit) if form == "html" else "\n".join(_markdown(audit))


# ---- pages ----


def _rows(audit: Audit) -> Iterator[tuple[str, list[str]]]:
    for case in audit.cases:
        yield case.id, [sign(mutant, case.id) for mutant in audit.mutants]


def _outcome(case: CaseAudit) -> str:
    if case.cannot_fail:
        return "cannot fail"
    return "passes without the subject" if case.passes_without else "can fail"


def _markdown(audit: Audit) -> Iterator[str]:
    yield f"### {'Nothing vacuous found' if audit.ok else count_words(len(audit.findings), 'vacuous finding')}\n"
    for finding in audit.findings:
        yield f"- {code(finding.case or finding.path)}: {code(finding.message)}"
    yield f"\n| case | | {' | '.join(str(at) for at in range(1, len(audit.mutants) + 1))} |"
    yield f"|---|---|{'---|' * len(audit.mutants)}"
    outcomes = {(case.path, case.id): _outcome(case) for case in audit.cases}
    for (_, outcome), (name, signs) in zip(outcomes.items(), _rows(audit), strict=True):
        yield f"| {code(name)} | {outcome} | {' | '.join(signs)} |"
    yield ""
    for at, mutant in enumerate(audit.mutants, 1):
        cases = count_words(len(mutant.noticed_by), "case")
        yield f"{at}. without {code(mutant.section)}, about {mutant.tokens:,} tokens: noticed by {cases}"
    yield from (f"\nNo case notices the absence of {code(section)}." for section in audit.unnoticed)
    yield from (f"\nNot tried: {code(section)}" for section in audit.untried)


def _page(audit: Audit) -> str:
    def cell(text: str, tag: str = "td") -> str:
        return f"<{tag}>{escape(safe(text))}</{tag}>"

    def listed(head: str, items: list[str]) -> list[str]:
        return [f"<h2>{head}</h2>\n<ul>\n", *(f"<li>{escape(safe(item))}</li>\n" for item in items), "</ul>\n"]

    heads = ("case", "outcome", *(f"without {mutant.section}" for mutant in audit.mutants))
    rows = zip(audit.cases, _rows(audit), strict=True)
    parts = [
        f"<h1>{escape(audit_total(audit))}</h1>\n",
        *listed("Findings", [f"{finding.case or finding.path}: {finding.message}" for finding in audit.findings]),
        "<h2>Cases and mutants</h2>\n<table>\n<tr>" + "".join(cell(head, "th") for head in heads) + "</tr>\n",
        *(
            "<tr>" + "".join(cell(text) for text in (case.id, _outcome(case), *signs)) + "</tr>\n"
            for case, (_, signs) in rows
        ),
        "</table>\n",
        *listed("Sections whose absence no case notices", list(audit.unnoticed)),
        *listed("Not tried", list(audit.untried)),
    ]
    return page("Audit", parts, MAX_PAGE, {})
