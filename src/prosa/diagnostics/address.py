"""Where the page of a rule is, for tools that show a link to it: SARIF viewers, editors, reviewers of changes.

The path of a page below the documentation never changes once a rule is released. Where the documentation is, a release
says: `prosa.settings.DOCUMENTATION` is what `[project.urls]` of the package says under that name. While there is no
such host it is empty, and then nobody is given a link; a user who has built the documentation names its address
(setting `documentation`).
"""

from __future__ import annotations


def page_path(name: str) -> str:
    """Return the path of a rule's page below the documentation, as `prosa build` writes it and `prosa serve` answers
    it."""
    return f"reference/rules/{name}.html"


def page_address(name: str, documentation: str) -> str:
    """Return the address of a rule's page; empty where nobody knows where the ``documentation`` is."""
    return f"{documentation.rstrip('/')}/{page_path(name)}" if documentation else ""
