"""Where the page of a rule is, for tools that show a link to it: SARIF viewers, editors, reviewers of changes.

The path of a page below the documentation never changes once a rule is released. Its host comes from the release:
`prosa.settings.DOCUMENTATION` is the entry of that name in `[project.urls]`. While it is empty there are no links; a
user who has built the documentation can set its address (setting `documentation`).
"""

from __future__ import annotations


def page_path(name: str) -> str:
    """Return the path of a rule's page below the documentation, as `prosa build` writes it and `prosa serve` answers
    it."""
    return f"reference/rules/{name}.html"


def page_address(name: str, documentation: str) -> str:
    """Return the address of a rule's page; empty if the address of the ``documentation`` is unknown."""
    return f"{documentation.rstrip('/')}/{page_path(name)}" if documentation else ""
