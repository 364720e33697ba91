"""Reports as files: a test that just ended, or what the store has of tests, batches and runs (X37).

In: what is shown, and a file or a folder that the user named. Out: a page, Markdown or JSON by the suffix of the file;
in a folder pages with every answer whole, and the files of other tools for skills. Nothing is asked again. A file that
is no report of ours is not replaced unless the user says so, which is found out before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.files.write import replace_file, write_numbered
from prosa.app.evals.feedback import known_feedback
from prosa.app.evals.stored import NoTest, shown_test
from prosa.app.evals.suite import Suite
from prosa.app.journal.history import RunWithCalls, one
from prosa.app.view.shown import BatchWithRows, shown_batch
from prosa.evaluation.audit import Audit
from prosa.records.run import StorePlace
from prosa.records.test import ShownTest
from prosa.regex import regex
from prosa.render.audit import audit_report
from prosa.render.batch import status_json, status_lines
from prosa.render.benchmark import benchmark_files
from prosa.render.json import dump
from prosa.render.report.attempts import answer_text
from prosa.render.report.batches import batch_page
from prosa.render.report.markdown import test_markdown
from prosa.render.report.runs import run_page
from prosa.render.report.tests import test_page, test_pages
from prosa.render.runs import call_object, run_object, run_tree
from prosa.render.tests import tests_json, tests_text
from prosa.runtime.errors import BatchRefused, NotResumed, RunError

Form: TypeAlias = Literal["html", "md", "json", "folder"]

_SUFFIXES: Mapping[str, Form] = {".html": "html", ".htm": "html", ".md": "md", ".json": "json", "": "folder"}
MARK_MARKDOWN = "<!-- prosa report -->"

_MARK_HTML = b'<meta name="generator" content="Prosa'
_KEYS = frozenset(("suites", "calls", "rows", "runs", "mutants"))
"""What a report in JSON has one of."""

_ANSWERS = "answers"

MAX_INLINE = 1024
"""Bytes of a text above which it stands in a file of its own too."""


class ShownRuns(Struct, frozen=True):
    """The runs of one call, with their calls."""

    runs: tuple[RunWithCalls, ...]


Subject: TypeAlias = ShownTest | ShownRuns | BatchWithRows
"""What a report is about."""


class ReportRefused(RunError):
    """A report cannot be written where the user wants it, or may not be."""


class ReportTarget(Struct, frozen=True):
    """Where a report goes, and in which form."""

    path: Path
    form: Form


def target_of(text: str, *, force: bool = False) -> ReportTarget:
    """Return where a report goes. Raises `ReportRefused` for a suffix that says nothing, a folder that is not there,
    and a file that is no report."""
    path = Path(text)
    form = "folder" if text.endswith("/") or path.is_dir() else _SUFFIXES.get(path.suffix.lower())
    if form is None:
        hint = "NAME.html, NAME.md or NAME.json, or a folder"
        raise ReportRefused(f"{text}: a report has no form {path.suffix}", hint=hint)
    if form == "folder":
        if path.exists() and not path.is_dir():
            raise ReportRefused(f"{text}: that is a file, and a report without a suffix is a folder")
        return ReportTarget(path, form)
    if not path.parent.is_dir():
        raise ReportRefused(f"{text}: there is no folder {path.parent}", hint="make it first")
    if not force and path.exists() and not _is_report(path, form):
        raise ReportRefused(
            f"{text}: that is not a report of Prosa, and is not replaced", hint="name another file, or --force"
        )
    return ReportTarget(path, form)


def _is_report(path: Path, form: Form) -> bool:
    """Return whether a file is a report, or empty."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReportRefused(f"{path}: {error.strerror or error}") from None
    if not data.strip():
        return True
    if form == "json":
        with suppress(ValueError, RecursionError):
            value = json.loads(data)
            return isinstance(value, dict) and not _KEYS.isdisjoint(value)
        return False
    return (_MARK_HTML if form == "html" else MARK_MARKDOWN.encode()) in data[:4096]


def require_reportable(suites: Sequence[Suite], *, force: bool) -> None:
    """Raise `ReportRefused` for a classified suite: its answers would be on the disk."""
    classified = next((suite for suite in suites if suite.classified), None)
    if classified is not None and not force:
        raise ReportRefused(
            f"{classified.path} tests a classified subject, and a report would hold its answers",
            hint="leave --report out, or --force",
        )


def write_test_report(shown: ShownTest, target: ReportTarget, notice: Callable[[str], None]) -> Path:
    """Write a test, with what people think of its answers, and return the file to open. Raises `ReportRefused`."""
    folder = target.path if target.form == "folder" else None
    feedback = known_feedback(shown.report, folder, notice, files=shown.files)
    shown = replace(shown, feedback={**feedback, **shown.feedback})
    try:
        return _written(shown, target)
    except OSError as error:
        raise _unwritable(target, error) from None


