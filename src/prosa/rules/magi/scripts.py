"""The ai-script blocks of MAGI documents, and the results that runs have written for them (X19)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prosa.diagnostics import Annotation, Applicability, Fix, Misspelling, Severity
from prosa.diagnostics.nearest import nearest
from prosa.dialects.fields import shown
from prosa.dialects.magi.choosing import statuses
from prosa.dialects.magi.fields import INTERACTIVE_TYPES, OUTPUT_FORMATS, PRIORITIES
from prosa.dialects.magi.model import MagiModel, Script
from prosa.dialects.magi.regions import Region, inside
from prosa.dialects.magi.result_text import is_edited, owners_of
from prosa.dialects.magi.results import removal
from prosa.dialects.magi.scripts import LANGUAGE
from prosa.rules.magi import RULES
from prosa.rules.rule import Finding, Subject
from prosa.source import Edit, SourceText, Span

REPORTED = (
    RULES.reported("MG020", "script-syntax", Severity.ERROR),
    RULES.reported("MG021", "comment-in-script", Severity.WARNING, strict=Severity.ERROR),
    RULES.reported("MG022", "trailing-comma-in-script", Severity.WARNING, strict=Severity.ERROR),
)
"""What readers report by name."""


_LONGEST_WORD = 16


@RULES.document("MG030", "misspelt-script-fence", Severity.WARNING)
def misspelt_script_fence(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a fence whose language is a typo of `ai-script`, so that it does not count (M23, M40). The finding points
    at the word. In a written result such an escape is intended (X19)."""
    model = subject.model
    within = inside(model.regions)
    for fence in model.document.fences:
        word = fence.language
        if within(fence.span.start):
            continue
        if word == LANGUAGE or len(word) > _LONGEST_WORD or _letters(word) != _letters(LANGUAGE):
            continue
        start = model.source.text.find(word, fence.span.start + len(fence.open_fence), fence.span.end)
        if start < 0:
            continue
        span = Span(start, start + len(word))
        fix = Fix(f"write `{LANGUAGE}`", (Edit(span, LANGUAGE),), Applicability.UNSAFE)
        message = f"`{word}` is not `{LANGUAGE}`: this block is an example, not an instruction"
        yield Finding(message, span, fix=fix)


def _letters(word: str) -> str:
    return "".join(character for character in word.lower() if character.isalpha())


