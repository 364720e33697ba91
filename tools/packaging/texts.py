"""Sentences and commands that are true either before Prosa can be installed by its name, or after.

Each stands in its file in one of the two forms, which `published` and `security` in `packaging/owner.toml` choose, and
`tools.packaging.owner` writes. No file says by hand that a package index has Prosa: `tests/house/test_published.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

ADDRESS = "<SECURITY>"
"""Where the address of the owner stands in a passage."""


class Text(NamedTuple):
    """A passage of a file: what it says today, and once ``published``, or once there is an address ``of_security``."""

    path: str
    today: str
    then: str
    of_security: bool = False


def _extra(path: str, extra: str, behind: str = "") -> Text:
    """Return the command that installs an extra, with what stands behind it."""
    return Text(path, f'pip install ".[{extra}]"{behind}', f'pip install "prosa[{extra}]"{behind}')


TEXTS = (
    Text(
        "README.md",
        "```sh\npython3 -m pip install . ./sandbox ./packaging/prosa\n```",
        "```sh\npython3 -m pip install prosa\n```",
    ),
    Text(
        "docs/install.md",
        """ Until the first release is on the package index, install it from a checkout.

## What works today

No package index has Prosa yet, so nothing may install it by its name: another package could have that name. Four
ways work, all from a copy of this repository: [an installation from the checkout](#from-a-checkout),
[wheels](#from-wheels) that it builds and that need no checkout afterwards, [a container](#in-a-container), and the
[action](checking.md#github-actions) of a workflow, which installs itself.
""",
        """

## From the package index

```sh
uv tool install prosa
pipx install prosa
python3 -m pip install prosa
```

`uvx prosa check` tries it without installing it. In a project, put `prosa` beside your other development tools (`uv
add --dev prosa`), and name a version in CI (`prosa==0.1.0`), because versions before 1.0 may change what a rule finds.
""",
    ),
    Text(
        "docs/install.md",
        """```sh
git pull && make demo                                                       # in the checkout
git pull && python3 -m pip install . ./sandbox ./packaging/prosa            # into an environment of yours
python3 -m pip uninstall prosa prosa-core prosa-sandbox
```
""",
        """```sh
uv tool upgrade prosa
pipx upgrade prosa
pip install --upgrade prosa
pip uninstall prosa prosa-core prosa-sandbox
```
""",
    ),
    Text("docs/install.md", '(`pip install ".[lsp]"` in a checkout)', '(`pip install "prosa-core[lsp]"`)'),
    Text(
        "docs/install.md",
        """python3 -m pip install ".[lsp,watch]"    # in a checkout
""",
        """python3 -m pip install ".[lsp,watch]"    # in a checkout
uv tool install "prosa[lsp,watch]"       # from the package index
""",
    ),
    Text(
        "docs/README.md",
        "After the [installation](install.md), from a checkout until the first release:",
        "After the [installation](install.md):",
    ),
    Text(
        "docs/editors.md",
        """python3 -m pip install ".[lsp]" ./sandbox ./packaging/prosa    # everything
python3 -m pip install ".[lsp]"                                # prosa-core
""",
        """python3 -m pip install "prosa[lsp]"         # everything
python3 -m pip install "prosa-core[lsp]"    # prosa-core
""",
    ),
    Text(
        "docs/editors.md",
        "`lsp`, here from a [checkout](install.md#from-a-checkout); `prosa-core` alone",
        "`lsp`; `prosa-core` alone",
    ),
    _extra("docs/tutorial.md", "embedded"),
    _extra("docs/models.md", "embedded", "     # the engine"),
    Text(
        "docs/batches.md",
        '(`pip install ".[batch]"` in a\ncheckout)',
        '(`pip install\n"prosa[batch]"`)',
    ),
    Text(
        "docs/checking.md",
        "No package index has Prosa yet, so CI installs it from a checkout. Replace `ADDRESS` and `v0.1.0`:",
        "Replace `v0.1.0`:",
    ),
    Text(
        "docs/checking.md",
        """The hooks install `prosa-core` by its name, so they work once that is published. Until then take the hook
that `prosa init` writes, which calls the `prosa` on the `PATH`.
""",
        "Each tag of that repository installs the version of Prosa of the same name.\n",
    ),
    Text(
        "packaging/pre-commit/README.md",
        "It installs `prosa-core` by its name: use it once the project has published that.",
        "Each tag installs the version of Prosa of the same name.",
    ),
    Text(
        "packaging/prosa/README.md",
        "python3 -m pip install . ./sandbox ./packaging/prosa    # in a checkout: no package index has it yet",
        "pip install prosa",
    ),
    Text(
        "editors/vscode/README.md",
        "Until there is\n   a first release, that is from a checkout of Prosa: "
        '`python3 -m pip install ".[lsp]" ./sandbox ./packaging/prosa`.',
        'That is\n   `python3 -m pip install "prosa[lsp]"`.',
    ),
    Text(
        "SECURITY.md",
        "There is no private address yet. Report to the owner of the repository that you have this copy from,",
        "Report in private to <SECURITY>,",
        of_security=True,
    ),
    Text(
        "SECURITY.md",
        "How soon an answer comes is promised once there is an address.",
        "An answer comes within a week, a fix or a date for it within thirty days.",
        of_security=True,
    ),
)
"""Every passage that changes."""


def in_state(path: str, text: str, *, published: bool, security: str) -> str:
    """Return a file's text with each of its passages in the form that holds. Raises `ValueError` for a passage that
    stands in neither form."""
    for each in TEXTS:
        if each.path == path:
            holds = bool(security) if each.of_security else published
            text = _with(each, text, each.then.replace(ADDRESS, security) if holds else each.today)
    return text


def _with(each: Text, text: str, wanted: str) -> str:
    """Return the text with a passage as it is wanted. One form may be a part of the other, so the longer is looked for
    first."""
    for form in sorted((each.today, each.then), key=len, reverse=True):
        pattern = re.escape(form).replace(re.escape(ADDRESS), r"\S+")
        if re.search(pattern, text):
            return re.sub(pattern, lambda _: wanted, text)
    raise ValueError(f"{each.path} says neither {each.today!r} nor {each.then!r}")
