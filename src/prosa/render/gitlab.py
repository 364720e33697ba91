"""Diagnostics as a Code Quality report of GitLab, which shows them in merge requests."""

from __future__ import annotations

from collections.abc import Sequence

from prosa.data import Value
from prosa.diagnostics import Diagnostic, Severity
from prosa.render.fingerprint import fingerprints
from prosa.render.json import dump

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info", Severity.HINT: "info"}


def render_gitlab(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a JSON list with an entry for each diagnostic."""
    ids = fingerprints(diagnostics)
    return dump([_entry(each, name) for each, name in zip(diagnostics, ids, strict=True)], indent=2)


def _entry(each: Diagnostic, fingerprint: str) -> dict[str, Value]:
    return {
        "description": f"{each.message} ({each.rule})",
        "check_name": each.rule,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[each.severity],
        "location": {"path": each.path, "lines": {"begin": each.start.line, "end": each.end.line}},
    }