@RULES.document("MG029", "unclosed-script", Severity.WARNING, strict=Severity.ERROR)
def unclosed_script(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find an ai-script block whose fence is never closed, so that it takes everything after it (M23). The finding
    points at the opening fence."""
    model = subject.model
    for script in model.scripts:
        if not script.fence.closed:
            message = "this ai-script block is never closed: everything after it counts as part of it"
            notes = (f"close it with a line `{script.fence.open_fence[:20]}`",)
            yield Finding(message, script.opening, notes, fix=_closed(model.source, script))


def _closed(source: SourceText, script: Script) -> Fix | None:
    """Close it behind the object, where that is all it took."""
    if script.node is None:
        return None
    span = script.fence.span
    end = span.start + len(source.slice(span).rstrip())
    line_start = source.lines.starts[source.position(span.start).line - 1]
    marks = re.sub(r"[^>\s]", " ", source.text[line_start : span.start])
    line_end = "\r\n" if "\r\n" in source.text[line_start:end] else "\n"
    return Fix("close the fence", (Edit(Span(end, end), f"{line_end}{marks}{script.fence.open_fence}"),))


@RULES.document("MG023", "duplicate-script-id", Severity.WARNING, strict=Severity.ERROR)
def duplicate_script_id(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find two ai-script blocks of one id (M24, MA9). The finding points at the id of every block but the first."""
    model = subject.model
    first: dict[str, Script] = {}
    for script in model.scripts:
        name = script.script_id
        if not name or first.setdefault(name, script) is script:
            continue
        message = f"there is another ai-script block `{shown(name)}`"
        notes = (f"this one is addressed as `{shown(script.address)}`; give it an id of its own",)
        annotation = Annotation(first[name].span("script-id"), "the first one")
        yield Finding(message, script.span("script-id"), notes, (annotation,))


_KNOWN_VALUES: tuple[tuple[str, tuple[str, ...], str, Severity | None], ...] = (
    ("priority", PRIORITIES, "the block comes after all others", None),
    ("output-format", OUTPUT_FORMATS, "the answer is taken as text", Severity.INFO),
    ("interactive-type", INTERACTIVE_TYPES, "nothing is drawn for it", Severity.INFO),
)


@RULES.document("MG024", "unfamiliar-script-value", Severity.WARNING)
def unfamiliar_script_value(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find an unknown priority, format or interactive type (M26, M34, M37, MA13). The finding points at the value.
    Formats and types are open sets, so an unknown one is information only."""
    model = subject.model
    for script in model.scripts:
        for name, known, effect, severity in _KNOWN_VALUES:
            value = script.fields.text(name)
            if value is None or value in known:
                continue
            guess = nearest(value, known)
            known_values = ", ".join(f"`{choice}`" for choice in known)
            notes = (f"did you mean `{guess}`?" if guess else f"known are {known_values}",)
            message = f"`{shown(value)}` is not a known `{name}`: {effect}"
            span, meant = script.span(name), Misspelling(value, guess) if guess else None
            yield Finding(message, span, notes, severity=severity, misspelling=meant)


@RULES.document("MG025", "output-format-conflict", Severity.WARNING)
def output_format_conflict(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find an output format other than JSON beside a schema, which describes JSON (M34, M35, MA14). The finding points
    at the output format: the schema wins."""
    model = subject.model
    for script in model.scripts:
        written = script.fields.text("output-format")
        if written is None or written == "json" or "output-schema" not in script.fields:
            continue
        span = script.span("output-format")
        fix = Fix('write `"json"`', (Edit(span, '"json"'),), Applicability.UNSAFE)
        message = f"`output-format` is `{shown(written)}`, but an answer with an `output-schema` is always JSON"
        annotation = Annotation(script.fields.entries["output-schema"].key.span, "the schema, which wins")
        yield Finding(message, span, annotations=(annotation,), fix=fix)


@RULES.document("MG026", "ignored-stream", Severity.INFO)
def ignored_stream(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find `stream` beside a schema: an answer that a schema describes is checked as a whole and never streamed (M36,
    MA14). The finding points at `stream`."""
    model = subject.model
    for script in model.scripts:
        if script.fields.flag("stream") and "output-schema" in script.fields:
            message = "`stream` has no effect beside an `output-schema`: the answer is checked before it is shown"
            yield Finding(message, script.span("stream"))


_INTERACTIVE_FIELDS = ("interactive-type", "interactive-label", "interactive-placeholder")


@RULES.document("MG027", "ignored-interactive-field", Severity.INFO)
def ignored_interactive_field(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a button or field for a block that runs by itself (M37–M39, MA15). The finding points at the first such
    field of a block."""
    model = subject.model
    for script in model.scripts:
        name = next((name for name in _INTERACTIVE_FIELDS if name in script.fields), None)
        if script.auto_run and name is not None:
            message = f"`{name}` has no effect in a block with `auto-run`"
            annotation = Annotation(script.span("auto-run"), "runs without being asked")
            yield Finding(message, script.span(name), annotations=(annotation,))


@RULES.document("MG028", "orphan-interactive-field", Severity.WARNING)
def orphan_interactive_field(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a label without a type, or a placeholder without an input field (M38, M39, MA15). The finding points at the
    label or placeholder. If `auto-run` disables all of them, another rule reports it."""
    model = subject.model
    for script in model.scripts:
        if script.auto_run:
            continue
        if "interactive-label" in script.fields and "interactive-type" not in script.fields:
            message = "`interactive-label` has no effect without `interactive-type`"
            notes = ("add `interactive-type`: `button` or `inputbox`",)
            yield Finding(message, script.span("interactive-label"), notes)
        if "interactive-placeholder" in script.fields and script.fields.text("interactive-type") != "inputbox":
            message = "`interactive-placeholder` has no effect without the `interactive-type` `inputbox`"
            yield Finding(message, script.span("interactive-placeholder"))


# Results that runs have written into a document (X19).


@RULES.document("MG031", "stray-region-marker", Severity.WARNING)
def stray_region_marker(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a comment that starts or ends a written result, without its partner (X19). The finding points at the
    comment: the text around it is read as the author's own."""
    model = subject.model
    for span in model.stray_markers:
        message = "this marker of a written result belongs to no result"
        notes = ("a result is between `<!-- ai-result {…} -->` and `<!-- /ai-result -->`",)
        yield Finding(message, span, notes)


@RULES.document("MG032", "stale-result", Severity.WARNING)
def stale_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result whose script or context has changed since it was made (X19). The finding points at the
    first marker of the result."""
    model = subject.model
    if not model.regions:
        return
    for script, status in statuses(model, owners_of(model)):
        if not status.stale:
            continue
        force = " --force" if status.edited else ""
        message = f"the result of `{shown(script.address)}` is stale: what it was made from has changed"
        notes = [f"run `prosa run FILE --stale{force}` to make it anew"]
        if status.edited:
            notes.append("it was edited by hand too; `--force` replaces what was written by hand")
        annotation = Annotation(script.opening, "the block that asks for it")
        yield Finding(message, status.region.opening, tuple(notes), (annotation,))


@RULES.document("MG033", "edited-result", Severity.INFO)
def edited_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result that was changed by hand, so that no run replaces it (X19). The finding points at the first
    marker of the result."""
    model = subject.model
    for script, region in owners_of(model).pairs:
        if not is_edited(model, region):
            continue
        is_recorded = region.about.written is not None
        why = (
            "was edited by hand"
            if is_recorded
            else "may have been edited by hand: its marker does not say what was written"
        )
        notes = ("no run replaces it but one with `--force`",)
        yield Finding(f"the result of `{shown(script.address)}` {why}", region.opening, notes)


@RULES.document("MG034", "orphan-result", Severity.WARNING)
def orphan_result(subject: Subject[MagiModel]) -> Iterator[Finding]:
    """Find a written result without its script, or below another result of the script (X19). The finding points at the
    first marker of the result."""
    model = subject.model
    owners = owners_of(model)
    for region in owners.orphans:
        message = f"no ai-script block has the id `{shown(region.script_id)}` of this result"
        yield _orphan(model, region, message, "give it the id of its block, or remove it")
    for region in owners.spare:
        message = f"`{shown(region.script_id)}` has another result above this one"
        yield _orphan(model, region, message, "a run refreshes the first one only: remove one of them")


def _orphan(model: MagiModel, region: Region, message: str, note: str) -> Finding:
    fix = Fix("remove the result", (removal(model, region),), Applicability.UNSAFE)
    return Finding(message, region.opening, (note,), fix=fix)
