"""A program from a file, with everything it imports, ready to be rendered, planned or run (L6, L15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.adapters.files import RootedFiles, find_program_root
from prosa.adapters.files.skill_files import SKILL_FILE, is_skill
from prosa.app.options import DEFAULT_MODEL, Environment, Options, limits_in
from prosa.app.permission import require_permission
from prosa.app.settings import size_limit
from prosa.diagnostics import Diagnostic, Severity
from prosa.dialects.markdownlang.fields import site_form
from prosa.rules.programs import check_program
from prosa.runtime.errors import ProgramRefused, RunError
from prosa.runtime.limits import Limits
from prosa.runtime.lower.markdownlang import lower
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.runtime.program import Program
    from prosa.settings import Settings
    from prosa.source import Files


def load_program(
    path: Path,
    options: Options,
    settings: Settings,
    *,
    to_run: bool = True,
    warned: Callable[[Diagnostic], None] | None = None,
    environ: Mapping[str, str] | None = None,
    within: Path | None = None,
    files: Files | None = None,
    named: bool = True,
) -> Program:
    """Read a program with everything it imports, from inside its root (X5); of a skill, which its file or its folder
    names, the program that follows it (X32).

    ``warned`` receives the warnings about an accepted program. ``environ`` gives the home folder, which is never a
    root. ``within`` is the root for a program that a document or a web client named: nothing outside of it is opened.
    ``files`` are read in place of those below a root. ``named`` says that an argument of the call names the program, so
    that it may start its own servers (X7). Raises `FileProblem`, and `ProgramRefused` when there are errors that stop a
    run, or with ``to_run`` False those that stop even rendering (LA2).
    """
    if is_skill(path):
        from prosa.app.run.skills import skills_program

        return skills_program((), options, settings, chosen=path, warned=warned, within=within)
    if options.output_schema is not None:
        raise RunError(f"{path} is a program with an output schema of its own: another one is for skills")
    if path.is_dir():
        raise FileProblem(path, "not-a-file", f"is a folder without a {SKILL_FILE}: name a file in it")
    chosen_root = within or options.root
    root = chosen_root or find_program_root(path, environ or {})
    most = size_limit(options.max_size, settings)
    rooted = RootedFiles(root, most, () if within else (path,))
    outside = None if chosen_root or files is not None else rooted.read_outside
    checked = check_program(path, files or rooted, outside=outside)
    errors = checked.stopping("run" if to_run else "render")
    if errors:
        raise ProgramRefused(errors)
    for diagnostic in checked.diagnostics:
        if warned is not None and diagnostic.severity is Severity.WARNING:
            warned(diagnostic)
    return lower(
        checked.closure,
        skills=_skills(checked.closure.skills, options, settings, chosen_root),
        default_model=options.default_model or settings.model_name or DEFAULT_MODEL,
        model=options.model_name or options.here_name,
        base=replace(Limits(), **limits_in(settings)),
        chosen=limits_in(options),
        named=rooted.root if named and within is None else None,
    )


def _skills(paths: Sequence[Path], options: Options, settings: Settings, within: Path | None) -> Mapping[Path, Program]:
    """Return the skills that programs import, as programs: they answer text."""
    if not paths:
        return {}
    from prosa.app.run.skills import skills_program

    return {path: skills_program((), options, settings, chosen=path, within=within) for path in paths}


def ready_program(
    path: Path | Program,
    options: Options,
    environment: Environment,
    *,
    warned: Callable[[Diagnostic], None] | None = None,
    within: Path | None = None,
    named: bool = True,
    to_run: bool = True,
) -> Program:
    """Return a program that may run: loaded, permitted, with the sites that the user gives it.

    ``to_run`` False is for a plan, which needs no permission. Raises what `load_program` does, `RunError` for a site
    that is none, `AgreementRequired` (L41) and `NotTrusted` (X7).
    """
    if isinstance(path, Path):
        about = options, environment.settings
        path = load_program(path, *about, warned=warned, environ=environment.environ, within=within, named=named)
    if to_run:
        require_permission(path, options, environment, sites=within is not None)
    return with_sites(path, options.site_rights.named)


def with_sites(program: Program, urls: Sequence[str]) -> Program:
    """Return the program with sites that the user gives it for this run, beside its own. Raises `RunError` for no
    URL."""
    for url in urls:
        if wrong := site_form(url):
            raise RunError(f"--site {url[:200]}: {wrong}")
    return replace(program, sites=tuple(dict.fromkeys((*program.sites, *urls))))
