"""What people think of answers, in a file beside the cases, or in one that another tool has written (X37).

In: paths, and opinions. Out: opinions by the name of a case. Read are the lists of skill-creator's viewer and the
mappings of agentskills.io; written is the list, with an `opinion` more, and never over a file that changed meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from prosa.adapters.files import RootedFiles, replace_file
from prosa.adapters.files.write import file_digest
from prosa.data import JsonError, Value, items_of, members_of, parse_json
from prosa.evaluation.report import Report
from prosa.records.test import Feedback, Opinion
from prosa.regex import regex
from prosa.render.benchmark import NEW, OLD, WITH, WITHOUT, eval_folders
from prosa.runtime.errors import RunError
from prosa.source import FileProblem

FEEDBACK = "feedback.json"

_SIDE = regex(rf"[-/](?P<side>{'|'.join((WITH, WITHOUT, NEW, OLD))})(?:[-/]run-[0-9]+)?\Z")
"""The end of the name that skill-creator's viewer gives a run: the path of its folder, with `-` for slashes."""


class FeedbackFile(Struct, frozen=True):
    """A file with feedback, by the names of cases. ``digest`` is that of its content, empty if there is none yet."""

    path: Path
    digest: str = ""
    feedback: Mapping[str, Feedback] = {}


def feedback_place(suite: Path) -> Path:
    """Return where the feedback on the cases of a file stands: beside it."""
    if suite.suffix.lower() == ".json":
        return suite.with_name(FEEDBACK)
    stem = suite.name.removesuffix(".md").removesuffix(".test")
    return suite.with_name(f"{stem}.{FEEDBACK}")


def read_feedback(path: Path, cases: Sequence[str] = ()) -> FeedbackFile:
    """Return what a file holds, nothing where there is none. ``cases`` are the names that the folders of a benchmark
    stand for. Raises `FileProblem`, and `RunError` for another form."""
    digest = file_digest(path)
    if not digest:
        return FeedbackFile(path)
    text = RootedFiles(path.parent, named=(path,)).read(path).text
    folders = dict(zip(eval_folders(cases), cases, strict=True))
    feedbacks: dict[str, Feedback] = {}
    for key, review in _said(path, text):
        name, side = _case(key, folders)
        text = f"{side}: {review.text}" if side not in ("", WITH) and review.text else review.text
        before = feedbacks.get(name)
        if before is not None and before.text:
            text = f"{before.text}\n{text}" if text else before.text
        feedbacks[name] = Feedback(review.opinion or (before.opinion if before else ""), text)
    return FeedbackFile(
        path, digest, {name: feedback for name, feedback in feedbacks.items() if feedback != Feedback()}
    )


def write_feedback(file: FeedbackFile, name: str, feedback: Feedback) -> FeedbackFile:
    """Write what is thought of the answers to one case, beside what the file holds, and return it. Raises
    `FileChanged` if it is no longer what was read, and `OSError`."""
    merged = {**file.feedback, name: feedback}
    kept = {key: entry for key, entry in merged.items() if entry != Feedback()}
    reviews = [
        {"run_id": key, "feedback": entry.text} | ({"opinion": entry.opinion} if entry.opinion else {})
        for key, entry in kept.items()
    ]
    text = json.dumps({"reviews": reviews}, ensure_ascii=False, indent=2) + "\n"
    replace_file(file.path, text.encode("utf-8", "replace"), expect_digest=file.digest)
    return FeedbackFile(file.path, file_digest(file.path), kept)


def known_feedback(
    report: Report,
    folder: Path | None = None,
    notice: Callable[[str], None] | None = None,
    *,
    files: Mapping[str, str] | None = None,
) -> Mapping[tuple[str, str], Feedback]:
    """Return the feedback on the cases of a report, by the path of a suite and the name of a case: that beside the
    cases before that in ``folder``, where a benchmark was written. ``files`` are the real paths of suites, where they
    are known. ``notice`` hears of files that cannot be read."""
    names: dict[str, dict[str, None]] = {}
    for suite in report.suites:
        names.setdefault(suite.path, {}).update(dict.fromkeys(case.case.name for case in suite.cases))
    feedbacks: dict[tuple[str, str], Feedback] = {}
    for path, cases in names.items():
        beside = feedback_place(Path((files or {}).get(path, path)))
        places = [*_places(folder), beside] if folder is not None else [beside]
        for place in places:
            try:
                read = read_feedback(place, list(cases))
            except (FileProblem, RunError) as problem:
                if notice is not None:
                    notice(f"warning: {problem}")
                continue
            feedbacks |= {(path, name): feedback for name, feedback in read.feedback.items() if name in cases}
    return feedbacks


def _places(folder: Path) -> Iterator[Path]:
    """Yield where a viewer leaves feedback: in the folder that it shows, the last iteration at the end."""
    yield folder / FEEDBACK
    iterations = [path for path in folder.glob("iteration-*") if path.name.removeprefix("iteration-").isdecimal()]
    if iterations:
        last = max(iterations, key=lambda path: int(path.name.removeprefix("iteration-")))
        yield last / FEEDBACK
        yield from sorted(last.glob(f"*/{FEEDBACK}"))


def _said(path: Path, text: str) -> Iterator[tuple[str, Feedback]]:
    try:
        value = parse_json(text)
    except JsonError as error:
        raise RunError(f"{path}:{error.line}: feedback is JSON: {error.message}") from None
    words = members_of(value)
    reviews = words.get("reviews")
    objects = [review for review in items_of(reviews) if isinstance(review, dict)]
    texts = {key: word.strip() for key, word in words.items() if isinstance(word, str)}
    if isinstance(reviews, list) and len(objects) == len(reviews):
        yield from ((str(review.get("run_id", "")), _feedback(review)) for review in objects)
    elif isinstance(value, dict) and len(texts) == len(value):
        yield from ((key, Feedback("", text)) for key, text in texts.items())
    else:
        raise RunError(
            f"{path}: this is not feedback",
            hint='feedback is `{"reviews": [{"run_id": "CASE", "feedback": "…"}]}`, or `{"CASE": "…"}`',
        )


def _feedback(review: Mapping[str, Value]) -> Feedback:
    text, opinion_text = review.get("feedback", ""), review.get("opinion", "")
    opinion: Opinion = "good" if opinion_text == "good" else "bad" if opinion_text == "bad" else ""
    return Feedback(opinion, text.strip() if isinstance(text, str) else "")


def _case(key: str, folders: Mapping[str, str]) -> tuple[str, str]:
    """Return the case that a key is about and the side of it: a name, a folder of a benchmark, or a run in one."""
    match = _SIDE.search(key)
    path = key[: match.start()] if match else key
    starts = (at for at in range(len(path)) if path.startswith("eval-", at) and (not at or path[at - 1] in "-/"))
    folder = next((path[at:] for at in starts if path[at:] in folders), None)
    return (key, "") if folder is None else (folders[folder], match["side"] if match else "")
