"""The projects that an editor has open: which workspace a document belongs to, and how much of it is read.

In: the folders of the editor, real paths of documents. Out: workspaces, one for each root. A folder that nothing marks
as a project, and that is a home folder or one around it, is never read as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct, field

from prosa.adapters.files import find_root, home
from prosa.adapters.files.places import is_marked, is_project
from prosa.adapters.files.read import real_path
from prosa.app.check.baseline import Baseline, open_baseline
from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.rules.resident import ResidentCorpus
from prosa.source import FileProblem


class Projects(Struct, eq=False):
    """``folders`` are those shown by the editor, ``start`` is called with each opened workspace and a function that
    reads its corpus: it runs that in the background, and passes the result to `Workspace.adopt`. ``baseline`` is the
    file of known findings, from the root of each project; ``say`` is called with the problem of one."""

    options: CheckOptions
    environ: Mapping[str, str]
    start: Callable[[Workspace, Callable[[], ResidentCorpus]], None]
    say: Callable[[str], None]
    folders: list[Path] = field(default_factory=list)
    baseline: str = ""
    _by_root: dict[Path, Workspace] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Workspace]:
        return iter([*self._by_root.values()])

    def workspace_of(self, path: Path) -> Workspace:
        """Return the workspace that a document belongs to, opened where it is the first one of its project."""
        root = self.root_of(path)
        workspace = self._by_root.get(root)
        if workspace is None:
            workspace = self._by_root[root] = Workspace.at(root, self.options, self.environ)
            workspace.baseline = self._baseline(root)
            self.start(workspace, workspace.reader(whole=not self._is_too_wide(root)))
        return workspace

    def _baseline(self, root: Path) -> Baseline | None:
        if not self.baseline:
            return None
        try:
            return open_baseline(root / self.baseline)
        except FileProblem as problem:
            self.say(f"{problem}; all findings are shown")
            return None

    def known(self, path: Path) -> Workspace | None:
        """Return the same where it is open already."""
        return self._by_root.get(self.root_of(path))

    def is_current(self, workspace: Workspace) -> bool:
        """Return whether a workspace has not been closed."""
        return self._by_root.get(workspace.root) is workspace

    def close(self) -> None:
        """Forget all workspaces: their settings are others now, or their folders."""
        self._by_root.clear()

    def root_of(self, path: Path) -> Path:
        """Return the nearest folder around a document that something marks as a project, else the folder of the editor
        that it is in, else its own."""
        folder = path.parent
        root = find_root(folder) if folder.is_dir() else folder
        if is_marked(root):
            return root
        paths = [project for project in self.folders if folder.is_relative_to(project)]
        return max(paths, key=lambda project: len(project.parts)) if paths else folder

    def _is_too_wide(self, root: Path) -> bool:
        """Return whether a root is a home folder or one around it, and its owner does not say that it is a project."""
        if is_project(root):
            return False
        try:
            return real_path(home(self.environ)).is_relative_to(root)
        except OSError:
            return root == root.parent
