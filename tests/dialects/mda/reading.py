"""Short ways to an MDA model and to what a check finds in a text."""

from __future__ import annotations

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.mda.digest import computed
from prosa.dialects.mda.model import MdaModel
from prosa.dialects.reading import open_as
from prosa.dialects.table import MDA
from prosa.rules.engine import check_text
from prosa.source import SourceText, apply_edits

GOOD = """---
name: ferry-times
description: Says when the next ferry leaves. Use it for questions about departures.
license: Apache-2.0
compatibility: Requires git
allowed-tools: "Read Bash(jq:*)"
doc-id: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4
title: Ferry times
version: "1.4.0"
author: Ada
tags: [ferry, harbour]
created-date: "2026-05-07T00:00:00Z"
requires:
  runtime: ["python>=3.11"]
  tools: ["Read"]
  network: none
  model: {min-context: 1000, vision: false}
  cost-hints: {tokens-per-call: 10, paid-apis: [maps]}
depends-on:
  - name: timetable
    version-range: "^2.0.0"
    digest: "sha256:a4f9c0d2e8b3a16e9c01b8f3d2a5c7b14e9f8a3d6c2b1e7f0a8d4c3b9e2f1a05"
metadata:
  claude-code: {anything: [1, two]}
integrity:
  algorithm: sha256
  digest: "sha256:DIGEST"
signatures:
  - signer: "did-web:harbour.example"
    key-id: desk-1
    payload-digest: "sha256:DIGEST"
    algorithm: ed25519
    signature: "c2lnbmF0dXJl"
---

# Ferry times

See the timetable[^t] and the harbour[^h].

[^t]: {"rel-type": "cites", "doc-id": "7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a", "rel-desc": "The timetable"}
[^h]: {"rel-type": "parent", "doc-id": "harbour", "rel-strength": 0.5, "bi-directional": true, "context": {"page": 1}}
"""


def model(text: str, path: str = "a.mda") -> MdaModel:
    return open_as(SourceText(text, path), MDA).model


def sealed(text: str, path: str = "a.mda") -> str:
    """The text with its own digest in place of `DIGEST`."""
    wanted = computed(model(text.replace("DIGEST", "0" * 64), path))
    return text.replace("sha256:DIGEST", wanted or "sha256:" + "0" * 64)


def found(text: str, path: str = "a.mda", *, strict: bool = False) -> list[tuple[str, str]]:
    """Rule and severity of everything that a check of this one document finds."""
    checked = check_text(SourceText(text, path), dialect="mda", strict=strict)
    return [(each.rule, str(each.severity)) for each in checked.diagnostics]


def errors(text: str, path: str = "a.mda") -> list[str]:
    return [rule for rule, severity in found(text, path) if severity == "error"]


def formatted(text: str, options: FormatOptions | None = None) -> str:
    read = open_as(SourceText(text, "a.mda"), MDA)
    return apply_edits(text, read.format_edits(options or FormatOptions()))
