"""The versions of the YMJ specification that Prosa knows (Y23, Y28), and how a record names one."""

from __future__ import annotations

import re

KNOWN = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
"""The published drafts; the last is the one that records are checked against."""

LATEST = KNOWN[-1]

_VERSION = re.compile(r"v?(\d{1,4}\.\d{1,4})(?:\.0)?", re.IGNORECASE | re.ASCII)


def is_known(text: str) -> bool:
    """Whether `ymj_spec` names a known version: `0.7`, `0.7.0` and `v0.7` are the same."""
    match = _VERSION.fullmatch(text.strip())
    return match is not None and match[1] in KNOWN


def is_footerless(text: str) -> bool:
    """Whether `ymj_spec` names the 1.0 dialect of an early tool, in which the footer was optional (YA12)."""
    return text.strip().lower().removeprefix("v").split(".")[0] == "1"
