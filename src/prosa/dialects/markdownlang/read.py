"""Read a program: `SourceText` in, `ProgramModel` and problems out. Never fails, opens nothing, runs nothing.

Reported here is what one document shows by itself: front matter, field shapes, schemas, template syntax, limits. What
needs other files, or weighs one part against another, is found by rules.
"""

from __future__ import annotations

from pathlib import PurePath

from prosa.data import Entry, Mapping, Scalar, Sequence, to_value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.fields import Field, Owner, read_fields, text_of
from prosa.dialects.front import FrontReading, read_front
from prosa.dialects.markdownlang.describe import describe
from prosa.dialects.markdownlang.fields import LIMITS, PROGRAM, PYTHON
from prosa.dialects.markdownlang.limits import read_limits
from prosa.dialects.markdownlang.model import ImportRef, ProgramModel, SchemaModel
from prosa.dialects.markdownlang.servers import read_servers
from prosa.dialects.markdownlang.sites import FIELD, as_list, read_sites
from prosa.dialects.markdownlang.user_settings import user_setting
from prosa.schema import check_schema_shape
from prosa.source import SourceText, Span
from prosa.template import Template, TemplateError, template_problems


def read(source: SourceText, front: FrontReading | None = None) -> tuple[ProgramModel, tuple[Problem, ...]]:
    """The program in ``source`` and everything that is wrong with the text of it. ``front`` saves reading it twice."""
    front = front or read_front(source)
    entries, problems = _top_fields(front)
    limits, limit_problems = read_limits(_limit_entries(entries, problems))
    servers, server_problems = read_servers(entries.get("mcp_servers"))
    sites, site_problems = read_sites(entries.get(FIELD))
    template, template_problems = _template(source, front.body)
    name = text_of(entries.get("name")) or PurePath(source.path).stem
    description = text_of(entries.get("description"))
    model = ProgramModel(
        source=source,
        fields=front.fields,
        anchor=front.anchor,
        name=name,
        description=description or describe(source, front.body, template, name),
        derived_description=not description,
        model_name=text_of(entries.get("model")),
        input=_schema(entries.get("input"), problems),
        output=_schema(entries.get("output"), problems),
        imports=_imports(entries.get("imports")),
        mcp_servers=servers,
        mdh=sites,
        limits=limits,
        body=source.slice(front.body),
        body_offset=front.body.start,
        template=template,
        spans={field: entry.value.span for field, entry in entries.items()},
    )
    return model, (*front.problems, *problems, *limit_problems, *server_problems, *site_problems, *template_problems)


def _top_fields(front: FrontReading) -> tuple[dict[str, Entry], list[Problem]]:
    """The well-formed top-level fields. A front matter that cannot be read has been reported already."""
    if front.fields is None:
        missing = () if front.present else (_no_front_matter(front.anchor),)
        return {}, list(missing)
    fields, tolerated = as_list(front.fields)
    entries, problems = read_fields(
        fields,
        PROGRAM,
        Owner("a program", front.anchor, unknown=Severity.INFO, other=_is_user_setting, complete=front.complete),
    )
    return entries, [*tolerated, *problems]


def _is_user_setting(name: str) -> bool:
    return user_setting(name) is not None


def _no_front_matter(anchor: Span) -> Problem:
    message = "a program begins with front matter between `---` lines, and this document has none"
    return Problem("missing-front-matter", message, anchor, ("it needs at least `name`, `input` and `output`",))


def _limit_entries(entries: dict[str, Entry], problems: list[Problem]) -> dict[str, Entry]:
    """The entries of `python` and `limits`, keyed by both names."""
    found: dict[str, Entry] = {}
    tables: tuple[tuple[str, tuple[Field, ...]], ...] = (("python", PYTHON), ("limits", LIMITS))
    for name, table in tables:
        entry = entries.get(name)
        if entry is not None and isinstance(entry.value, Mapping):
            inner, wrong = read_fields(entry.value, table, Owner(f"`{name}`", entry.key.span, f"{name}."))
            found |= {f"{name}.{key}": value for key, value in inner.items()}
            problems += wrong
    return found


def _schema(entry: Entry | None, problems: list[Problem]) -> SchemaModel | None:
    if entry is None:
        return None
    problems += check_schema_shape(entry.value)
    return SchemaModel(entry.value, to_value(entry.value))


def _imports(entry: Entry | None) -> tuple[ImportRef, ...]:
    if entry is None or not isinstance(entry.value, Sequence):
        return ()
    return tuple(ImportRef(item.text, item.span) for item in entry.value.items if isinstance(item, Scalar))


def _template(source: SourceText, body: Span) -> tuple[Template | None, tuple[Problem, ...]]:
    text = source.slice(body)
    try:
        return Template(text), ()
    except TemplateError:
        return None, tuple(_template_problem(error, body) for error in template_problems(text))


def _template_problem(error: TemplateError, body: Span) -> Problem:
    start = min(body.start + error.offset, body.end)
    return Problem("template-syntax", error.message, Span(start, min(start + max(len(error.fragment), 1), body.end)))
