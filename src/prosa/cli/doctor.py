"""`prosa doctor`: problems of this installation, and what to do next. Changes nothing and shows no secrets."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console

if TYPE_CHECKING:
    from prosa.app.doctor import Finding
    from prosa.data import Plain


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    parser.add_argument("--online", action="store_true", help="also ask whether the service of your settings answers")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")


def run(args: argparse.Namespace, console: Console) -> int:
    """0; 1 where something is broken."""
    from prosa.app.doctor import examine, reach_services

    findings = examine(console.environ, Path())
    if args.online:
        findings += reach_services(console.environ, Path())
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump(_object(findings), indent=2))
    else:
        console.out(_text(findings))
    return int(any(finding.state == "broken" for finding in findings))


def _text(findings: Sequence[Finding]) -> str:
    from prosa.render.plain import safe

    width = max(len(finding.name) for finding in findings)
    lines: list[str] = []
    for finding in findings:
        lines.append(f"{finding.state:<8} {finding.name:<{width}}  {safe(finding.message)}")
        lines += [f"{'':<{width + 9}}  → {safe(line)}" for line in finding.next.splitlines()]
    bad = [finding for finding in findings if finding.state in ("broken", "warning")]
    lines.append("")
    need = "needs" if len(bad) == 1 else "need"
    broken = "" if any(finding.state == "broken" for finding in bad) else "; nothing is broken"
    lines.append(f"{len(bad)} of {len(findings)} checks {need} attention{broken}." if bad else "All is well.")
    return "\n".join(lines)


def _object(findings: Sequence[Finding]) -> dict[str, Plain]:
    return {
        "healthy": not any(finding.state == "broken" for finding in findings),
        "checks": [{"name": finding.name, "state": finding.state, "message": finding.message} for finding in findings],
        "nextActions": [{"check": finding.name, "action": finding.next} for finding in findings if finding.next],
    }
