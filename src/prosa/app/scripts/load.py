"""The ai-scripts of a document: loaded, prepared, run (M23–M36, M41, MA9–MA15). The selection is made elsewhere.

In: a path and the user's options. Out: scripts with their problems; jobs; an outcome for each job. Every script is a
separate run on the one loop; they only share providers and the numbers of the events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import RootedFiles
from prosa.adapters.providers.table import mapped, provider_row
from prosa.app.options import DEFAULT_MODEL, Environment, Options, limits_in, say_nothing
from prosa.app.run.routes import known_row
from prosa.app.run.service import row_of_model, service_words
from prosa.app.runs import Job
from prosa.app.settings import size_limit
from prosa.corpus.embedding import looks_classified
from prosa.data import Value
from prosa.diagnostics import Problem, Severity
from prosa.dialects.front import read_front
from prosa.dialects.magi import read
from prosa.dialects.magi.choosing import context_of
from prosa.dialects.magi.envelope import read_external
from prosa.document import parse
from prosa.rules.policy import Policy, diagnosed
from prosa.runtime.errors import RunError
from prosa.runtime.limits import Limits
from prosa.runtime.lower.magi import Granted, given, lower
from prosa.runtime.output import contract_of
from prosa.runtime.parameters import require_allowed
from prosa.schema import SchemaError

if TYPE_CHECKING:
    from prosa.adapters.providers.table import Mapped, ProviderRow
    from prosa.diagnostics import Diagnostic
    from prosa.dialects.magi import MagiModel, Script
    from prosa.dialects.magi.choosing import ContextMode, Visible
    from prosa.runtime.program import OutputForm, Program
    from prosa.settings import Settings
    from prosa.source import SourceText

TOOLS = ("python",)
"""Tools that a user may grant to scripts (X15)."""


class ScriptFile(Struct, frozen=True):
    """A document and its scripts in document order. ``errors`` are by address what keeps a script from running.

    ``beside`` is the file of instructions that came beside the document (M41); its scripts then are the only ones.
    ``unplaced`` are errors of that file that belong to no script.
    """

    path: Path
    model: MagiModel
    scripts: tuple[Script, ...]
    errors: Mapping[str, tuple[Diagnostic, ...]] = field(default_factory=dict)
    beside: SourceText | None = None
    unplaced: tuple[Diagnostic, ...] = ()

    @property
    def source(self) -> SourceText:
        """The document as it was read."""
        return self.model.source

    @property
    def trusted_source(self) -> SourceText:
        """The file whose author decides about automatic runs."""
        return self.beside or self.source


class ScriptJob(Job, frozen=True, kw_only=True):
    """A script ready to run, under its address. ``parameters`` are as sent and as written (MA10); ``service`` says in
    words who answers."""

    script: Script
    parameters: Mapped
    mode: ContextMode
    service: str

    @property
    def form(self) -> OutputForm:
        """The form of the result (M34)."""
        return self.program.form


def load_scripts(
    document: Path | SourceText,
    options: Options,
    settings: Settings,
    beside: Path | SourceText | None = None,
    *,
    within: Path | None = None,
) -> ScriptFile:
    """Read a document as MAGI, and the instructions ``beside`` it if there are any; a text is used directly.
    ``within`` limits the opened files to a folder if the user did not name the document.

    Raises `FileProblem`, and `RunError` for an invalid file of instructions.
    """
    files = RootedFiles(within, max_size=size_limit(options.max_size, settings))
    source = files.read(document) if isinstance(document, Path) else document
    if isinstance(beside, Path):
        beside = RootedFiles(max_size=files.max_size).read(beside)
    return scripts_of(Path(source.path), source, beside)


def scripts_of(path: Path, source: SourceText, beside: SourceText | None = None) -> ScriptFile:
    """Return the scripts of a document that was read, or those that came beside it."""
    front = read_front(source)
    model, problems = read(front, parse(source, body=front.body))
    scripts = model.scripts
    if beside is not None:
        scripts, problems = read_external(beside)
    errors, unplaced = _errors(scripts, problems, beside or source)
    if beside is not None and not scripts:
        first = f"{unplaced[0].start.line}: {unplaced[0].message}" if unplaced else "1: it holds no script"
        raise RunError(f"{beside.path}:{first}", hint='as in: [{"id": "summary", "prompt": "Summarise the document."}]')
    return ScriptFile(path, model, scripts, errors, beside, unplaced)


def _errors(
    scripts: Sequence[Script], problems: Sequence[Problem], source: SourceText
) -> tuple[dict[str, tuple[Diagnostic, ...]], tuple[Diagnostic, ...]]:
    """Return the errors by the script they lie in, and those that lie in none."""
    from bisect import bisect_right

    placed: dict[str, tuple[Diagnostic, ...]] = {}
    unplaced: list[Diagnostic] = []
    starts = [script.fence.span.start for script in scripts]
    for problem in problems:
        diagnostics = [
            diagnostic
            for diagnostic in diagnosed((problem,), source, Policy())
            if diagnostic.severity is Severity.ERROR
        ]
        index = bisect_right(starts, problem.span.start) - 1
        if index >= 0 and problem.span.start < scripts[index].fence.span.end:
            address = scripts[index].address
            placed[address] = (*placed.get(address, ()), *diagnostics)
        else:
            unplaced += diagnostics
    return {address: here for address, here in placed.items() if here}, tuple(unplaced)


class Preparing(Struct, frozen=True):
    """The shared data of all scripts of one run. ``tools`` are granted by the user; ``seen`` is made once.

    ``mode`` is the context that is sent, ``modes`` exceptions by address. ``replaced`` is true if the caller passes a
    provider, which overrides flags and blocks.
    """

    file: ScriptFile
    options: Options
    environment: Environment
    mode: ContextMode = "document"
    tools: tuple[str, ...] = ()
    seen: Visible | None = None
    replaced: bool = False
    modes: Mapping[str, ContextMode] = field(default_factory=dict)

    def ready(self, script: Script, text: str | None = None) -> ScriptJob:
        """Return the job of a script. Raises `RunError` for a provider, a model or a parameter that cannot be."""
        row = self.row_of(self.options.provider or script.fields.text("provider"))
        model_name = self._model_name(script, row)
        if not self._answers_all:
            row = row_of_model(model_name, self.options, self.environment.settings, row)
        parameters = mapped(_parameters(script), row, self._api())
        require_sensible(script, parameters)
        limits = replace(Limits(), **(limits_in(self.environment.settings) | limits_in(self.options)))
        classified = looks_classified(self.file.model.source.text)
        granted = Granted(model_name, parameters.sent, limits, "python" in self.tools, classified)
        program = lower(script, granted)
        _require_schema(program)
        own = None if self.file.beside is not None else script
        mode = self.modes.get(script.address, self.mode)
        context = context_of(self.file.model, own, mode, seen=self.seen)
        stream = self.options.stream or script.stream
        words = service_words(self.options, replace(self.environment, notice=say_nothing), row)
        return ScriptJob(
            program.name,
            program,
            given(script, context, text or ""),
            row,
            stream,
            document=self.file.path,
            script=script,
            parameters=parameters,
            mode=mode,
            service=words,
        )

    def _api(self) -> Literal["chat", "responses"]:
        return self.options.api or self.environment.settings.api or "chat"

    def row_of(self, name: str | None) -> ProviderRow | None:
        """Return the provider in a flag or a block (M28); None for the user's default. Raises `RunError` for an
        unknown one."""
        if name is None or not name.strip():
            return None
        if self._answers_all or self.options.base_url is not None:
            return provider_row(name, self.environment.settings.providers)
        return known_row(name, self.environment.settings)

    @property
    def _answers_all(self) -> bool:
        """Whether one provider answers every script, whatever they name."""
        return self.replaced or self.options.script is not None or self.options.is_here

    def _model_name(self, script: Script, row: ProviderRow | None) -> str:
        """Return the model: the user's flag, the block (M29), the settings. Only `openai` has one for blocks
        without."""
        settings, options = self.environment.settings, self.options
        named = options.model_name or script.fields.text("model-name") or options.default_model
        named = named or (settings.model_name if row is None or row.name == "openai" else None)
        anything = row is None or row.name in ("openai", "local", "embedded") or self._answers_all
        if not named and not anything and row is not None:
            hint = "write `model-name` in the block, or give --model NAME"
            raise RunError(f"no model is named for the provider `{row.name}`", hint=hint)
        return named or DEFAULT_MODEL


def require_sensible(script: Script, parameters: Mapped) -> None:
    """Raise `RunError` for parameters that change the request itself (X7), or of which two mean the same."""
    require_allowed(_parameters(script))
    require_allowed(parameters.sent)
    for name in parameters.double:
        raise RunError(f"the parameter `{name[:64]}` repeats another one", hint="write one of them")


def _require_schema(program: Program) -> None:
    try:
        contract_of(program)
    except SchemaError as error:
        raise RunError(f"`output-schema` is not a JSON Schema: {error}") from None


def _parameters(script: Script) -> dict[str, Value]:
    value = script.fields.value("parameters")
    return value if isinstance(value, dict) else {}
