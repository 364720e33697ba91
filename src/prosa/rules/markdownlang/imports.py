"""The imports of a program, and the tools that they become."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePath

from prosa.diagnostics import Annotation, Severity
from prosa.dialects.fields import shown
from prosa.dialects.markdownlang.fields import MAIL_TOOLS, PYTHON_TOOL, VISIT_TOOL, tool_name
from prosa.graph import Closure, ResolvedImport
from prosa.graph.closure import MAX_IMPORT_DEPTH
from prosa.rules.markdownlang import RULES
from prosa.rules.rule import Finding, ProgramSubject


@RULES.program("ML030", "unknown-import", Severity.ERROR)
def unknown_import(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an import of a file that does not exist (L6). The finding points at the import."""
    for imported in subject.program.imports:
        if imported.state == "missing":
            message = f"the imported program `{shown(imported.ref.text)}` does not exist"
            note = f"looked for {imported.path}; a relative path starts at the folder of the importing file"
            if "://" in imported.ref.text:
                note = "an import is a file, and nothing is fetched: save the program, and import it by its path"
            yield Finding(message, imported.ref.span, (note,))


@RULES.program("ML031", "unreadable-import", Severity.ERROR)
def unreadable_import(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an import of a file that exists and cannot be read as a document. The finding points at the import."""
    for imported in subject.program.imports:
        if imported.state == "unreadable":
            message = f"the imported program `{shown(imported.ref.text)}` cannot be read: {imported.reason}"
            yield Finding(message, imported.ref.span)


@RULES.program("ML032", "import-outside-root", Severity.INFO, stops="run")
def import_outside_root(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an import that a check does not open, because it lies outside the root (X5). The finding points at the
    import. A run without `--root` still follows it if it leads to a program without a link."""
    for imported in subject.program.imports:
        if imported.state == "outside-root":
            why = imported.reason or "was not opened"
            message = f"the imported program `{shown(imported.ref.text)}` lies outside the root and {why}"
            yield Finding(message, imported.ref.span, ("`--root DIR` makes the root wider",))


@RULES.program("ML033", "import-not-markdown", Severity.ERROR)
def import_not_markdown(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an import whose name does not end in `.md` (L6). The finding points at the import; the file is not
    opened."""
    for imported in subject.program.imports:
        if imported.state == "not-markdown":
            message = f"the import `{shown(imported.ref.text)}` is not a program: its name does not end in `.md`"
            note = (
                "programs cannot be imported over the network"
                if "://" in imported.ref.text
                else "give the path of a `.md` file"
            )
            yield Finding(message, imported.ref.span, (note,))


@RULES.program("ML034", "reserved-import", Severity.ERROR)
def reserved_import(subject: ProgramSubject) -> Iterator[Finding]:
    """Find `stdlib:NAME`, which the specification keeps for later (L28, LA14). The finding points at the import."""
    for imported in subject.program.imports:
        if imported.state == "reserved":
            message = f"`{shown(imported.ref.text)}` is reserved: there is no standard library of programs yet"
            yield Finding(message, imported.ref.span, ("import a file by its path",))


@RULES.program("ML035", "import-cycle", Severity.ERROR)
def import_cycle(subject: ProgramSubject) -> Iterator[Finding]:
    """Find programs that import each other (L6, L29, LA15); a cycle is reported once, with the whole way round. The
    finding points at the import that takes the first step of the cycle, in the program that was reached first."""
    program = subject.program
    cycle = subject.closure.cycle_from.get(program.path)
    if cycle is None:
        return
    step = cycle[1 % len(cycle)]
    first = next(imported for imported in program.imports if imported.path == step)
    names = _names_of(cycle, subject.closure)
    way = " → ".join((*names, names[0]))
    message = f"import cycle: {way}" if len(cycle) > 1 else "the program imports itself"
    note = "a program waits for the programs it calls, so these would wait for each other; remove one of the imports"
    yield Finding(message, first.ref.span, (note,))


def _names_of(cycle: tuple[Path, ...], closure: Closure) -> tuple[str, ...]:
    """File names, or paths as the user knows them where two files have the same name."""
    paths = tuple(closure.programs[path].model.source.path for path in cycle)
    names = tuple(PurePath(path).name for path in paths)
    return names if len(set(names)) == len(names) else paths


@RULES.program("ML036", "import-too-deep", Severity.ERROR)
def import_too_deep(subject: ProgramSubject) -> Iterator[Finding]:
    """Find a chain of imports longer than the limit (X9). The finding points at the import that goes one step too
    far."""
    depths = subject.closure.depths
    here = depths[subject.program.path]
    if here != MAX_IMPORT_DEPTH:
        return
    for imported in subject.program.imports:
        if imported.path is not None and depths.get(imported.path, 0) > here:
            message = (
                f"`{shown(imported.ref.text)}` is import number {here + 1} in a chain; the limit is {MAX_IMPORT_DEPTH}"
            )
            yield Finding(message, imported.ref.span, ("let a program higher up import it",))


@RULES.program("ML037", "too-many-imports", Severity.ERROR)
def too_many_imports(subject: ProgramSubject) -> Iterator[Finding]:
    """Find more imports than a program may have, or programs than imports may add up to. The finding points at the
    first import that was not followed."""
    for imported in subject.program.imports:
        if imported.state == "too-many":
            message = f"this import and those after it are not followed: {imported.reason}"
            yield Finding(message, imported.ref.span)
            return


@RULES.program("ML038", "ticket-without-mailbox", Severity.ERROR)
def ticket_without_mailbox(subject: ProgramSubject) -> Iterator[Finding]:
    """Find an import that is not waited for in a program without a mailbox (L47). The finding points at the import."""
    model = subject.program.model
    for ref in model.imports:
        if not ref.wait and model.mailbox is None:
            message = f"`{shown(ref.text)}` has `wait: false`, and the program has no mailbox for its output"
            yield Finding(message, ref.span, ("write `mailbox: true`, or leave `wait: false` out",))


@RULES.program("ML050", "tool-name-collision", Severity.ERROR)
def tool_name_collision(subject: ProgramSubject) -> Iterator[Finding]:
    """Find two tools of one program with the same wire name (LA12). The finding points at the import that comes later.
    The built-in `python` is always there, `visit` where there are sites, and the tools of a mailbox where there is
    one."""
    model = subject.program.model
    built_in = (PYTHON_TOOL, *((VISIT_TOOL,) if model.mdh else ()), *(MAIL_TOOLS if model.mailbox else ()))
    first: dict[str, ResolvedImport] = {}
    for imported in subject.program.imports:
        own = _tool_of(imported, subject.closure)
        if own is None:
            continue
        name = tool_name(own)
        earlier = first.setdefault(name, imported)
        if name in built_in and earlier is imported:
            what = "skill" if imported.state == "skill" else "program"
            message = f"`{shown(imported.ref.text)}` is a {what} named `{name}`, which is the name of the built-in tool"
            yield Finding(message, imported.ref.span, (f"give the {what} another `name`",))
        elif earlier is not imported:
            yield _same_name(imported, earlier, name)


def _tool_of(imported: ResolvedImport, closure: Closure) -> str | None:
    """Return the name of the program or skill that an import leads to; None where it leads to none."""
    if imported.state == "skill":
        return imported.name
    return closure.programs[imported.path].model.name if imported.path in closure.programs and imported.path else None


def _same_name(imported: ResolvedImport, earlier: ResolvedImport, name: str) -> Finding:
    annotation = (Annotation(earlier.ref.span, "the first one"),)
    if earlier.path == imported.path:
        message = f"`{shown(imported.ref.text)}` is imported twice"
        return Finding(message, imported.ref.span, ("remove one of them",), annotation)
    message = f"two imported programs would both be the tool `{name}`"
    return Finding(message, imported.ref.span, ("give one of the programs another `name`",), annotation)
