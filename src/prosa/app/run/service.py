"""Who answers: a script, a local server or a service, as the user chose, and which key goes there (X7, X16, X17).

In: choices, environment and settings, and for an ai-script the row of the provider that it names. Out: a provider, or
the ways on. Beyond that name no document has a say in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from prosa.adapters.files import config_dir
from prosa.adapters.providers.endpoint import (
    DEFAULT_BASE_URL,
    KEY_VARIABLE,
    URL_VARIABLE,
    Endpoint,
    account_headers,
    choose_key,
)
from prosa.app.options import (
    EMBEDDED,
    GGUF,
    LOCAL,
    NO_SCRIPT,
    NO_SCRIPT_HINT,
    Environment,
    Options,
    is_embedded_word,
    say_nothing,
    word_name,
)
from prosa.runtime.errors import ProviderError, RunError
from prosa.source import FileProblem
from prosa.source.url import EMBEDDED_SERVICE

if TYPE_CHECKING:
    from prosa.adapters.providers.exchange import ServiceProvider
    from prosa.adapters.providers.local import LocalServer
    from prosa.adapters.providers.table import ProviderRow
    from prosa.runtime.messages import ModelReply, ModelRequest
    from prosa.runtime.ports import OnText, Provider
    from prosa.settings import Settings

THREE_WAYS = (
    "Three ways on:\n"
    "- a key: set OPENAI_API_KEY\n"
    "- another server: --base-url URL, or a model server on this machine: --model local\n"
    "- fixed replies, without any model: --model scripted:FILE"
)
"""X17: what to do without key and base URL."""

OWN_SERVICE = "openai"
"""The service whose address is the usual one."""

HERE = "http://127.0.0.1"
"""Stands for a model server on this machine that has not been looked for."""

QUESTION = "There is no key and no base URL. Look for a model server on this machine?"


class Chosen(Struct, frozen=True):
    """A provider, the model name it brings where the user left that open (``--model local``), and the base URL that it
    asks; None where it asks none, as for scripted replies. ``is_free`` says that its answers cost nothing."""

    provider: Provider
    model_name: str | None = None
    service: str | None = None
    is_free: bool = False


class Routed(Struct, frozen=True):
    """A provider for each model that another service than the ``usual`` one answers for."""

    usual: Provider
    others: Mapping[str, Provider]

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        """Ask the service of the model. Raises `ProviderError`."""
        return await self.others.get(request.model_name, self.usual).complete(request, on_text)

    async def aclose(self) -> None:
        """Do nothing: the caller that opened the services closes them."""


class Route(Struct, frozen=True):
    """Who answers: a script, a server on this machine that is looked for, a model that Prosa runs itself, or a service.

    ``base_url`` is None for the usual service at its own address. ``headers`` belong to ``key``, which stands in
    ``variable``: None where it was given itself. ``row`` is the service of the table, ``word`` a model that Prosa runs.
    ``problem`` is the reason why a call would fail.
    """

    kind: Literal["scripted", "local", "embedded", "service"] = "service"
    base_url: str | None = None
    key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    row: ProviderRow | None = None
    variable: str | None = None
    word: str = ""
    problem: ProviderError | None = None

    @property
    def endpoint(self) -> Endpoint:
        """The address with its key."""
        return Endpoint((self.base_url or DEFAULT_BASE_URL).strip().rstrip("/"), self.key, self.headers)

    @property
    def is_unset(self) -> bool:
        """Whether it is the usual service, without key and address."""
        return self.kind == "service" and self.row is None and self.key is None and self.base_url is None

    @property
    def service(self) -> str | None:
        """The base URL whose prices hold; None where replies are scripted."""
        return self.endpoint.shown if self.kind == "service" else self.base_url


def resolve(
    options: Options, environment: Environment, row: ProviderRow | None = None, model_name: str | None = None
) -> Route:
    """Return the provider for a model; ``row`` is the provider that a document names. Sends no request.

    Raises `ProviderError` for a key that the user named for this call and that is none, and `RunError` for a provider
    that is not in the table.
    """
    if options.lacks_script:
        return Route("scripted", problem=ProviderError(NO_SCRIPT, kind="missing", retryable=False, hint=NO_SCRIPT_HINT))
    if options.script is not None:
        return Route("scripted")
    if options.is_local:
        return Route("local", HERE, problem=_two_servers(options))
    if options.is_embedded:
        service = f"{EMBEDDED_SERVICE}{options.here_name}"
        return Route("embedded", service, word=options.model or "", problem=_two_servers(options))
    row = row_of_model(model_name, options, environment.settings, row)
    # A base URL on the command line wins, and `openai` is what the user made it.
    if row is None or options.base_url is not None or (row.base_url is None and not row.is_local):
        return _usual(options, environment)
    if row.is_embedded:
        problem = _unsaid(row) if row.base_url is None else None
        return Route("embedded", f"{EMBEDDED_SERVICE}{model_name}", row=row, word=row.base_url or "", problem=problem)
    return _of_row(row, options, environment)


def _two_servers(options: Options) -> ProviderError | None:
    if options.base_url is None:
        return None
    does = "looks for a model server itself" if options.is_local else "runs a model itself"
    message = f"`--model {options.model}` {does}, and --base-url names a server"
    hint = "give one of the two: `--base-url URL --model NAME` asks the server at that address"
    return ProviderError(message, kind="bad-request", retryable=False, hint=hint)


def _usual(options: Options, environment: Environment) -> Route:
    """Return what flags, environment and user settings name, in this order. Raises `ProviderError` for a
    malformed key."""
    base_url = options.base_url or environment.environ.get(URL_VARIABLE, "").strip() or environment.settings.base_url
    if options.api_key:
        return Route(base_url=base_url, key=options.api_key)
    route = keyed(base_url, options.api_key_env, environment)
    if not route.is_unset:
        return route
    message = "no model to ask: there is no key and no base URL"
    return replace(route, problem=ProviderError(message, kind="missing", retryable=False, hint=THREE_WAYS))


def keyed(base_url: str | None, api_key_env: str | None, environment: Environment) -> Route:
    """Return the way to an address with the key that the user has for it. Raises `ProviderError` for one that is
    none."""
    named = api_key_env or environment.settings.key_variables.get((base_url or DEFAULT_BASE_URL).rstrip("/"))
    key = choose_key(WithStoredKeys(environment.environ), base_url, named=named, notice=environment.notice)
    headers = account_headers(environment.environ, base_url, named=named, key=key)
    return Route(base_url=base_url, key=key, headers=headers, variable=named or KEY_VARIABLE)


def _of_row(row: ProviderRow, options: Options, environment: Environment) -> Route:
    """Return the way to a service of the table, or why the user has not set it up."""
    route = Route(base_url=_address(row, environment), row=row)
    if row.base_url is None:
        return replace(route, problem=_unsaid(row))
    if options.provider is not None and options.api_key:
        return replace(route, key=options.api_key)
    environ = WithStoredKeys(environment.environ)
    named = options.api_key_env if options.provider is not None else None
    named = named or next((name for name in row.key_variables if environ.get(name, "").strip()), None)
    named = named or environment.settings.key_variables.get(row.base_url.rstrip("/"))
    if named is None and row.key_variables:
        message = f"there is no key for the provider `{row.name}`: {' or '.join(row.key_variables)} is not set"
        hint = f"set {row.key_variables[0]}, or choose who answers: --base-url, --model local, --model scripted:FILE"
        return replace(route, problem=ProviderError(message, kind="missing", retryable=False, hint=hint))
    try:
        key = choose_key(environ, route.base_url, named=named, notice=environment.notice) if named else None
    except ProviderError as problem:
        return replace(route, problem=problem)
    return replace(route, key=key, variable=named)


def _address(row: ProviderRow, environment: Environment) -> str | None:
    """Return the base URL of a row, or what the user's environment names in its place."""
    if row.port is not None:
        from prosa.app.run.routes import local_address

        return local_address(row, environment.settings, environment.environ)
    named = environment.environ.get(row.url_variable, "").strip() if row.url_variable else ""
    return named or row.base_url


