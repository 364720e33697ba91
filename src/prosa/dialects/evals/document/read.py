"""Read a test document: a front reading and a document in, a `SuiteModel` and problems out. Never fails, opens
nothing.

    ## Charged twice                          a case: a heading of level 2 with blocks below it

    ```yaml input                             a block: the language, then what it says of the case
    request: I was charged twice.
    ```

Any other fence is an example for people, and a heading without a block is text. Rules check what needs the program or
a file of rows.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from prosa.data import Entry, Node, Scalar, Sequence, Value, key_span_at, read_json, read_yaml, span_at, to_value
from prosa.diagnostics import Annotation, Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.evals.document.fields import DATA, FRONT, LANGUAGES, Role
from prosa.dialects.evals.document.model import Block, CaseModel, SuiteModel, questions
from prosa.dialects.fields import Owner, read_fields, shown, text_of
from prosa.dialects.front import FrontReading
from prosa.document import Document, Fence, Heading
from prosa.evaluation.case import Requirement, parse_requirement, run_mistakes
from prosa.evaluation.expectations import Mistake, mistakes
from prosa.evaluation.matchers import MISSING, PYTHON, Missing
from prosa.source import Span


def read(front: FrontReading, document: Document) -> tuple[SuiteModel, tuple[Problem, ...]]:
    """Return the suite and the problems of its text."""
    entries, problems = _fields(front)
    cases, case_problems = _cases(document)
    require = parse_requirement(text_of(entries.get("require")) or "all") or Requirement()
    model = SuiteModel(
        document=document,
        tests=text_of(entries.get("tests")),
        repeat=_number(entries.get("repeat"), max(1, require.k)),
        requirement=require,
        models=_texts(entries.get("models")),
        rows=text_of(entries.get("rows")),
        grader=text_of(entries.get("grader")),
        votes=_number(entries.get("votes"), 1),
        cases=cases,
        entries=entries,
        anchor=front.anchor,
    )
    return model, (*problems, *case_problems, *_about_suite(model, complete=front.complete))


def _fields(front: FrontReading) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
    if front.fields is None:
        if front.present:
            return {}, ()
        message = "a test document begins with front matter between `---` lines, and this document has none"
        return {}, (Problem("missing-front-matter", message, front.anchor, ("it needs `tests: ./program.md`",)),)
    return read_fields(front.fields, FRONT, Owner("a test document", front.anchor, complete=front.complete))


def _number(entry: Entry | None, otherwise: int) -> int:
    value = entry.value.value if entry is not None and isinstance(entry.value, Scalar) else None
    return value if isinstance(value, int) else otherwise


def _texts(entry: Entry | None) -> tuple[str, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(dict.fromkeys(item.text for item in entry.value.items if isinstance(item, Scalar)))


def _about_suite(model: SuiteModel, *, complete: bool) -> Iterator[Problem]:
    require = model.requirement
    if require.is_rate and require.k > model.repeat:
        message = f"`{require.text}` is about {require.k} repeats, and each case has {model.repeat}"
        note = f"write `repeat: {require.k}` or more"
        yield Problem("requirement-beyond-repeats", message, model.span("require"), (note,))
    if complete and not model.cases and model.rows is None:
        message = "the document has no case"
        note = (
            "a case is a heading of level 2 with a block such as ```yaml input below it; `rows` names a file of cases"
        )
        yield Problem("test-without-cases", message, model.anchor, (note,))
    yield from _repeated(model.cases)


def _repeated(cases: Iterable[CaseModel]) -> Iterator[Problem]:
    first: dict[str, CaseModel] = {}
    for case in cases:
        earlier = first.setdefault(case.name, case)
        if earlier is not case:
            message = f"two cases are called `{shown(case.name)}`"
            note = "`--case`, the cache and reports know a case by its name: give each its own"
            annotation = Annotation(earlier.heading.content, "the first one")
            yield Problem("repeated-case", message, case.heading.content, (note,), (annotation,))


# ---- cases and their blocks ----


def _cases(document: Document) -> tuple[tuple[CaseModel, ...], list[Problem]]:
    problems: list[Problem] = []
    headings = [heading for heading in document.headings if not heading.nested and heading.level <= 2]
    starts = [heading.span.start for heading in headings]
    blocks: dict[int, dict[Role, Block]] = {}
    for fence in document.fences:
        if fence.nested or (role := _role(document, fence, problems)) is None:
            continue
        at = bisect_right(starts, fence.span.start) - 1
        if at < 0 or headings[at].level != 2:
            message = f"the block `{shown(fence.info)}` belongs to no case"
            problems.append(Problem("block-without-case", message, _info(document, fence), ("put `## NAME` above it",)))
            continue
        own = blocks.setdefault(at, {})
        if (earlier := own.get(role)) is not None:
            problems.append(_second(document, fence, earlier))
        else:
            own[role] = _block(document, fence, role, problems)
    return tuple(_case(document, headings, at, own) for at, own in blocks.items()), problems


def _case(document: Document, headings: list[Heading], at: int, blocks: dict[Role, Block]) -> CaseModel:
    heading = headings[at]
    end = headings[at + 1].span.start if at + 1 < len(headings) else document.body.end
    return CaseModel(heading.plain.strip(), heading, Span(heading.span.start, end), blocks)


def _role(document: Document, fence: Fence, problems: list[Problem]) -> Role | None:
    """Return the role of a fence in its case; None for an example for people. Whatever resembles a role is checked."""
    words = fence.info.split()
    if len(words) != 2:
        return None
    language, name = words[0].lower(), words[1]
    if name not in LANGUAGES:
        guess = nearest(name, LANGUAGES)
        if guess is not None and language in LANGUAGES[guess]:
            message = f"`{shown(name)}` is not a block of a case; did you mean `{guess}`?"
            problem = Problem("unknown-block", message, _info(document, fence), misspelling=Misspelling(name, guess))
            problems.append(problem)
        return None
    if language not in LANGUAGES[name]:
        known = ", ".join(f"`{word} {name}`" for word in LANGUAGES[name])
        message = f"a block `{name}` cannot be written in {shown(language)}"
        problems.append(Problem("unknown-block", message, _info(document, fence), (f"write one of {known}",)))
        return None
    return "check" if language == "python" else name  # type: ignore[return-value]


def _info(document: Document, fence: Fence) -> Span:
    """Return the info string of a fence."""
    start = fence.span.start + len(fence.open_fence)
    line = document.source.text[start : fence.span.end].splitlines()[0] if start < fence.span.end else ""
    lead = len(line) - len(line.lstrip())
    return Span(start + lead, start + max(len(line.rstrip()), lead))


def _second(document: Document, fence: Fence, earlier: Block) -> Problem:
    message = f"the case has two blocks `{earlier.role}`; the first one counts"
    annotation = Annotation(earlier.fence, "the first one")
    return Problem("repeated-block", message, _info(document, fence), (), (annotation,))


def _block(document: Document, fence: Fence, role: Role, problems: list[Problem]) -> Block:
    language = fence.language.lower()
    text, whole = document.fence_text(fence), len(fence.content) == 1
    span = Span(fence.content[0].start, fence.content[-1].end) if fence.content else fence.span
    if language not in DATA:
        content = text if role == "check" else text.removesuffix("\n").removesuffix("\r")
        block = Block(role, language, span, fence.span, content)
    else:
        reading = (read_json if language == "json" else read_yaml)(text, offset=span.start if whole else 0)
        problems += [problem if whole else replace(problem, span=span, annotations=()) for problem in reading.problems]
        readable = reading.node is not None and not reading.problems
        value: Value | Missing = to_value(reading.node) if readable and reading.node is not None else MISSING
        if reading.node is None and not reading.problems:
            value = None
        block = Block(role, language, span, fence.span, value, reading.node if whole else None)
    problems += [_problem(mistake, block) for mistake in _mistakes(block)]
    return block


def _mistakes(block: Block) -> Iterator[Mistake]:
    if isinstance(block.value, Missing):
        return
    if block.role == "expect":
        yield from mistakes(block.value)
    elif block.role == "check":
        yield from mistakes({PYTHON: block.value})
    elif block.role == "run":
        yield from run_mistakes(block.value)
    elif block.role == "grade" and not _is_questions(block):
        yield Mistake("bad-grade", "", "`grade` takes questions for a grader: one a line, or a list of texts")


def _is_questions(block: Block) -> bool:
    if not isinstance(block.value, str | list):
        return False
    asked = questions(block.value)
    return bool(asked) and (isinstance(block.value, str) or len(asked) == len(block.value))


def _problem(mistake: Mistake, block: Block) -> Problem:
    """Return a mistake at its place in the block."""
    meant = Misspelling(mistake.written, mistake.meant) if mistake.meant else None
    return Problem(mistake.kind, mistake.message, place_of(mistake, block), misspelling=meant)


def place_of(mistake: Mistake, block: Block) -> Span:
    """Return where a mistake is written: at its key or its value, or all of a block without places."""
    if block.node is None:
        return block.span
    place: Callable[[Node, str], Span] = key_span_at if mistake.on_key else span_at
    return place(block.node, mistake.pointer)
