"""A model that runs in a process of ours (X35): which one the user means, whether it can run, and the way to ask it.

In: the word of the user, `embedded`, `embedded:NAME` or `gguf:PATH`, and the environment. Out: a provider like any
other, or why there is none and what to do. No document has a say in it, nothing is fetched, and nothing leaves this
machine.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from prosa.adapters.embedded import machine
from prosa.adapters.embedded.engine import Ended, Engine, Plan, bytes_of, engine_of, plan_of
from prosa.adapters.embedded.weights import TABLE, Model, WeightsProblem, in_words, model_in, model_of
from prosa.adapters.files import data_place
from prosa.app.options import EMBEDDED, GGUF, word_name
from prosa.extras import install_line, is_installed
from prosa.runtime.errors import ProviderError
from prosa.settings import ModelSettings
from prosa.source.url import EMBEDDED_SERVICE

if TYPE_CHECKING:
    from prosa.adapters.embedded.engine import Running
    from prosa.adapters.providers.openai import OpenAIProvider
    from prosa.app.options import Environment, Options
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import OnText
    from prosa.settings import Settings

FOLDER = "models"
"""The folder of weights in the user's data folder."""

SEED = 1
"""The seed of every call; that of a repeat is larger by its number."""

OTHER_WAY = "use a server: --model local, or --base-url URL"


def models_folder(environ: Mapping[str, str]) -> Path:
    """Return where weights lie, or will lie. Nothing is made. Raises `OSError` where there is no home."""
    return data_place(environ) / FOLDER


def embedded_model(word: str, environ: Mapping[str, str]) -> Model:
    """Return the model that a word means, with its weights. Raises `WeightsProblem`."""
    if word.startswith(GGUF):
        return model_in(Path(word.removeprefix(GGUF)).expanduser())
    return model_of(word_name(word), models_folder(environ))


def embedded_plan(model: Model, settings: Settings) -> Plan:
    """Return how a model is run; the user may set its window (`models.NAME.context`)."""
    own = settings.models.get(model.name)
    return plan_of(model, own.context if own is not None else None)


def window_of(name: str, options: Options, settings: Settings, environ: Mapping[str, str]) -> ModelSettings:
    """Return what is known of the window of a model, for an estimate; nothing of one that is not here."""
    own = settings.models.get(name, ModelSettings())
    word = (options.model or "") if options.is_embedded else f"{GGUF}{own.file}" if own.file else f"{EMBEDDED}:{name}"
    try:
        return replace(own, context=embedded_plan(embedded_model(word, environ), settings).context)
    except (WeightsProblem, OSError):
        return own


def embedded_words(word: str, environment: Environment) -> str:
    """Return what is known of a model without starting it, for a plan."""
    try:
        model = ready_model(word, environment.environ)
    except ProviderError as error:
        return f"embedded: {error.message} ({error.hint.splitlines()[0]}): a run would fail"
    window = embedded_plan(model, environment.settings).context
    return f"embedded: {model.label}, {window:,} tokens, on this machine, no network; $0"


def ready_model(word: str, environ: Mapping[str, str]) -> Model:
    """Return the model that a word means, where it can run here. Starts nothing. Raises `ProviderError`."""
    if (wrong := engine_fault()) is not None:
        raise wrong
    try:
        model = embedded_model(word, environ)
    except WeightsProblem as problem:
        raise _error(problem.message, problem.hint or OTHER_WAY) from None
    except OSError as error:
        raise _error(f"the folder of models cannot be used: {error}", "set PROSA_DATA_DIR") from None
    left, needed = machine.memory_left(), bytes_of(model)
    if left is not None and needed > left:
        message = f"{model.name} needs about {in_words(needed)} of memory, and {in_words(left)} are free"
        raise _error(message, f"close other programs, or take a smaller model; {OTHER_WAY}")
    return model


def engine_fault() -> ProviderError | None:
    """Return why the engine cannot run here, as far as it shows without starting it."""
    version = machine.engine_version() if is_installed(EMBEDDED) else None
    if version is None or version < machine.OLDEST:
        if system := machine.system_without_engine():
            return _error(f"{machine.NO_ENGINE} ({system})", OTHER_WAY)
        message = "embedded needs the engine (34 MB), which is not installed"
        return _error(message, f"{install_line(EMBEDDED)} (docs/install.md); {OTHER_WAY}")
    return _error(machine.NO_AVX2, OTHER_WAY) if machine.lacks_avx2() else None


