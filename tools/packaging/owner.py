"""Puts what the owner has filled in where it belongs: `packaging/owner.toml` into projects, manifests, image and texts.

`python -m tools.packaging.owner` writes; `--check` writes nothing and exits with 1 where something would change. What
is empty leaves no line behind, so that no address stands anywhere that its owner did not give.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.packaging.texts import TEXTS, in_state

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "packaging" / "owner.toml"
DIFFERS = "differs from packaging/owner.toml; run `python -m tools.packaging.owner`"
OPTIONAL = frozenset({"documentation"})
"""Values that may stay empty."""

_FORMS = {
    "security": r"https://\S+|[^@\s]+@[^@\s]+\.[a-z]+",
    "repository": r"https://[\w.-]+/[\w.-]+/[\w.-]+(?<!/)(?<!\.git)",
    "documentation": r"https://\S+",
    "hooks": r"https://[\w.-]+/[\w.-]+/[\w.-]+",
    "image": r"[a-z0-9.-]+(/[a-z0-9._-]+)+",
    "publisher": r"[A-Za-z0-9][\w-]*",
}


class Owner(NamedTuple):
    """The values of the owner's file; empty where nothing is filled in."""

    published: bool = False
    name: str = ""
    security: str = ""
    repository: str = ""
    documentation: str = ""
    hooks: str = ""
    image: str = ""
    publisher: str = ""

    @property
    def slug(self) -> str:
        """Owner and name of the repository, as `uses:` names an action."""
        return "/".join(self.repository.split("/")[-2:]) if self.repository else "OWNER/prosa"

    @property
    def urls(self) -> Mapping[str, str]:
        """The addresses of a distribution, by the labels that package indexes know."""
        if not self.repository:
            return {}
        return {
            "Documentation": self.documentation or f"{self.repository}/blob/main/docs/README.md",
            "Source": self.repository,
            "Changelog": f"{self.repository}/blob/main/CHANGELOG.md",
            "Issues": f"{self.repository}/issues",
        }


def read_owner(text: str) -> Owner:
    """Return the owner of a file's text. Raises `ValueError` for a name or a form that no value has."""
    found = tomllib.loads(text)
    values = {"published": found.pop("published", False)}
    for table in found.values():
        values |= table
    if unknown := set(values) - set(Owner._fields):
        raise ValueError(f"packaging/owner.toml: no such value: {', '.join(sorted(unknown))}")
    for name, form in _FORMS.items():
        if values.get(name) and not re.fullmatch(form, values[name]):
            raise ValueError(f"packaging/owner.toml: {name} = {values[name]!r} has not the form {form}")
    owner = Owner(**values)
    if owner.published and empty(owner):
        raise ValueError(f"packaging/owner.toml: published, but empty: {', '.join(empty(owner))}")
    return owner


def empty(owner: Owner) -> tuple[str, ...]:
    """Return the names of the values that a release needs and that are empty."""
    return tuple(name for name in Owner._fields[1:] if name not in OPTIONAL and not getattr(owner, name))


# ---- what is written into each file ----


def _project(text: str, owner: Owner) -> str:
    text = re.sub(r"^authors = .*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\[project\.urls\]\n(?:\w+ = .*\n)*\n", "", text, flags=re.MULTILINE)
    if owner.name:
        author = f"authors = [{{ name = {json.dumps(owner.name, ensure_ascii=False)} }}]\n"
        text = re.sub(r"^(license-files = .*\n)", lambda found: found[1] + author, text, count=1, flags=re.MULTILINE)
    if owner.urls:
        lines = "".join(f"{label} = {json.dumps(address)}\n" for label, address in owner.urls.items())
        head, name, rest = text.partition("[project]\n")
        inside, following = re.split(r"^(?=\[)", rest, maxsplit=1, flags=re.MULTILINE)
        text = f"{head}{name}{inside}[project.urls]\n{lines}\n{following}"
    return text


def _extension(text: str, owner: Owner) -> str:
    text = re.sub(r'^  "(?:repository|bugs|homepage)": .*\n', "", text, flags=re.MULTILINE)
    text = re.sub(r'^  "publisher": .*$', f'  "publisher": "{owner.publisher or "prosa"}",', text, flags=re.MULTILINE)
    if not owner.repository:
        return text
    place = {"type": "git", "url": f"{owner.repository}.git", "directory": "editors/vscode"}
    lines = {"homepage": owner.urls["Documentation"], "bugs": {"url": owner.urls["Issues"]}, "repository": place}
    added = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in lines.items())
    return re.sub(r'^(  "license": .*\n)', lambda found: found[1] + added, text, count=1, flags=re.MULTILINE)


