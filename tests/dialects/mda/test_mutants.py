"""Changes to one document with every field: those that MDA forbids are found, those that it allows are not (X42)."""

from __future__ import annotations

import pytest

from tests.dialects.mda.reading import GOOD, errors, found, sealed

BAD = [
    ("name: ferry-times", "name: ferry--times"),
    ("name: ferry-times", f"name: {'a' * 65}"),
    ("description: Says", f"description: {'x' * 1025} Says"),
    ("license: Apache-2.0", "license: 2.0"),
    ("compatibility: Requires git", f"compatibility: {'git ' * 126}"),
    ('allowed-tools: "Read Bash(jq:*)"', "allowed-tools: [Read]"),
    ("doc-id: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4", "doc-id: short"),
    ('version: "1.4.0"', 'version: "1.4"'),
    ('version: "1.4.0"', 'version: "1.4.0+build.1"'),
    ('created-date: "2026-05-07T00:00:00Z"', "created-date: 2026-05-07T00:00:00Z"),
    ('created-date: "2026-05-07T00:00:00Z"', 'created-date: "7 May 2026"'),
    ("  network: none", "  network: everywhere"),
    ("  network: none", "  Network: none"),
    ('version-range: "^2.0.0"', 'version-range: "~2.0.0"'),
    ("  - name: timetable\n", "  - title: timetable\n"),
    ("  claude-code: {", "  Claude-Code: {"),
    ("algorithm: sha256", "algorithm: sha1"),
    ("    algorithm: ed25519", "    algorithm: ed448"),
    ('signer: "did-web:', 'signer: "pgp:'),
    ("tags: [", "audience: all\ntags: ["),
    ('"rel-type": "cites"', '"rel-type": "mentions"'),
    ('"rel-strength": 0.5', '"rel-strength": 1.5'),
    ('"rel-desc": "The timetable"}', '"rel-desc": "The timetable"'),
    ("[^h]: {", "[^t]: {"),
]

FINE = [
    ("name: ferry-times", "name: a"),
    ("name: ferry-times", f"name: {'a' * 64}"),
    ("name: ferry-times\n", ""),
    ("description: Says", f"description: {'x' * 900} Says"),
    ("license: Apache-2.0", 'license: "2.0"'),
    ("doc-id: 0b8d8e52-6c4f-4c55-9d1a-52f1c1a2b3c4", "doc-id: ferry_2026"),
    ('version: "1.4.0"', "version: '1.4.0-rc.1'"),
    ('created-date: "2026-05-07T00:00:00Z"', 'created-date: "2026-05-07T00:00:00.5+02:00"'),
    ("tags: [ferry, harbour]", "tags: []"),
    ("tags: [ferry, harbour]", 'tags: ["yes", no]'),
    ("  network: none", '  network: ["*.example.com"]'),
    ("  network: none", "  gpu: {vram-gb: 16}"),
    ('version-range: "^2.0.0"', 'version-range: "2.0.0"'),
    ('version-range: "^2.0.0"', 'version-range: "^0.2.0-beta.2"'),
    ("  claude-code: {", "  some-vendor: {"),
    ('    signature: "c2lnbmF0dXJl"', '    signature: "c2lnbmF0dXJl"\n    payload-type: application/vnd.a.b+json'),
    ('"rel-strength": 0.5', '"rel-strength": 1'),
    ("# Ferry times", "---\n\n# Ferry times"),
    ("[^h]: {", "[^n]: A footnote with {braces}.\n\n[^h]: {"),
    ("---\n\n# Ferry", "---\n# Ferry"),
]


def test_x42_the_document_itself_is_fine():
    """X42. Nothing is known of its signature, nor of what it depends on."""
    assert found(sealed(GOOD)) == [("unknown-dependency", "info"), ("signature-not-verified", "info")]


@pytest.mark.parametrize(("old", "new"), BAD)
def test_x42_what_mda_forbids_is_an_error(old: str, new: str):
    """X42."""
    assert old in GOOD
    assert errors(GOOD.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new"), FINE)
def test_x42_what_mda_allows_is_none(old: str, new: str):
    """X42."""
    assert old in GOOD
    assert [each for each in found(sealed(GOOD.replace(old, new, 1))) if each[1] in ("error", "warning")] == []


def test_x42_line_ends_and_a_mark_do_not_change_the_digest():
    """X42. The digest is over the text with LF and without a byte-order mark."""
    text = "\ufeff" + sealed(GOOD).replace("\n", "\r\n")
    assert not {"integrity-mismatch"} & {rule for rule, _ in found(text)}