class EmbeddedProvider:
    """The engine behind the port `Provider`. It is started at the first question and shared with everybody in this
    process who asks for the same model; where it dies over an answer it is started once more."""

    def __init__(self, engine: Engine, notice: Callable[[str], None], *, completion: bool) -> None:
        self._engine = engine
        self._without_tools = partial(say_no_tools, engine.model.name, notice)
        self._completion = completion
        self._asked: list[tuple[Running, OpenAIProvider]] = []
        self._is_open = True
        self.service = f"{EMBEDDED_SERVICE}{engine.model.name}"
        engine.hold()

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Return one attempt, or two where the engine dies. Raises `ProviderError`."""
        for again in (False, True):
            running = await self._running()
            try:
                reply = await self._provider(running).complete(self._sampled(request), on_text)
                return replace(reply, model_name=self._engine.model.name, service=self.service)
            except ProviderError as error:
                ended = self._engine.ended(running) if error.kind == "network" else None
                if ended is None:
                    raise self._in_words(error, running) from None
                if again:
                    raise self._ended(ended) from None
        raise AssertionError

    async def start(self) -> None:
        """Have the engine ready. Raises `ProviderError`."""
        await self._running()

    async def aclose(self) -> None:
        """Release the engine and the connections to it. Safe to call twice."""
        asked, self._asked = self._asked, []
        for _, provider in asked:
            await provider.aclose()
        if self._is_open:
            self._is_open = False
            self._engine.release()

    async def _running(self) -> Running:
        try:
            return await self._engine.running()
        except Ended as ended:
            raise self._ended(ended) from None
        except OSError as error:
            raise _error(f"the engine cannot be started: {error}", OTHER_WAY) from None

    def _provider(self, running: Running) -> OpenAIProvider:
        if not self._asked or self._asked[-1][0] is not running:
            from prosa.adapters.providers.openai import OpenAIProvider
            from prosa.adapters.providers.request_shape import OLD_LIMIT, RequestShape
            from prosa.adapters.providers.table import LOCAL_OUTPUT

            first = RequestShape(output="grammar", limits=(OLD_LIMIT,), apart=running.takes_tools)
            api: Literal["chat", "completions"] = "completions" if self._completion else "chat"
            made = OpenAIProvider(
                api_key=running.key,
                base_url=running.base_url,
                api=api,
                first=first,
                bound=LOCAL_OUTPUT,
                without_tools=None if running.takes_tools else self._without_tools,
            )
            self._asked.append((running, made))
        return self._asked[-1][1]

    @staticmethod
    def _sampled(request: ModelRequest) -> ModelRequest:
        """Return the request with the chance that a repeat has; without one it is the same every time. It is not
        recorded."""
        sampling = {"seed": SEED} if request.sample is not None else {"temperature": 0, "seed": SEED}
        if request.sample is not None:
            sampling["seed"] += request.sample
        return replace(request, parameters={**sampling, **request.parameters})

    def _in_words(self, error: ProviderError, running: Running) -> ProviderError:
        """Return the error with the name of the model in place of an address that says nothing."""
        where = f"the model service at {running.base_url}"
        error.message = error.message.replace(where, f"the embedded model {self._engine.model.name}")
        error.args = (error.message,)
        return error

    def _ended(self, ended: Ended) -> ProviderError:
        """Return why the engine is gone."""
        model = self._engine.model
        if ended.status is None and not ended.words:
            return _error("the engine did not start in time", OTHER_WAY)
        if ended.status == -getattr(signal, "SIGILL", 4):
            return _error(machine.NO_AVX2, OTHER_WAY)
        if ended.status in (-9, 137):
            message = (
                f"the engine was ended by the system, probably for memory: it needs about {in_words(bytes_of(model))}"
            )
            return _error(message, f"close other programs, or take a smaller model; {OTHER_WAY}")
        detail = f": {ended.words[:300]}" if ended.words else ""
        if ended.status == 1:
            return _error(
                f"the engine cannot load {model.path.name}{detail}", f"is it a model for llama.cpp? {OTHER_WAY}"
            )
        return _error(f"the engine ended with status {ended.status}{detail}", OTHER_WAY)


def say_no_tools(name: str, notice: Callable[[str], None], tools: Sequence[str]) -> None:
    """Say which tools a model is not offered, because it takes none."""
    notice(f"note: {name} takes no tools, so it is not offered {', '.join(tools)}")


async def open_embedded(word: str, environment: Environment, *, completion: bool = False) -> EmbeddedProvider:
    """Return the provider for a word of the user's. Raises `ProviderError` where the model cannot run here."""
    model = await asyncio.to_thread(ready_model, word, environment.environ)
    engine = engine_of(model, embedded_plan(model, environment.settings), environment.environ)
    return EmbeddedProvider(engine, environment.notice, completion=completion)


def _error(message: str, hint: str) -> ProviderError:
    return ProviderError(message, kind="missing", retryable=False, hint=hint)


class EmbeddedModel(Struct, frozen=True):
    """A known model for people: ``is_here`` says that its weights are, ``note`` what is wrong, the engine included."""

    name: str
    size: int
    parameters: int
    context: int
    licence: str
    about: str
    is_here: bool
    note: str = ""


def embedded_models(environ: Mapping[str, str]) -> tuple[EmbeddedModel, ...]:
    """Return every known model, and whether it can be asked."""
    from prosa.adapters.embedded.weights import CONTEXT, fault_of

    wrong, models = engine_fault(), []
    for row in TABLE:
        fault = fault_of(row, models_folder(environ) / row.file)
        notes = [f"{problem.message}: {problem.hint}" for problem in (fault, wrong) if problem is not None]
        about = row.size, row.parameters, CONTEXT, row.licence, row.about
        models.append(EmbeddedModel(row.name, *about, is_here=fault is None, note="; ".join(notes)))
    return tuple(models)
