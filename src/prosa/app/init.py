"""The setup of a project: only absent files are written; existing ones are extended at their end or left unchanged.

In: a folder, the requested parts, and the hosts that are used there. Out: a `Part` for each file: the text to write, or
why there is none. Nothing is written before `write_parts`; nothing is overwritten, and a file that changes meanwhile is
left unchanged.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from prosa import __version__
from prosa.adapters.files import RootedFiles
from prosa.adapters.files.write import replace_file
from prosa.app.init_hosts import AGENTS, Instructions, instructions_of, skill_folders
from prosa.data import Mapping as Fields
from prosa.data import Node
from prosa.data import Sequence as Items
from prosa.data.yaml import read_yaml
from prosa.dialects.context.hosts import Host
from prosa.extras import PUBLISHED
from prosa.settings.model import PYPROJECT_FILE, is_about_prosa
from prosa.source import FileProblem, SourceText

ADDRESS = "prosa=={version}" if PUBLISHED else ""
"""What `pip install` is given in a workflow, with ``{version}`` in place of the version. While it is empty, since no
name belongs to the project, a workflow installs nothing and its step fails (X44)."""

_NO_ADDRESS = (
    "There is no address yet that Prosa can be installed from: replace this step with one that installs it from a place"
    " that you trust."
)

HOOKS = ".pre-commit-config.yaml"
SKILL = "prosa-check/SKILL.md"
"""The skill that is written, below a folder of skills."""

HEADING = "## Documents"
"""The heading of the section for agents."""


class Part(Struct, frozen=True):
    """One file: its path below the folder, its new text, and its present one. ``why`` says why nothing is written;
    ``by_hand`` is then the text that the user may add."""

    name: str
    path: Path
    after: str = ""
    before: SourceText | None = None
    why: str = ""
    by_hand: str = ""


PARTS: Mapping[str, str] = {
    "settings": "prosa.toml",
    "hook": HOOKS,
    "workflow": ".github/workflows/prosa.yml",
    "agents": AGENTS,
    "skill": f".agents/skills/{SKILL}",
}
"""The file of each part where no host is known; hosts have others too for `agents` and `skill`."""


def plan_parts(folder: Path, names: Sequence[str], hosts: Sequence[Host] = ()) -> tuple[Part, ...]:
    """Return what would be written below ``folder`` for these hosts. Raises `FileProblem` for a file that is there and
    cannot be read, and for one that a link would lead out of the folder."""
    reader = RootedFiles(folder.resolve())
    return tuple(part for name in PARTS if name in names for part in _parts(reader, folder, name, hosts))


def write_parts(parts: Sequence[Part]) -> dict[Path, str]:
    """Write those that have something to write, and return the words for those that were refused, by path."""
    refused: dict[Path, str] = {}
    for part in parts:
        if part.why:
            continue
        try:
            part.path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(part.path, part.after, expect_digest=part.before.digest if part.before else "")
        except FileProblem as problem:
            refused[part.path] = str(problem)
        except OSError as error:
            refused[part.path] = f"{part.path}: {error.strerror or error}; it was not written"
    return refused


def _parts(reader: RootedFiles, folder: Path, name: str, hosts: Sequence[Host]) -> Iterator[Part]:
    """Yield the files of a part."""
    if name == "agents":
        yield from (
            _instructing(reader, folder, instructions) for instructions in instructions_of(reader, folder, hosts)
        )
    elif name == "skill":
        yield from (_part(reader, name, folder / inner / SKILL) for inner in skill_folders(folder, SKILL, hosts))
    else:
        top = _repository(reader.real(folder)) if name in _FROM_THE_TOP else None
        yield _part(reader, name, folder / PARTS[name]) if top is None else _part_of_top(reader, name, folder, top)


def _repository(folder: Path) -> Path | None:
    """Return the top folder of the git repository around a folder, a real path; None where that is the folder itself,
    and where there is none."""
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)
    return top if top != folder else None


def _part_of_top(reader: RootedFiles, name: str, folder: Path, top: Path) -> Part:
    """Return a part of which only the file in the top folder of the repository counts: the text for it, which is not
    written, since that folder is no part of the project."""
    path, below = top / PARTS[name], reader.real(folder).relative_to(top).as_posix()
    reader = RootedFiles(top)
    if path.is_file() and reader.inside_root(path) and "prosa" in reader.read(path).text:
        return Part(name, path, why="names prosa already")
    text = _template(Path(PARTS[name]).name.lstrip("."))
    for before, after in _FROM_THE_TOP[name](below):
        text = text.replace(before, after)
    return Part(name, path, why=f"counts only there, and `init` writes into {folder} alone", by_hand=text)


def _workflow_below(folder: str) -> tuple[tuple[str, str], ...]:
    """Return what a workflow says instead for a folder: annotations need paths from the top of the repository."""
    word, quoted = shlex.quote(folder), folder.replace("'", "''")
    return (
        ("prosa check ", f"prosa check {word} "),
        ("prosa test --replay tapes ", f"prosa test {word} --replay {shlex.quote(f'{folder}/tapes')} "),
        ("hashFiles('tapes/**')", f"hashFiles('{quoted}/tapes/**')"),
    )


def _hook_below(folder: str) -> tuple[tuple[str, str], ...]:
    """Return what a hook says instead for a folder."""
    return (("files: ", f"files: ^{re.escape(folder)}/.*"),)


_FROM_THE_TOP: Mapping[str, Callable[[str], tuple[tuple[str, str], ...]]] = {
    "hook": _hook_below,
    "workflow": _workflow_below,
}
"""The parts that GitHub and pre-commit read only in the top folder of a repository, and their texts for a folder."""


def _instructing(reader: RootedFiles, folder: Path, file: Instructions) -> Part:
    """Return the part of a file of instructions: an import of AGENTS.md where that is enough, else the section."""
    path = folder / file.path
    if file.why or not file.imports:
        return Part("agents", path, why=file.why) if file.why else _part(reader, "agents", path)
    return Part("agents", path, f"@{file.imports}\n")


def _part(reader: RootedFiles, name: str, path: Path) -> Part:
    text = _template(Path(PARTS[name]).name.lstrip("."))
    if not reader.inside_root(path):
        raise FileProblem(path, "outside-root", "leads out of the folder, and is not written")
    if name == "settings" and not path.exists() and _has_table(reader, path.with_name(PYPROJECT_FILE)):
        return Part(name, path, why=f"{PYPROJECT_FILE} has [tool.prosa], which would count no more")
    if not path.exists():
        whole = f"# For agents\n\n{text}" if name == "agents" else f"repos:\n{text}" if name == "hook" else text
        return Part(name, path, whole)
    if (add := _ADDITIONS.get(name)) is None:
        return Part(name, path, why="is there already")
    return add(name, path, reader.read(path), text)


def _has_table(reader: RootedFiles, path: Path) -> bool:
    """Return whether a `pyproject.toml` has settings of Prosa."""
    if not reader.inside_root(path) or not path.is_file():
        return False
    return is_about_prosa(path.name, reader.read(path).text)


def _template(name: str) -> str:
    place = files("prosa.app").joinpath("templates", name)
    if name == "SKILL.md" and not place.is_file():  # a checkout has it once, where people find it
        place = Path(__file__).parents[3] / "skills" / SKILL
    text = place.read_text(encoding="utf-8")
    return text.replace("{install}", "\n".join(f"        {line}" for line in _installing(ADDRESS)))


def _installing(address: str) -> tuple[str, ...]:
    """Return the lines of the step that installs Prosa, or fails where it is not known from where."""
    if address:
        return (f"run: pip install {shlex.quote(address.replace('{version}', __version__))}",)
    return ("run: |", f'  echo "::error title=Prosa::{_NO_ADDRESS}"', "  exit 1")


def _with_hook(name: str, path: Path, source: SourceText, text: str) -> Part:
    """Return the configuration of pre-commit with one more repository at its end, where its list of them stands
    there."""
    if "prosa" in source.text:
        return Part(name, path, why="names prosa already")
    repos = _repos(source.text)
    if repos:
        first = source.position(repos[0].span.start)
        line = source.lines.line_text(first.line)
        indent = line[: len(line) - len(line.lstrip(" "))]
        added = "".join(f"{indent}{row[2:]}\n" for row in text.splitlines())
        after = _with(source.text, added)
        if len(_repos(after)) == len(repos) + 1:
            return Part(name, path, after, source)
    return Part(name, path, why="is written in a form that nothing can be added to", by_hand=text)


def _repos(text: str) -> tuple[Node, ...]:
    """Return the repositories of a configuration; none where it cannot be read."""
    read = read_yaml(text)
    repos = read.node.get("repos") if isinstance(read.node, Fields) and not read.problems else None
    return repos.items if isinstance(repos, Items) else ()


def _with_section(name: str, path: Path, source: SourceText, text: str) -> Part:
    if HEADING in source.text.splitlines() or "prosa check" in source.text:
        return Part(name, path, why="speaks of prosa already")
    return Part(name, path, _with(source.text, f"\n{text}"), source)


def _with(text: str, added: str) -> str:
    """Return the text with lines behind its last one, which end as its own do."""
    end = "\r\n" if "\r\n" in text else "\n"
    ended = text if not text or text.endswith("\n") else f"{text}{end}"
    return ended + added.replace("\n", end)


_ADDITIONS: Mapping[str, Callable[[str, Path, SourceText, str], Part]] = {"hook": _with_hook, "agents": _with_section}
"""What adds to a file that is there."""