def _unsaid(row: ProviderRow) -> ProviderError:
    """Return the refusal of a model on this machine that a document names: only its user may."""
    if row.is_embedded:
        message, hint = "an embedded model runs only when you say so", "allow it with --model embedded"
    else:
        message = "a model server on this machine is used only if you say so"
        setting = f"providers.{row.name}.base-url"
        hint = f"allow it with --model local or --model local:NAME, or set `{setting}` in your settings"
    return ProviderError(message, kind="missing", retryable=False, hint=hint)


def complete_options(options: Options, environment: Environment) -> Options:
    """Return the choices after asking what only a person can decide: whether a local model server may be used (X17).

    It is asked before a run begins, so that Ctrl-C works at the question.
    """
    if environment.ask is None or options.script is not None or options.is_here or options.lacks_script:
        return options
    if options.recording is not None and options.recording.plays_all:
        return options
    if options.provider is not None or not resolve(options, replace(environment, notice=say_nothing)).is_unset:
        return options
    if not environment.ask(QUESTION):
        return options
    return replace(options, model=f"{LOCAL}:{options.model}" if options.model else LOCAL)


def _scripted(script: Path) -> Chosen:
    """Return a provider that plays the replies of a file. Raises `FileProblem` and `ScriptProblem`."""
    from prosa.adapters.providers.scripted import ScriptedProvider

    if not os.path.lexists(script):
        raise FileProblem(script, "missing", "no such file of scripted replies")
    return Chosen(ScriptedProvider(script))