def _plugin(text: str, owner: Owner) -> str:
    text = re.sub(r'^  "(?:repository|homepage)": .*\n', "", text, flags=re.MULTILINE)
    if not owner.repository:
        return text
    lines = {"homepage": owner.urls["Documentation"], "repository": owner.repository}
    added = "".join(f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in lines.items())
    return re.sub(r'^(  "license": .*\n)', lambda found: added + found[1], text, count=1, flags=re.MULTILINE)


def _marketplace(text: str, owner: Owner) -> str:
    named = json.dumps(owner.name or "Prosa", ensure_ascii=False)
    return re.sub(r'"owner": \{"name": "[^"]*"\}', lambda _: f'"owner": {{"name": {named}}}', text)


def _action(text: str, owner: Owner) -> str:
    text = re.sub(r"^author: .*\n", "", text, flags=re.MULTILINE)
    added = f"author: {json.dumps(owner.name, ensure_ascii=False)}\n" if owner.name else ""
    return re.sub(r"^(description: .*\n)", lambda found: found[1] + added, text, count=1, flags=re.MULTILINE)


def _image(text: str, owner: Owner) -> str:
    text = re.sub(r'^LABEL org\.opencontainers\.image\.(?:source|url|vendor)=".*"\n', "", text, flags=re.MULTILINE)
    labels = {"source": owner.repository, "url": owner.urls.get("Documentation", ""), "vendor": owner.name}
    added = "".join(f'LABEL org.opencontainers.image.{key}="{value}"\n' for key, value in labels.items() if value)
    return re.sub(r"^(LABEL .*\n)", lambda found: found[1] + added, text, count=1, flags=re.MULTILINE)


def _compose(text: str, owner: Owner) -> str:
    return re.sub(r"^(    image: )\S*prosa$", rf"\g<1>{owner.image or 'prosa'}", text, flags=re.MULTILINE)


def _code(text: str, owner: Owner) -> str:
    return re.sub(r"^PUBLISHED = \w+$", f"PUBLISHED = {owner.published}", text, flags=re.MULTILINE)


def _script(text: str, owner: Owner) -> str:
    return re.sub(r"^const PUBLISHED = \w+;$", f"const PUBLISHED = {str(owner.published).lower()};", text, flags=re.M)


def _hooks(text: str, owner: Owner) -> str:
    place = owner.hooks or "ADDRESS-OF-THIS-REPOSITORY"
    return re.sub(r"^(  - repo: )\S+$", rf"\g<1>{place}", text, flags=re.MULTILINE)


def _checking(text: str, owner: Owner) -> str:
    text = re.sub(r"[\w.-]+/prosa@v", f"{owner.slug}@v", text)
    text = re.sub(r"(--branch v\S+ )\S+( /tmp/prosa)", rf"\g<1>{owner.repository or 'ADDRESS'}\g<2>", text)
    place = owner.hooks or "https://example.org/prosa-pre-commit"
    return re.sub(r"^(  - repo: )\S+$", rf"\g<1>{place}", text, flags=re.MULTILINE)


PLACES: Mapping[str, Callable[[str, Owner], str]] = {
    "pyproject.toml": _project,
    "sandbox/pyproject.toml": _project,
    "packaging/prosa/pyproject.toml": _project,
    "editors/vscode/package.json": _extension,
    "editors/vscode/src/extension.js": _script,
    ".claude-plugin/plugin.json": _plugin,
    ".claude-plugin/marketplace.json": _marketplace,
    "action.yml": _action,
    "Dockerfile": _image,
    "packaging/deploy/compose.yaml": _compose,
    "packaging/pre-commit/README.md": _hooks,
    "src/prosa/extras.py": _code,
    "docs/checking.md": _checking,
}
"""What writes into each file, beside the texts."""


def changes(owner: Owner, root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield each file that would be another one with this owner, with its text then. Raises `ValueError` for a text
    that stands nowhere."""
    for name in sorted({*PLACES, *(text.path for text in TEXTS)}):
        before = (root / name).read_text(encoding="utf-8")
        after = in_state(name, before, published=owner.published, security=owner.security)
        after = PLACES.get(name, lambda text, _: text)(after, owner)
        if after != before:
            yield name, after


def main() -> int:
    """Write, or only say what would change, and give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    wanted = parser.parse_args()
    try:
        owner = read_owner(FILE.read_text(encoding="utf-8"))
        found = list(changes(owner))
    except ValueError as problem:
        print(problem, file=sys.stderr)
        return 1
    for name, text in found:
        print(f"{name}: {DIFFERS if wanted.check else 'written'}")
        if not wanted.check:
            (ROOT / name).write_text(text, encoding="utf-8")
    if missing := empty(owner):
        print(f"packaging/owner.toml: empty: {', '.join(missing)}")
    return bool(found) if wanted.check else 0


if __name__ == "__main__":
    sys.exit(main())