def write_audit_report(audit: Audit, target: ReportTarget) -> Path:
    """Write what an audit found, and return the file. Raises `ReportRefused`."""
    if target.form == "folder":
        raise ReportRefused(f"{target.path}: an audit is one file", hint="NAME.html, NAME.md or NAME.json")
    mark = f"{MARK_MARKDOWN}\n\n" if target.form == "md" else ""
    try:
        replace_file(target.path, f"{mark}{audit_report(audit, target.form)}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise _unwritable(target, error) from None
    return target.path


def _unwritable(target: ReportTarget, error: OSError) -> ReportRefused:
    return ReportRefused(f"{target.path}: the report cannot be written: {error.strerror or error}")


def _written(shown: ShownTest, target: ReportTarget) -> Path:
    if target.form == "folder":
        return _write_folder(shown, target.path)
    replace_file(target.path, _test_text(shown, target.form).encode("utf-8", "backslashreplace"))
    return target.path


def _write_folder(shown: ShownTest, folder: Path) -> Path:
    """Write pages whose large answers stand whole in files beside them, and the next iteration for other tools."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = dict[str, str]()
    answers = folder / _ANSWERS
    for attempt in shown.report.attempts:
        for content in (answer_text(attempt.output), *(file.diff for file in attempt.files)):
            data = content.encode("utf-8", "surrogatepass")  # as the page does, whose digest it is known by
            if len(data) > MAX_INLINE and attempt.cut is None:
                digest = sha256(data).hexdigest()
                answers.mkdir(exist_ok=True)
                replace_file(answers / f"{digest}.txt", data, durable=False)
                whole[digest] = f"{_ANSWERS}/{digest}.txt"
    for name, text in test_pages(shown, whole=whole).items():
        replace_file(folder / name, text.encode("utf-8", "backslashreplace"), durable=False)
    if any(suite.routing is None for suite in shown.report.suites):
        write_benchmark(shown, folder)
    return folder / "index.html"


def stored_subject(place: StorePlace, name: str) -> Subject:
    """Return the test, the batch or the run of an id, or of the beginning of one; without a name the last test. Raises
    `NoTest` for none of these, `StoreProblem`."""
    try:
        return shown_test(place, name)
    except NoTest as missing:
        if not name or not missing.absent:
            raise
    try:
        return shown_batch(place, name)
    except BatchRefused:
        pass
    try:
        return ShownRuns(one(place, name))
    except NotResumed:
        message = f"there is no test, batch or run {name!r} in the store {place}"
        raise NoTest(message, hint="`prosa view`, `prosa batch` and `prosa runs` list them") from None


def write_report(subject: Subject, target: ReportTarget, notice: Callable[[str], None], *, apart: bool = False) -> Path:
    """Write what the store has as `write_test_report` does; ``apart`` gives each subject a folder of its own. Raises
    `ReportRefused`."""
    if apart:
        target = ReportTarget(target.path / _id_of(subject), "folder")
        target.path.mkdir(parents=True, exist_ok=True)
    if isinstance(subject, ShownTest):
        return write_test_report(subject, target, notice)
    try:
        if target.form != "folder":
            replace_file(target.path, printed_report(subject, target.form).encode("utf-8", "backslashreplace"))
            return target.path
        target.path.mkdir(parents=True, exist_ok=True)
        for name, text in _pages(subject).items():
            replace_file(target.path / name, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise _unwritable(target, error) from None
    return target.path


def _pages(subject: BatchWithRows | ShownRuns) -> dict[str, str]:
    """Return the pages of a batch or of the runs of a call, by the names of their files."""
    if isinstance(subject, ShownRuns) and len(subject.runs) > 1:
        return {f"{run.run.id}.html": run_page(run.run, run.calls) for run in subject.runs}
    return {"index.html": printed_report(subject, "html")}


def write_benchmark(shown: ShownTest, folder: Path) -> Path:
    """Write a test as the next iteration in a folder, for other tools for skills, and return that. Raises `OSError`."""
    return write_numbered(folder, "iteration", benchmark_files(shown))


def _id_of(subject: Subject) -> str:
    match subject:
        case ShownTest():
            return subject.record.id
        case BatchWithRows():
            return subject.status.batch.id
        case ShownRuns():
            return subject.runs[0].run.batch


def printed_report(subject: Subject, form: str, *, color: bool = False) -> str:
    """Return a report as text: `text`, `md`, `json` or `html`."""
    match subject:
        case ShownTest():
            return _test_text(subject, form, color)
        case BatchWithRows():
            return _batch_text(subject, form)
        case ShownRuns():
            return _runs_text(subject, form)


def _test_text(shown: ShownTest, form: str, color: bool = False) -> str:
    match form:
        case "html":
            return test_page(shown)
        case "md":
            return f"{MARK_MARKDOWN}\n\n{test_markdown(shown)}"
        case "json":
            return json.dumps(tests_json(shown.report), ensure_ascii=False, indent=2)
        case _:
            return tests_text(shown.report, color=color)


def _batch_text(shown: BatchWithRows, form: str) -> str:
    if form == "html":
        counts = shown.status.counts
        unread = counts.done + counts.failures - len(shown.rows)
        return batch_page(shown.status.batch, counts, shown.rows, unread=unread)
    if form == "json":
        rows = [row.as_dict() for row in shown.rows]
        return dump({**status_json(shown.status), "rows": rows, "more": shown.more}, indent=2)
    return _as(form, "\n".join(status_lines(shown.status)))


def _runs_text(shown: ShownRuns, form: str) -> str:
    if form == "html":
        if len(shown.runs) > 1:
            ids = ", ".join(run.run.id for run in shown.runs)
            raise ReportRefused(f"one call had several runs: {ids}", hint="-o DIR/ writes a page for each")
        return run_page(shown.runs[0].run, shown.runs[0].calls)
    if form == "json":
        runs = [run_object(run.run) | {"calls": [call_object(call) for call in run.calls]} for run in shown.runs]
        return dump(runs[0] if len(runs) == 1 else {"runs": runs}, indent=2)
    return _as(form, "\n\n".join(run_tree(run.run, run.calls) for run in shown.runs))


def _as(form: str, text: str) -> str:
    """Return text as it is printed, or as a block of Markdown that nothing in it ends."""
    if form != "md":
        return text
    longest = max((len(ticks) for ticks in regex("`+").findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{MARK_MARKDOWN}\n\n{fence}text\n{text}\n{fence}\n"
