"""Field names in another case than the kebab-case of MAGI: `doc_id`, `docId`, `Title` (MA21).

In: a mapping and the table of its fields. Out: the same mapping with the known names put right, so that nothing that
was meant is lost, and a problem for each.
"""

from __future__ import annotations

from prosa.data import Entry, Mapping, Scalar
from prosa.diagnostics import Applicability, Fix, Problem
from prosa.dialects.fields import Field, shown
from prosa.source import Edit, SourceText


def squashed(name: str) -> str:
    """A name without case, hyphens and underscores: what `doc-id`, `doc_id`, `docId` and `DOC-ID` share."""
    return name.lower().replace("-", "").replace("_", "")


def in_kebab_case(
    mapping: Mapping, table: tuple[Field, ...], source: SourceText
) -> tuple[Mapping, tuple[Problem, ...]]:
    """``mapping`` under the names of ``table``. A name that is also there in its proper form is left out; of several
    other forms the first one counts."""
    known = {squashed(field.name): field.name for field in table}
    taken = {entry.key.text for entry in mapping}
    entries: list[Entry] = []
    problems: list[Problem] = []
    for entry in mapping:
        name = known.get(squashed(entry.key.text), entry.key.text)
        if name == entry.key.text:
            entries.append(entry)
            continue
        problems.append(_problem(entry, name, source, free=name not in taken))
        if name not in taken:
            taken.add(name)
            entries.append(Entry(Scalar(name, name, entry.key.span, entry.key.style), entry.value))
    return Mapping(tuple(entries), mapping.span), tuple(problems)


def _problem(entry: Entry, name: str, source: SourceText, *, free: bool) -> Problem:
    written = shown(entry.key.text)
    if not free:
        notes = (f"`{name}` is there too, and that one counts: remove this one",)
        return Problem("field-name-case", f"`{written}` is another form of `{name}`", entry.key.span, notes)
    first = source.text[entry.key.span.start : entry.key.span.start + 1]
    quote = first if first in ("'", '"') else ""
    edit = Edit(entry.key.span, f"{quote}{name}{quote}")
    fix = Fix(f"write `{name}`", (edit,), Applicability.UNSAFE)
    message = f"`{written}` is read as `{name}`: field names are in kebab-case"
    return Problem("field-name-case", message, entry.key.span, (f"write `{name}`",), fix=fix)
