"""What must not be in the repository: hosts of package registries, paths of one machine, keys."""

from __future__ import annotations

import re

import pytest

from tests.house.tree import files, named

FORBIDDEN = {
    "the host of a package registry": r"(?:pypi|pythonhosted|npmjs|crates|golang|debian)\.(?:org|com|io|net)\b",
    "a path of one machine": r"/(?:work/(?:main|shared)|opt/(?:pypi|wheels)|root/\.|Users/\w+/)",
    "a word on who or what wrote it": r"(?i)co-authored-b[y]:|\b(?:written|generated) (?:by|with) an? (?:ai|llm)\b",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "an access key": r"\b(?:sk-(?:proj-)?[A-Za-z0-9]{24,}|ghp_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16})\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str):
    pattern = re.compile(FORBIDDEN[what].encode())
    found = {named(file): match[0] for file in files() if (match := pattern.search(file.read_bytes()))}
    assert found == {}