async def choose_provider(
    options: Options, environment: Environment, row: ProviderRow | None = None, model_name: str | None = None
) -> Chosen:
    """Return the provider of the route that `resolve` finds. Raises `ProviderError`, with the ways on without one."""
    route = resolve(options, environment, row, model_name)
    if route.problem is not None:
        raise route.problem
    if options.script is not None:
        return _scripted(options.script)
    if route.kind == "local":
        return await _local(options, environment)
    return await _embedded(route.word, options, environment) if route.word else _asking(route, options, environment)


def row_of_model(
    model_name: str | None, options: Options, settings: Settings, named: ProviderRow | None = None
) -> ProviderRow | None:
    """Return the service that answers for a model; None for the usual one. ``named`` is what a document asks for; the
    user's choice for this call takes precedence. Raises `RunError` for an unknown provider."""
    if options.provider is None and (named is not None or options.base_url is not None):
        return named
    mapped = settings.models.get(model_name or "")
    name = options.provider or (mapped.provider if mapped is not None else None)
    if name is None:
        if is_embedded_word(model_name or ""):  # the user's own word never comes here: a document says this
            message = f"a document cannot choose an embedded model or a model file: `{(model_name or '')[:64]}`"
            raise RunError(message, hint=f"if you want it, say so: --model {model_name}")
        return None
    from prosa.app.run.routes import known_row, local_address

    row = known_row(name, settings)
    if row.is_embedded:
        file = mapped.file if mapped is not None else None
        return replace(row, base_url=f"{GGUF}{file}" if file else f"{EMBEDDED}:{model_name or ''}")
    # A server of one's own that the user names is where it usually is: nothing has to be looked for.
    return row if row.port is None or row.base_url else replace(row, base_url=local_address(row, settings, {}))


def account_of(name: str, options: Options, environment: Environment, row: ProviderRow | None = None) -> Endpoint:
    """Return where a service of the table is asked beside its calls, and with which key: as for a call. ``row`` is the
    provider that a document names. Raises `ProviderError` where there is neither key nor base URL."""
    provider = row_of_model(options.model_name, options, environment.settings, row)
    if provider is None and name != "openai" and options.base_url is None:
        from prosa.app.run.routes import known_row

        provider = known_row(name, environment.settings)
    if provider is not None and provider.protocol != known_protocol(name):
        message = f"the provider `{provider.name}` has no batches of this kind"
        raise ProviderError(message, kind="bad-request", retryable=False, hint="--backend says whose they are")
    route = resolve(options, environment, provider, options.model_name)
    if route.is_unset:
        message = "no service to send batches to: there is no key and no base URL"
        raise ProviderError(message, kind="missing", retryable=False, hint=THREE_WAYS)
    if route.problem is not None:
        raise route.problem
    return route.endpoint


def known_protocol(name: str) -> str:
    """Return the protocol that a service of the table speaks."""
    from prosa.adapters.providers.table import provider_row

    row = provider_row(name, {})
    return row.protocol if row is not None else "openai"


def own_key_variable(environ: Mapping[str, str], base_url: str | None) -> str | None:
    """Return the usual variable for a key, where it is set and there is another address to send it to: the
    specification has one key and one base URL, and they belong together (L35)."""
    return KEY_VARIABLE if base_url and environ.get(KEY_VARIABLE, "").strip() else None


def service_words(
    options: Options, environment: Environment, row: ProviderRow | None = None, *, model_name: str | None = None
) -> str:
    """Return where calls of a model go, for a plan. Looks nowhere and never names a key."""
    if options.recording is not None and options.recording.replay is not None and options.recording.plays_all:
        return f"what is recorded in {options.recording.replay.path}"
    route = resolve(options, environment, row, model_name)
    if route.kind == "scripted":
        return f"replies scripted in {options.script}" if route.problem is None else f"{NO_SCRIPT}: a run would fail"
    if route.kind == "local":
        row = row_of_model(None, options, environment.settings)
        return f"{row.title} on this machine" if row is not None and row.title else "a model server on this machine"
    if route.word:
        from prosa.app.run.embedded import embedded_words

        return embedded_words(route.word, environment)
    if route.problem is not None:
        return f"{_why_not(route, route.problem)}: a run would fail"
    return _words(route, environment)


def _why_not(route: Route, problem: ProviderError) -> str:
    if route.row is None:
        return f"no key and no base URL: {OWN_SERVICE} at {DEFAULT_BASE_URL}, {KEY_VARIABLE} is not set"
    names = " or ".join(route.row.key_variables)
    lacks_key = problem.kind == "missing" and names
    return f"no key: {route.row.name} at {route.endpoint.shown}, {names} is not set" if lacks_key else problem.message


