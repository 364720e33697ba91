"""The conversion of named documents to new files (X31), and a skill around a program, without loss.

Only the named files are opened, besides a program beside the target that might be imported, and the program inside a
skill that wraps it. Nothing is run or fetched. `write_results` replaces nothing by default.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Literal, cast

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import MAX_DOCUMENT_BYTES, RootedFiles, find_root, replace_file
from prosa.adapters.files.read import real_path
from prosa.convert.convert import Converted, convert
from prosa.convert.form import NotConvertible, TargetContext
from prosa.convert.mda import COMPILED, PACKED, compiled
from prosa.convert.neutral import NO_MARKS, FormName, Item, Piece, Report, flat
from prosa.convert.program import FORM as PROGRAM
from prosa.convert.program import calls_in
from prosa.convert.promptfoo.log import Unreadable
from prosa.convert.promptfoo.suite import convert_suite
from prosa.convert.skill import wrapped_path, wrapping
from prosa.convert.table import ROWS, form_in, is_promptfoo, stem_of
from prosa.data import Value
from prosa.diagnostics import Severity
from prosa.dialects.mda.sidecar import SIDECAR, read_sidecar, sidecar_faults
from prosa.dialects.reading import dialect_of, open_as
from prosa.dialects.table import MDA
from prosa.regex import regex
from prosa.rules.engine import check_text
from prosa.source import FileProblem, SourceText


class ConvertOptions(Struct, frozen=True):
    """The user's options. ``origin`` is the form of the sources if the user sets it; ``output`` a file or a folder, as
    ``into`` says. ``wrap`` makes a skill around a program."""

    target: FormName | Literal["test", "agents-md", "claude-md", "mcp-server-md"]
    origin: FormName | Literal["promptfoo", "mda"] | None = None
    output: Path | None = None
    into: bool = False
    wrap: bool = False
    max_size: int = MAX_DOCUMENT_BYTES


class NewFile(Struct, frozen=True):
    """A file to write. Where ``path`` is None the text is for standard output."""

    path: Path | None
    text: str


class Result(Struct, frozen=True):
    """One source, and what became of it: files and a report, or a problem in words."""

    source: str
    files: tuple[NewFile, ...] = ()
    report: Report = field(default_factory=lambda: Report(0))
    problem: str = ""
    hint: str = ""


def convert_documents(sources: Sequence[SourceText], options: ConvertOptions) -> tuple[Result, ...]:
    """Return the results, in the order of the sources. Nothing is written."""
    made: dict[str, str] = {}
    results: list[Result] = []
    for source in sources:
        try:
            result = _converted(source, options, made, alone=len(sources) == 1)
        except NotConvertible as problem:
            at = source.position(min(problem.offset, len(source.text)))
            result = Result(source.path, problem=f"{source.path}:{at.line}:{at.column}: {problem}", hint=problem.hint)
        except FileProblem as problem:
            result = Result(source.path, problem=str(problem))
        results.append(_without_clash(result, results))
    return tuple(results)


def read_sources(paths: Sequence[Path], max_size: int) -> Iterator[SourceText | FileProblem]:
    """Yield the documents of these paths; of a folder that is a skill, its SKILL.md."""
    files = RootedFiles(max_size=max_size)
    for path in paths:
        try:
            if path.is_dir():
                if not (path / "SKILL.md").is_file():
                    raise FileProblem(path, "not-a-file", "is a folder without SKILL.md: name its documents")
                path = path / "SKILL.md"
            yield files.read(path)
        except FileProblem as problem:
            yield problem


def _converted(source: SourceText, options: ConvertOptions, made: dict[str, str], *, alone: bool) -> Result:
    if options.target == "test":
        return _suite(source, options)
    if options.origin == "promptfoo" or (options.origin is None and is_promptfoo(source.path)):
        raise NotConvertible("a configuration of promptfoo becomes tests", hint="--to test")
    if options.target in COMPILED and not options.wrap and (options.target != "skill" or _is_mda(source, options)):
        return _compiled(source, options, alone=alone)
    target = cast("FormName", options.target)
    origin = "magi" if options.origin == "mda" else options.origin or form_in(source)
    if origin not in ROWS:
        raise NotConvertible(f"the form {origin} is not converted yet", 0)
    stem = stem_of(str(real_path(source.path)))
    folder = _folder(source, options, alone=alone)
    if options.wrap:
        return _wrap(source, origin, stem, folder, options)
    inner = unwrapped(source, options.max_size) if (origin, target) == ("skill", "program") else None
    if inner is not None:
        path = _target(options, folder, target, stem, None)
        return Result(source.path, (NewFile(path, inner.files[0][1]),), inner.report)
    context = TargetContext(stem, ROWS[target].path(stem), _programs(source, options, folder, made))
    converted = convert(source, origin, target, context)
    path = _target(options, folder, target, stem, converted)
    if target == "program" and path is not None and folder is not None:
        made[stem] = f"./{path.name}"
    left = _left_behind(source, origin, target)
    return Result(
        source.path, (NewFile(path, converted.text),), replace(converted.report, items=(*converted.report.items, *left))
    )


def _is_mda(source: SourceText, options: ConvertOptions) -> bool:
    return options.origin == "mda" or (options.origin is None and dialect_of(source) == "mda")


def _compiled(source: SourceText, options: ConvertOptions, *, alone: bool) -> Result:
    """Return what is compiled from an MDA document. Neither it nor the result may have an error."""
    if not _is_mda(source, options):
        raise NotConvertible("only an MDA document is compiled, and this is none", hint="prosa explain mda")
    target = COMPILED[options.target]
    folder = _folder(source, options, alone=alone)
    if target == "MCP-SERVER.md" and folder is None:
        raise NotConvertible("it becomes two files", hint="give --output DIR/")
    _refuse_errors(source, "")
    model = open_as(source, MDA).model
    beside = _sidecar_of(source) if target == "MCP-SERVER.md" else None
    for fault in sidecar_faults(beside, model.text("name")) if beside is not None else ():
        raise NotConvertible(f"`{SIDECAR}` beside it: {fault}")
    made = compiled(model, target, beside)
    name = model.text("name") or stem_of(source.path)
    for path, text in made.files:
        if path == target:
            _refuse_errors(SourceText(text, f"{name}/{path}"), f"the {target} would have an error: ")
    if folder is None:
        return Result(source.path, (NewFile(options.output, made.files[0][1]),), made.report)
    folder = folder / name if target in PACKED else folder
    return Result(source.path, tuple(NewFile(folder / path, text) for path, text in made.files), made.report)


def _refuse_errors(source: SourceText, what: str) -> None:
    """Raise `NotConvertible` for the first error of a document; that a second file is missing is none here."""
    diagnostics = check_text(source, dialect="mda").diagnostics
    wrong = next(
        (
            diagnostic
            for diagnostic in diagnostics
            if diagnostic.severity is Severity.ERROR and diagnostic.rule != "bad-mcp-sidecar"
        ),
        None,
    )
    if wrong is not None:
        raise NotConvertible(f"{what}{wrong.message} [{wrong.rule}]", 0 if what else wrong.span.start)


def _sidecar_of(source: SourceText) -> dict[str, Value] | None:
    """Return the `mcp-server.json` beside a document; None where there is none. Raises `NotConvertible`."""
    path = Path(source.path).parent / SIDECAR
    if not path.is_file():
        return None
    data = read_sidecar(RootedFiles(path.parent).read(path).text)
    if data is None:
        raise NotConvertible(f"`{SIDECAR}` beside it is not a JSON object")
    return data


def _suite(source: SourceText, options: ConvertOptions) -> Result:
    """Return the tests in a configuration of promptfoo. Files that it names are read below the root of its project."""
    if options.origin not in (None, "promptfoo"):
        raise NotConvertible(f"--to test makes tests of a configuration of promptfoo, and this is {options.origin}")
    if Path(source.path).suffix.lower() not in (".yaml", ".yml", ".json") and options.origin is None:
        hint = "--from promptfoo, if it is one"
        raise NotConvertible("--to test makes tests of a configuration of promptfoo", hint=hint)
    place = Path(source.path)
    files = RootedFiles(find_root(place), options.max_size)

    def text(path: str) -> str:
        try:
            return files.read(place.parent / path).text
        except FileProblem as problem:
            raise Unreadable(problem.reason) from None

    folder, stem = place.parent, _suite_stem(place)
    if options.output is not None:
        folder = options.output if options.into else options.output.parent
        stem = stem if options.into else options.output.name.removesuffix(".md").removesuffix(".test")
    made = convert_suite(source, stem, text)
    return Result(source.path, tuple(NewFile(folder / name, content) for name, content in made.files), made.report)


def _suite_stem(place: Path) -> str:
    """Return the name of tests: that of the folder, and what the name of the configuration adds."""
    folder = real_path(place).parent.name or "tests"
    rest = regex(r"(?i)\Apromptfooconfig").sub("", place.stem)
    name = f"{folder}{rest}" if rest != place.stem else place.stem.strip("<>")
    return regex(r"[^\w-]+").sub("-", name).strip("-") or "tests"


MOST_NAMED = 10
"""Files beside a skill that a report names."""


def _left_behind(source: SourceText, origin: FormName, target: FormName) -> tuple[Item, ...]:
    """Return a line for the further files of a skill: no other form has any."""
    place = Path(source.path)
    if origin != "skill" or target == "skill" or place.name != "SKILL.md":
        return ()
    with suppress(OSError):
        beside = sorted(path.name for path in islice(place.parent.iterdir(), 200) if path.name[0] != ".")
        names = [name for name in beside if name != place.name]
        if names:
            listed = ", ".join(f"`{name}`" for name in names[:MOST_NAMED])
            more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
            message = f"the files beside the skill stay there: {listed}{more}"
            return (Item("manual", source.path, 1, "", "", message, "files"),)
    return ()


def _folder(source: SourceText, options: ConvertOptions, *, alone: bool) -> Path | None:
    """Return the folder that results go to; None for standard output, or a file that the user names."""
    if options.output is not None:
        return options.output if options.into else None
    return None if alone else Path(source.path).parent


def _target(
    options: ConvertOptions, folder: Path | None, form: FormName, stem: str, converted: Converted | None
) -> Path | None:
    if folder is None:
        return options.output
    name = converted.name if form == "skill" and converted is not None and converted.name else stem
    return folder / ROWS[form].path(name)


def _programs(source: SourceText, options: ConvertOptions, folder: Path | None, made: dict[str, str]) -> dict[str, str]:
    """Return the programs that the text calls by name and that lie, or will lie, where the result goes."""
    if options.target != "program":
        return {}
    beside = folder or (options.output.parent if options.output else None)
    files = RootedFiles(beside.resolve()) if beside is not None and beside.is_dir() else None
    programs: dict[str, str] = {}
    for name in calls_in(source.text):
        if name in made:
            programs[name] = made[name]
        elif files is not None and beside is not None and _is_program(files, beside / f"{name}.md"):
            programs[name] = f"./{name}.md"
    return programs


def _is_program(files: RootedFiles, path: Path) -> bool:
    try:
        return files.inside_root(path) and path.is_file() and dialect_of(files.read(path)) == "markdownlang"
    except FileProblem:
        return False


def _wrap(source: SourceText, origin: FormName, stem: str, folder: Path | None, options: ConvertOptions) -> Result:
    if origin != "program":
        raise NotConvertible(f"--wrap makes a skill around a program, and this is of the form {origin}")
    if folder is None:
        raise NotConvertible("--wrap writes a folder", hint="give --output DIR/")
    made = wrapped(source, stem, options.max_size)
    return Result(source.path, tuple(NewFile(folder / name, text) for name, text in made.files), made.report)


def _without_clash(result: Result, before: Sequence[Result]) -> Result:
    """Return the result, or the problem that another source goes to the same file."""
    taken = {file.path: one.source for one in before for file in one.files if file.path is not None}
    for file in result.files:
        if file.path in taken:
            message = f"{result.source}: {file.path} would be made of {taken[file.path]} too; nothing is written for it"
            return Result(result.source, problem=message, hint="convert it alone, with another --output")
    return result


def blocked(path: Path, folder: Path | None, *, force: bool) -> str:
    """Return why a file may not be written; empty if it may be."""
    if path.is_symlink():
        return f"{path} is a link; nothing was written"
    if folder is not None and not real_path(path.parent).is_relative_to(real_path(folder)):
        return f"{path} leads out of {folder}; nothing was written"
    if os.path.lexists(path) and (not force or not path.is_file()):
        return f"{path} exists; nothing was written"
    return ""


def write_results(
    results: Sequence[Result], folder: Path | None, *, force: bool, on_written: Callable[[Path], None]
) -> tuple[str, ...]:
    """Write the files, and tell each, and return the words for those that were not. ``folder`` is where all lie."""
    refused: list[str] = []
    for result in results:
        targets = [(file.path, file.text) for file in result.files if file.path is not None]
        reasons = [why for path, _ in targets if (why := blocked(path, folder, force=force))]
        if reasons:
            refused.append(reasons[0])
            continue
        for path, text in targets:
            try:
                if folder is not None:
                    path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, text, expect_digest=None if force else "")
            except FileProblem:
                refused.append(f"{path} exists; nothing was written")
            except OSError as error:
                refused.append(f"{path}: {error.strerror or error}; it was not written")
            else:
                on_written(path)
    return tuple(refused)


def is_folder(output: str, count: int) -> bool:
    """Return whether an output path is a folder: it is one, is written as one, or is for several results."""
    return output.endswith(("/", os.sep)) or Path(output).is_dir() or count > 1


MAX_PROGRAMS = 64
"""Programs in one skill."""


class Skill(Struct, frozen=True):
    """The files of a skill, by their paths below the folder that it is put into, and the report."""

    files: tuple[tuple[str, str], ...]
    report: Report


def wrapped(source: SourceText, stem: str, max_size: int) -> Skill:
    """Return the skill around a program. Raises `NotConvertible` where an import cannot come with it."""
    piece = PROGRAM.read(source, NO_MARKS).piece
    name, text = wrapping(piece, stem)
    place = Path(source.path)
    programs = _with_imports(place.name, source, piece, RootedFiles(real_path(place).parent, max_size))
    files = [(f"{name}/scripts/{path}", program) for path, program in programs.items()]
    note = "the program lies in the skill as it is; running it needs Prosa"
    item = Item("manual", source.path, 1, "", f"{name}/SKILL.md", note)
    return Skill(((f"{name}/SKILL.md", text), *files), Report(len(flat(piece)), (item,)))


def _with_imports(name: str, source: SourceText, piece: Piece, files: RootedFiles) -> dict[str, str]:
    """Return the program and all that it imports, by their paths from its folder."""
    assert files.root is not None
    texts = {name: source.text}
    todo = [(name, piece)]
    while todo:
        importer, current = todo.pop()
        for written in _imports(current):
            place = real_path(files.root / Path(importer).parent / written)
            if not place.is_relative_to(files.root):
                raise NotConvertible(f"`{importer}` imports `{written}`, which lies outside its folder")
            path = place.relative_to(files.root).as_posix()
            if path in texts:
                continue
            if len(texts) == MAX_PROGRAMS:
                raise NotConvertible(f"the program imports more than {MAX_PROGRAMS} others")
            try:
                inner = files.read(place)
            except FileProblem as problem:
                raise NotConvertible(f"`{importer}` imports `{written}`: {problem.reason}") from None
            texts[path] = inner.text
            todo.append((path, PROGRAM.read(inner, NO_MARKS).piece))
    return texts


def _imports(piece: Piece) -> list[str]:
    return cast("list[str]", piece.slot("imports") or [])  # texts by the readers of programs


def unwrapped(source: SourceText, max_size: int) -> Skill | None:
    """Return the program inside a skill that wraps one, unchanged; None for any other skill."""
    inner = wrapped_path(source)
    folder = Path(source.path).parent
    if inner is None or not (folder / inner).is_file():
        return None
    program = RootedFiles(real_path(folder), max_size).read(folder / inner)
    piece = PROGRAM.read(program, NO_MARKS).piece
    notes = tuple(
        Item("manual", source.path, 1, "", "/imports", f"it imports `{target}`, which lies in the skill")
        for target in _imports(piece)
    )
    return Skill(((inner, program.text),), Report(len(flat(piece)), notes))
