"""Read the cases of a skill, or the requests that it is for: a source in, an `EvalsModel` and problems out. It never
fails and opens nothing. What needs the skill beside it is found by rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import PurePath

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, Value, read_json, to_value
from prosa.diagnostics import Annotation, Misspelling, Problem
from prosa.diagnostics.nearest import nearest
from prosa.dialects.evals.suite.assertions import asserted
from prosa.dialects.evals.suite.fields import EVAL, LISTS, QUERY, TOP, UNJUDGED
from prosa.dialects.evals.suite.model import EvalModel, EvalsModel, Holds, TriggerModel
from prosa.dialects.fields import Field, Owner, read_fields, shown, text_of, type_name
from prosa.dialects.front import FrontReading
from prosa.document import Document
from prosa.evaluation.case import Requirement, parse_requirement
from prosa.evaluation.workspace import is_inside
from prosa.source import SourceText, Span

MAX_PROBLEMS = 100
"""Of one file; more say nothing new."""

FILES = "evals/files/"
"""Below it the files of cases stand; it is left out of their place in a workspace."""

MAX_PROMPT = 40
"""Characters of a prompt in the name of its case."""

MAX_SLIPS = 50
"""Unknown fields of one mapping that are compared with the known ones."""

_NAMES: dict[str, Holds] = {
    "evals.json": "cases",
    "trigger-eval.json": "triggers",
    "triggers.json": "triggers",
    "eval_set.json": "triggers",
}
"""What the files with a usual name hold."""


def read(front: FrontReading, document: Document) -> tuple[EvalsModel, tuple[Problem, ...]]:
    """Return the content of the file, and its problems."""
    del document
    model, problems = read_evals(front.source)
    return model, problems


def read_evals(source: SourceText) -> tuple[EvalsModel, tuple[Problem, ...]]:
    """Return the same for a text: by the name of the file it holds cases or requests, else by what its items say."""
    reading = read_json(source.text)
    holds = _held(PurePath(source.path).name.lower(), reading.node)
    start = len(source.text) - len(source.text.lstrip("\ufeff \t\r\n"))
    anchor = Span(start, min(start + 1, len(source.text)))
    empty = EvalsModel(source, holds, None, anchor, anchor=anchor)
    if reading.problems and any(problem.rule in ("json-syntax", "nested-too-deep") for problem in reading.problems):
        return empty, reading.problems
    if reading.node is None:
        return empty, (_shapeless(holds, "nothing", anchor),)
    model, problems = (_cases if holds == "cases" else _triggers)(source, reading.node, anchor)
    return model, (*reading.problems, *islice(problems, MAX_PROBLEMS))


def _held(name: str, node: Node | None) -> Holds:
    if name in _NAMES:
        return _NAMES[name]
    lists = [node.get(key) for key in LISTS] if isinstance(node, Mapping) else [node]
    items = next((listed.items for listed in lists if isinstance(listed, Sequence)), ())
    first = items[0] if items else None
    return "triggers" if isinstance(first, Mapping) and first.entry("should_trigger") is not None else "cases"


# ---- cases ----


def _cases(source: SourceText, top: Node, anchor: Span) -> tuple[EvalsModel, Iterator[Problem]]:
    problems: list[Problem] = []
    entries: dict[str, Entry] = {}
    if isinstance(top, Mapping) and (slip := _cases_elsewhere(top)) is not None:
        problems.append(slip)
        items = None
    elif isinstance(top, Mapping):
        entries, field_problems = read_fields(top, TOP, _owner("a file of cases", anchor, top, TOP))
        problems += field_problems
        items = entries["evals"].value if "evals" in entries else None
    else:
        items = top
    if items is not None and not isinstance(items, Sequence):
        problems.append(_shapeless("cases", type_name(items), items.span))
    evals: list[EvalModel] = []
    for at, item in enumerate(items.items if isinstance(items, Sequence) else ()):
        if len(problems) > MAX_PROBLEMS:
            break
        evals += _eval(item, at, problems)
    require = parse_requirement(text_of(entries.get("require")) or "all") or Requirement()
    named = entries.get("skill_name")
    model = EvalsModel(
        source,
        "cases",
        text_of(named),
        named.value.span if named else anchor,
        evals=tuple(_named_apart(evals)),
        repeat=_number(entries.get("repeat")),
        requirement=require,
        models=_texts(entries.get("models")),
        grader=text_of(entries.get("grader")),
        votes=_number(entries.get("votes")) or 1,
        anchor=anchor,
    )
    about = (*_repeated_ids(model), *_about_cases(model, items, entries), *_unjudged(items))
    return model, iter([*problems, *about])


def _cases_elsewhere(top: Mapping) -> Problem | None:
    """Return what is wrong where cases stand under another name than theirs."""
    if top.entry("evals") is not None:
        return None
    for entry in top:
        first = entry.value.items[0] if isinstance(entry.value, Sequence) and entry.value.items else None
        if isinstance(first, Mapping) and (first.entry("prompt") or first.entry("question")) is not None:
            name = entry.key.text
            message = f"cases belong under `evals`, and these are under `{shown(name)}`"
            meant = Misspelling(name, "evals")
            return Problem("unknown-evals-shape", message, entry.key.span, (), misspelling=meant)
    return None


def _eval(item: Node, at: int, problems: list[Problem]) -> Iterator[EvalModel]:
    if not isinstance(item, Mapping):
        note = 'a case is an object with a `prompt`: {"id": 1, "prompt": "…", "assertions": ["…"]}'
        problems.append(_wrong_shape(f"a case is an object, not {type_name(item)}", item.span, note))
        return
    anchor = Span(item.span.start, item.span.start + 1)
    if item.entry("should_trigger") is not None and item.entry("prompt") is None:
        message = "this lists requests for the skill; it belongs in a file `trigger-eval.json`"
        problems.append(_wrong_shape(message, anchor, "a case has a `prompt`, and assertions about the answer"))
        return
    entries, field_problems = read_fields(item, EVAL, _owner("a case", anchor, item, EVAL))
    problems += field_problems
    lists = [
        (entries[name].key.text, entries[name].value) for name in ("assertions", "expectations") if name in entries
    ]
    combined = asserted(lists)
    problems += combined.problems
    files = _files(entries.get("files"), problems)
    prompt = text_of(entries.get("prompt"))
    if prompt is None:
        return
    ident = text_of(entries.get("id"))
    model = EvalModel(
        ident or "",
        text_of(entries.get("name")) or _called(ident or str(at + 1), prompt),
        prompt,
        text_of(entries.get("expected_output")) or "",
        tuple((path, span) for path, _, span in files),
        tuple(combined.assertions),
        tuple(combined.questions),
        combined.run or None,
        entries["id"].value.span if "id" in entries else anchor,
        tuple(place for _, place, _ in files),
        tuple(combined.workspace),
        tuple(combined.beside),
    )
    if not (model.asked or model.assertions or model.run or model.workspace or combined.problems):
        message = "the case expects nothing of the answer: every answer passes"
        note = "`assertions` are sentences for a grader, or records that a rule decides"
        problems.append(Problem("eval-without-assertions", message, model.span, (note,)))
    yield model


def _called(ident: str, prompt: str) -> str:
    return f"{shown(ident)}: {shown(prompt, MAX_PROMPT)}"


def _named_apart(evals: list[EvalModel]) -> Iterator[EvalModel]:
    """Yield the cases under unique names: cases of equal name get their id added."""
    from msgspec.structs import replace

    seen: set[str] = set()
    for at, model in enumerate(evals):
        name = model.name if model.name not in seen else f"{model.name} ({model.id or at + 1})"
        while name in seen:
            name += "'"
        seen.add(name)
        yield replace(model, name=name) if name != model.name else model


def _files(entry: Entry | None, problems: list[Problem]) -> tuple[tuple[str, str, Span], ...]:
    """Return the files of a case: the path below the folder of the skill, the place in a workspace, the span."""
    if entry is None:
        return ()
    if not isinstance(entry.value, Sequence):
        problems.append(_bad_file(f"`files` is a list of paths, not {type_name(entry.value)}", entry.value.span))
        return ()
    return tuple(file for item in entry.value.items for file in _file(item, problems))


def _file(item: Node, problems: list[Problem]) -> Iterator[tuple[str, str, Span]]:
    path: Node | None = item
    place: Node | None = None
    if isinstance(item, Mapping):
        named, placed = item.entry("path"), item.entry("as")
        path, place = (named.value if named else None), (placed.value if placed else None)
    if not isinstance(path, Scalar) or not isinstance(path.value, str) or not path.value.strip():
        problems.append(_bad_file('a file is a path, or {"path": …, "as": …}', item.span))
        return
    laid = place.value if isinstance(place, Scalar) else path.value.removeprefix("./").removeprefix(FILES)
    if place is not None and (not isinstance(laid, str) or not is_inside(laid)):
        problems.append(_bad_file("`as` is a path inside the workspace, with slashes", place.span))
        return
    yield path.value, str(laid), path.span


def _bad_file(message: str, span: Span) -> Problem:
    return Problem("wrong-type", message, span)


def _repeated_ids(model: EvalsModel) -> Iterator[Problem]:
    first: dict[str, Span] = {}
    for case in model.evals:
        if not case.id:
            continue
        earlier = first.setdefault(case.id, case.span)
        if earlier is not case.span:
            message = f"two cases have the id `{shown(case.id)}`"
            yield Problem("repeated-eval", message, case.span, (), (Annotation(earlier, "the first one"),))


def _unjudged(items: Node | None) -> Iterator[Problem]:
    """Name what cases expect and nothing here judges, once for each field."""
    cases = [item for item in items.items if isinstance(item, Mapping)] if isinstance(items, Sequence) else []
    for name, note in UNJUDGED.items():
        entries = [entry for case in cases if (entry := case.entry(name)) is not None and _says_something(entry)]
        if entries:
            often = f"in {len(entries)} cases" if len(entries) > 1 else "in one case"
            message = f"`{name}` is not evaluated here; it is {often}"
            yield Problem("unjudged-expectation", message, entries[0].key.span, (note,))


def _says_something(entry: Entry) -> bool:
    value: Value = to_value(entry.value)
    return value not in (None, "", [], False)


def _about_cases(model: EvalsModel, items: Node | None, entries: dict[str, Entry]) -> Iterator[Problem]:
    require, repeat = model.requirement, model.repeat
    if require.is_rate and repeat is not None and require.k > repeat:
        message = f"`{require.text}` is about {require.k} repeats, and each case has {repeat}"
        span = entries["require"].value.span
        yield Problem("requirement-beyond-repeats", message, span, (f"write `repeat: {require.k}` or more",))
    if isinstance(items, Sequence) and not items.items:
        yield Problem("evals-without-cases", "there is no case", items.span, ("a case has a `prompt`",))


# ---- requests ----


def _triggers(source: SourceText, top: Node, anchor: Span) -> tuple[EvalsModel, Iterator[Problem]]:
    problems: list[Problem] = []
    named: Entry | None = None
    items: Node | None = top
    if isinstance(top, Mapping):
        named = top.entry("skill_name")
        entry = next((list_entry for key in LISTS if (list_entry := top.entry(key)) is not None), None)
        items = entry.value if entry is not None else None
        if entry is None:
            problems.append(_no_requests(top, anchor))
    if items is not None and not isinstance(items, Sequence):
        problems.append(_shapeless("triggers", type_name(items), items.span))
    queries: list[TriggerModel] = []
    for item in items.items if isinstance(items, Sequence) else ():
        if len(problems) > MAX_PROBLEMS:
            break
        queries += _query(item, problems)
    named = named if named is not None and isinstance(named.value, Scalar) else None
    span = named.value.span if named else anchor
    model = EvalsModel(source, "triggers", text_of(named), span, queries=tuple(queries), anchor=anchor)
    if isinstance(items, Sequence) and not items.items:
        problems.append(Problem("evals-without-cases", "there is no request", items.span, ("it has a `query`",)))
    return model, iter([*problems, *_repeated_queries(model)])


def _no_requests(top: Mapping, anchor: Span) -> Problem:
    entry, guess = next(
        ((slip, guess) for slip in islice(top, MAX_SLIPS) if (guess := nearest(slip.key.text, LISTS))), (None, None)
    )
    if entry is None or guess is None:
        return _shapeless("triggers", "an object", anchor)
    message = f"`{shown(entry.key.text)}` is not a list of requests; did you mean `{guess}`?"
    meant = Misspelling(entry.key.text, guess)
    return Problem("unknown-evals-shape", message, entry.key.span, misspelling=meant)


def _query(item: Node, problems: list[Problem]) -> Iterator[TriggerModel]:
    if not isinstance(item, Mapping):
        note = '{"query": "…", "should_trigger": true}'
        problems.append(_wrong_shape(f"a request is an object, not {type_name(item)}", item.span, note))
        return
    anchor = Span(item.span.start, item.span.start + 1)
    entries, field_problems = read_fields(item, QUERY, _owner("a request", anchor, item, QUERY))
    problems += field_problems
    query, should = text_of(entries.get("query")), entries.get("should_trigger")
    if query is None or should is None or not isinstance(should.value, Scalar):
        return
    belongs = text_of(entries.get("expected_skill")) or ""
    yield TriggerModel(query, bool(should.value.value), belongs.strip(), entries["query"].value.span)


def _repeated_queries(model: EvalsModel) -> Iterator[Problem]:
    first: dict[str, TriggerModel] = {}
    for query in model.queries:
        earlier = first.setdefault(" ".join(query.query.split()), query)
        if earlier is not query:
            both = "" if earlier.should_trigger is query.should_trigger else ", once for the skill and once not"
            message = f"the request is listed twice{both}"
            yield Problem("repeated-eval", message, query.span, (), (Annotation(earlier.span, "the first one"),))


# ---- shapes ----


_SHAPES: dict[Holds, str] = {
    "cases": '{"skill_name": "…", "evals": [{"id": 1, "prompt": "…", "assertions": ["…"]}]}',
    "triggers": '[{"query": "…", "should_trigger": true}]',
}


def _shapeless(holds: Holds, actual: str, span: Span) -> Problem:
    what = "the cases of a skill" if holds == "cases" else "requests for a skill"
    return _wrong_shape(f"{what} are a list, found {actual}", span, f"the form is {_SHAPES[holds]}")


def _wrong_shape(message: str, span: Span, note: str) -> Problem:
    return Problem("unknown-evals-shape", message, span, (note,))


def _owner(title: str, anchor: Span, mapping: Mapping, table: tuple[Field, ...]) -> Owner:
    return Owner(title, anchor, other=_kept(mapping, table))


def _kept(mapping: Mapping, table: tuple[Field, ...]) -> Callable[[str], bool]:
    """Return whether a field belongs to another tool: unknown fields are kept, unless they are a typo of an absent
    one."""
    names = {entry.key.text for entry in mapping}
    known = frozenset(name for field in table for name in (field.name, field.also) if name)
    absent = tuple(sorted(known - names - {"models"}))
    unknown = (name for name in names if name not in known)
    slips = {name for name in islice(sorted(unknown), MAX_SLIPS) if _slip(name, absent)}
    return lambda name: name not in slips


@lru_cache(maxsize=2048)
def _slip(name: str, absent: tuple[str, ...]) -> bool:
    return nearest(name, absent) is not None


def _number(entry: Entry | None) -> int | None:
    value: Value = to_value(entry.value) if entry is not None else None
    return value if isinstance(value, int) else None


def _texts(entry: Entry | None) -> tuple[str, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(dict.fromkeys(item.text for item in entry.value.items if isinstance(item, Scalar)))
