"""Writes `packaging/pre-commit/`: the content of the repository that pre-commit clones to run Prosa as a hook.

That repository only names a released version, so a hook installs wheels in seconds, those of the libraries that read.
Run `python -m tools.packaging.pre_commit` after the version in pyproject.toml changed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.packaging.owner import FILE, PLACES, read_owner
from tools.packaging.texts import in_state

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging" / "pre-commit"

HOOKS = r"""- id: prosa-check
  name: prosa check
  description: Check the Markdown documents that were changed, against all others of the project.
  entry: prosa check
  language: python
  files: (\.(md|markdown|mda|mdc|mdx|ymj)|(^|/)evals/(evals|trigger-eval|triggers)\.json)$
  require_serial: true
  minimum_pre_commit_version: 2.9.2
- id: prosa-check-all
  name: prosa check (whole project)
  description: Check all Markdown documents of the project, whatever was changed.
  entry: prosa check
  language: python
  files: (\.(md|markdown|mda|mdc|mdx|ymj)|(^|/)evals/(evals|trigger-eval|triggers)\.json|(^|/)prosa\.toml)$
  pass_filenames: false
  require_serial: true
  minimum_pre_commit_version: 2.9.2
- id: prosa-fmt
  name: prosa fmt
  description: Write the Markdown documents that were changed in their normal form.
  entry: prosa fmt
  language: python
  files: \.(md|markdown|mda|mdc|mdx|ymj)$
  require_serial: true
  minimum_pre_commit_version: 2.9.2
"""

PROJECT = """[project]
name = "prosa-pre-commit"
version = "0.0.0"
description = "Prosa as hooks of pre-commit"
requires-python = "{python}"
dependencies = ["prosa-core=={version}"]

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
py-modules = []
"""

README = """# Prosa as hooks of pre-commit

Add to `.pre-commit-config.yaml`:

```yaml
repos:
  - repo: ADDRESS-OF-THIS-REPOSITORY
    rev: v{version}
    hooks:
      - id: prosa-check
      - id: prosa-fmt
```

`prosa-check` is given the files that were changed and knows the other documents of the project: a link to a heading
that is gone is found in the file that has the link, if that is one of them. `prosa-check-all` checks the whole project.

This repository is generated. It installs `prosa-core` by its name: use it once the project has published that.
"""


def contents() -> dict[str, str]:
    """Return the files of the repository by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {"version": project["version"], "python": project["requires-python"]}
    owner = read_owner(FILE.read_text(encoding="utf-8"))
    readme = "packaging/pre-commit/README.md"
    words = in_state(readme, README.format(**known), published=owner.published, security=owner.security)
    return {
        ".pre-commit-hooks.yaml": HOOKS,
        "pyproject.toml": PROJECT.format(**known),
        "README.md": PLACES[readme](words, owner),
    }


def main() -> None:
    """Write them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in contents().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
