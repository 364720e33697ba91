"""Context files as a dialect: references, facts. Their text is never reformatted: hosts read it as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from prosa.dialects.context.model import ContextModel, Figured, Import, Named, NamedCommand, Tool
from prosa.dialects.context.read import read
from prosa.dialects.dialect import Dialect
from prosa.dialects.front import FrontReading
from prosa.dialects.plain import definitions as plain_definitions
from prosa.document import Def, Ref, link_references
from prosa.source import Span

if TYPE_CHECKING:
    from typing import TypeAlias, TypedDict

    from prosa.dialects.facts import ContextFacts

    Placed: TypeAlias = tuple[str, int, int]

    class CorpusFacts(TypedDict, total=False):
        """What rules compare with the files of the project. A place is where it starts and ends."""

        name: Placed | None
        imports: Sequence[tuple[str, int, int, bool]]
        skills: Sequence[Placed]
        agents: Sequence[Placed]
        globs: Sequence[Placed]
        mentioned: Sequence[Placed]
        commands: Sequence[tuple[Tool, str, int, int]]
        figures: Sequence[tuple[str, Sequence[str], int, int]]


__all__ = ["DIALECT", "ContextModel", "Import", "Named", "NamedCommand"]


def facts(model: ContextModel) -> ContextFacts:
    """Return the keys of a context file."""
    line = model.document.source.lines.line
    return {
        "dialect": "context",
        "hosts": [
            {"host": use.host.name, "kind": use.place.kind, "loaded": use.place.when, "source": use.place.source}
            for use in model.uses
        ],
        "imports": [{"path": entry.target, "line": line(entry.span.start)} for entry in model.imports if entry.clear],
        "skills": [skill.text for skill in model.skills],
        "globs": [glob.text for glob in model.globs],
    }


def corpus_facts(model: ContextModel) -> Mapping[str, object]:
    """Return what rules compare with the files of the project."""
    name = model.fields.entry("name") if model.fields is not None and not model.path.endswith(".json") else None
    all_facts: CorpusFacts = {
        "name": (name.value.span.of(model.document.source.text).strip("'\""), *_place(name.value.span))
        if name
        else None,
        "imports": [(entry.target, *_place(entry.span), entry.clear) for entry in model.imports],
        "skills": _named(model.skills),
        "agents": _named(model.agents),
        "globs": _named(model.globs),
        "mentioned": _named(model.mentioned),
        "commands": [(command.tool, command.name, *_place(command.span)) for command in model.commands],
        "figures": [_figured(figure) for figure in model.figures],
    }
    return {key: value for key, value in all_facts.items() if value}


def _place(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _named(names: tuple[Named, ...]) -> list[Placed]:
    return [(name.text, *_place(name.span)) for name in names]


def _figured(figured: Figured) -> tuple[str, list[str], int, int]:
    return (figured.words, list(figured.numbers), *_place(figured.span))


def references(model: ContextModel) -> tuple[Ref, ...]:
    """Return links and wikilinks, the files that it imports, and the skills that it names."""
    imported = (Ref("import", entry.target, "path", entry.span) for entry in model.imports if entry.clear)
    skills = (Ref("front-matter", skill.text, "stem", skill.span, rel="skill") for skill in model.skills)
    return tuple(sorted((*link_references(model.document), *imported, *skills), key=lambda ref: ref.span.start))


def definitions(model: ContextModel) -> tuple[Def, ...]:
    """Return the title and the aliases."""
    return plain_definitions(model.markdown)


def _markdown(front: FrontReading) -> Span:
    return Span(front.body.end, front.body.end) if front.source.path.endswith(".json") else front.body


DIALECT: Dialect[ContextModel] = Dialect(
    name="context",
    read=read,
    references=references,
    definitions=definitions,
    facts=facts,
    corpus_facts=corpus_facts,
    markdown=_markdown,
)