def _words(route: Route, environment: Environment) -> str:
    """Return which service, at which address, and which variable holds the key for it."""
    name = route.row.name if route.row is not None else "" if route.base_url else OWN_SERVICE
    where = f"{name} at {route.endpoint.shown}" if name else route.endpoint.shown
    if route.key is None:
        return f"{where}, without a key"
    if route.variable is None:
        return f"{where}, with the key that was given"
    is_set = environment.environ.get(route.variable, "").strip()
    return f"{where}, key from {route.variable}{'' if is_set else f' in {_keys_file()}'}"


def _keys_file() -> str:
    from prosa.adapters.files.trust_store import KEYS_FILE

    return KEYS_FILE


def service_of(
    options: Options, environment: Environment, row: ProviderRow | None = None, *, model_name: str | None = None
) -> str | None:
    """Return the base URL whose prices hold, for a plan; None where replies are scripted. Looks nowhere."""
    return resolve(options, replace(environment, notice=say_nothing), row, model_name).service


async def _embedded(word: str, options: Options, environment: Environment) -> Chosen:
    from prosa.app.run.embedded import open_embedded

    made = await open_embedded(word, environment, completion=options.completion)
    return Chosen(made, word_name(word) if options.is_embedded else None, made.service)


async def _local(options: Options, environment: Environment) -> Chosen:
    from prosa.adapters.providers.exchange import without_folder
    from prosa.adapters.providers.local import find_local
    from prosa.app.run.routes import local_places

    server = await find_local(
        options.local_name, places=local_places(environment.settings, environment.environ, options.provider)
    )
    made = _asking(Route(base_url=server.base_url), options, environment, server)
    return replace(made, model_name=without_folder(server.model_name))


def _asking(route: Route, options: Options, environment: Environment, server: LocalServer | None = None) -> Chosen:
    """Return the provider of a service; of a ``server`` on this machine with what that says of itself."""
    from prosa.adapters.providers.exchange import without_folder
    from prosa.adapters.providers.openai import OpenAIProvider
    from prosa.adapters.providers.request_shape import RequestShape
    from prosa.adapters.providers.table import LOCAL_OUTPUT

    row = route.row
    if row is not None and row.protocol != "openai":
        return _native(route, row, options, environment)
    api = "completions" if options.completion else options.api or environment.settings.api or "chat"
    is_local = options.is_local or (row is not None and row.is_local)
    name = (server and without_folder(server.model_name)) or ""
    say_none = None
    if server is not None and server.takes_tools is False:
        from prosa.app.run.embedded import say_no_tools

        say_none = partial(say_no_tools, name, environment.notice)
    made = OpenAIProvider(
        api_key=route.key,
        base_url=route.base_url,
        headers=route.headers,
        api=api,
        variable=_variable(row),
        bound=LOCAL_OUTPUT if is_local else None,
        # llama.cpp lets a schema win over tools: with both, none is ever called.
        first=RequestShape(apart=True) if server is not None and server.kind == "llama.cpp" else None,
        names={name: server.model_name} if server is not None else None,
        without_tools=say_none,
        notice=environment.notice,
    )
    return Chosen(made, service=made.service, is_free=is_local)


def _native(route: Route, row: ProviderRow, options: Options, environment: Environment) -> Chosen:
    """Return the provider of a service with an interface of its own."""
    if options.completion:
        message = f"`{row.name}` answers conversations only, and `@prompt` wants the continuation of a text"
        hint = "use `@user`, or a service with a completions endpoint: --base-url URL"
        raise ProviderError(message, kind="bad-request", retryable=False, hint=hint)
    from prosa.adapters.providers.native import AnthropicProvider, GoogleProvider
    from prosa.adapters.providers.prices import KnownModels

    key, base_url, variable = route.key, route.base_url, _variable(row)
    made: ServiceProvider
    if row.protocol == "google":
        made = GoogleProvider(api_key=key, base_url=base_url, variable=variable)
    else:
        most = KnownModels(environment.settings.models).max_output
        made = AnthropicProvider(api_key=key, base_url=base_url, variable=variable, most=most)
    return Chosen(made, service=made.service)


def _variable(row: ProviderRow | None) -> str:
    """Return the variable that a key usually stands in."""
    return row.key_variables[0] if row is not None and row.key_variables else KEY_VARIABLE


class WithStoredKeys(Mapping[str, str]):
    """``environ``, then `keys.toml`. An empty variable counts as not set. Raises `RunError` for a file of keys that
    others may read."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def __getitem__(self, name: str) -> str:
        value = self.environ.get(name, "")
        if not value.strip() and not name.endswith("_URL"):
            value = self._stored().get(name, value)
        if not value and name not in self.environ:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.environ)

    def __len__(self) -> int:
        return len(self.environ)

    def _stored(self) -> Mapping[str, str]:
        from prosa.adapters.files.trust_store import stored_keys

        return stored_keys(config_dir(self.environ))
