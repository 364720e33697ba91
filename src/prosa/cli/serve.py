"""`prosa serve`: a folder as a site for agents and people (H1–H8), and what may run on it. Thin: read the arguments,
bind, serve, stop.

It binds to this machine alone unless the user names another address. Nothing runs without `--allow-run` and the token,
and only published content is shown (X6, X7, X9, X23). Stdout stays empty; the address is printed on stderr once the
site answers.
"""

from __future__ import annotations

import argparse
import errno
import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from msgspec.structs import replace

from prosa.app.options import (
    Environment,
    JournalOptions,
    LimitOptions,
    ModelOptions,
    Options,
    ServiceOptions,
    say_nothing,
)
from prosa.cli.argument_types import count, dollars, port, seconds, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import say
from prosa.cli.options import add_options, with_service
from prosa.cli.parser import WrongUse
from prosa.cli.process import collect_often
from prosa.cli.site import add_site_options, base_of, live_site
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
    from prosa.asgi import Asgi
    from prosa.web.app import SiteApp
    from prosa.web.limits import Proxies
    from prosa.web.log import AccessLog, BackgroundLines
    from prosa.web.run.runner import Runner


DEFAULT_PORT = 8000
_APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `serve`."""
    add_site_options(parser)
    net = parser.add_argument_group("network")
    net.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="the address to bind to (default: loopback)"
    )
    net.add_argument("--port", type=port, default=DEFAULT_PORT, metavar="N", help="the port (default: 8000; 0: any)")
    also = "another host name that requests may use; repeatable"
    net.add_argument("--allow-host", action="append", default=[], metavar="NAME", help=also)
    proxy = "a proxy whose X-Forwarded-For is trusted: an address or a network such as 10.0.0.0/8; repeatable"
    net.add_argument("--trusted-proxy", action="append", default=[], type=_network, metavar="CIDR", help=proxy)
    mounted = "serve your own ASGI application below /api: FILE.py:NAME or MODULE:NAME"
    net.add_argument("--api", metavar="APP", help=mounted)
    net.add_argument("--mcp", action="store_true", help="also answer agents at /mcp over the Model Context Protocol")
    net.add_argument("--access-log", metavar="FILE", help="where to log requests as JSON lines (default: stderr)")
    private = "also show documents that are not public, to those who know the token"
    net.add_argument("--include-private", action="store_true", help=private)
    add_running_options(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 after a signal has stopped it. Raises `WrongUse`."""
    from prosa.source.url import is_loopback
    from prosa.web import serving
    from prosa.web.limits import ConnectionLimits

    if not is_loopback(args.host) and not (args.base_url or args.allow_host):
        hint = "name the site with --base-url https://HOST or --allow-host HOST"
        raise WrongUse(f"--host {args.host} can be reached by other machines, and the site has no name", hint=hint)
    api = application(args.api) if args.api else None
    try:
        made = serving.bound(args.host, args.port)
    except OSError as error:
        hint = "--port 0 takes any free one" if error.errno == errno.EADDRINUSE else ""
        return say(console, f"{args.host}:{args.port} cannot be bound: {error.strerror or error}", hint, status=1)
    address = serving.address_of(made, args.host)
    with (
        made,
        live_site(args, console, lambda root: runner_of(args, console, root)) as (site, runner),
        _log(args, console) as (log, fault),
    ):
        proxies = tuple(proxy for some in args.trusted_proxy for proxy in some)
        app = _app(args, console, site, runner, address)
        app.api, app.log, app.fault, app.proxies = api, log, fault, proxies
        app.mcp = _agents(console, site, app) if args.mcp else None
        site.start()
        collect_often()
        serving.serve(app, made, lambda: _tell(args, console, address, app), bounds=ConnectionLimits(proxies=proxies))
    return 0


def _app(args: argparse.Namespace, console: Console, site: LiveSite, runner: Runner | None, address: str) -> SiteApp:
    from urllib.parse import urlsplit

    from prosa.web.app import SiteApp
    from prosa.web.context import Sessions, Web
    from prosa.web.limits import Guard
    from prosa.web.serving import hosts_of

    origin, prefix = base_of(args)
    named = tuple(args.allow_host) + ((urlsplit(origin).netloc,) if origin else ())
    hosts = hosts_of(args.host, urlsplit(address).port or 80, named)
    closed = args.include_private
    token = token_of(args, console) if closed or runner is not None else ""
    sessions = Sessions(token, secure=origin.startswith("https://"))
    mcp = f"{origin or address}{prefix}/mcp" if args.mcp else site.options.mcp
    web = Web(site, sessions, prefix, origin or address, closed, runner, mcp=mcp)
    guard = Guard(hosts, (origin,) if origin else ())
    return SiteApp(web, guard)


def _agents(console: Console, site: LiveSite, app: SiteApp) -> Asgi:
    """Return what answers agents: the tools that read, and programs as prompts. The site itself guards it."""
    from prosa.app.options import Options
    from prosa.app.run.world import server_budget, system_clock
    from prosa.app.site.agents import CheckScope
    from prosa.mcp_server.programs import Programs, Rights
    from prosa.mcp_server.server import build_server
    from prosa.mcp_server.transport import http_application
    from prosa.web.limits import network_of

    environment = environment_of(console, site.root / "prosa", say_nothing)
    programs = Programs(site, Options(), environment, Rights(), server_budget(None, environment))
    server = build_server(site, programs, CheckScope(console.environ))
    return http_application(server, app.guard.hosts, system_clock(), client=network_of)


def _tell(args: argparse.Namespace, console: Console, address: str, app: SiteApp) -> None:
    """Print the one line that says where the site is."""
    del app
    from prosa.render.plain import safe

    _, prefix = base_of(args)
    if prefix:
        console.note(f"note: in Markdown, links and action URLs that begin with / lead outside {prefix}/")
    console.err(f"serving {safe(args.folder or '.')} at {address}{prefix}/ (Ctrl-C stops)")


@contextmanager
def _log(args: argparse.Namespace, console: Console) -> Iterator[tuple[AccessLog, Callable[[str], None]]]:
    """Return the log, on stderr or in a file, and the error reporter on stderr. Both write without the shared buffers,
    so that a blocked reader holds no lock and stops nothing else."""
    from prosa.render.plain import safe
    from prosa.web.log import AccessLog

    with ExitStack() as stack:
        place = _opened(args.access_log, stack) if args.access_log not in (None, "-") else None
        errors = stack.enter_context(_lines(_stderr(console)))
        lines = errors if place is None else stack.enter_context(_lines(lambda text: _write(place, text)))
        yield AccessLog(lines.write), lambda text: errors.write(safe(f"error: {text}"))


def _opened(path: str, stack: ExitStack) -> int:
    try:
        descriptor = os.open(path, _APPENDING, 0o640)
    except OSError as error:
        raise WrongUse(f"--access-log {path}: {error.strerror or error}") from None
    stack.callback(os.close, descriptor)
    return descriptor


def _stderr(console: Console) -> Callable[[str], None]:
    try:
        descriptor = console.stderr.fileno()
    except (OSError, ValueError):  # it is no file
        return console.err
    return lambda text: _write(descriptor, text)


@contextmanager
def _lines(out: Callable[[str], None]) -> Iterator[BackgroundLines]:
    from prosa.web.log import BackgroundLines

    lines = BackgroundLines(out)
    try:
        yield lines
    finally:
        lines.close()


def _write(descriptor: int, text: str) -> None:
    """Write lines, as far as the reader accepts them."""
    data = f"{text}\n".encode("utf-8", "replace")
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]


def application(name: str) -> Asgi:
    """Return the user's own ASGI application. It is imported, and so run, because the user names it. Raises
    `WrongUse`."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute.isidentifier():
        raise WrongUse(f"--api {name}: expected FILE.py:NAME or MODULE:NAME")
    module = _file_module(Path(place)) if place.endswith(".py") else _module(place)
    app: Asgi | None = getattr(module, attribute, None)
    if not callable(app):
        raise WrongUse(f"--api {name}: there is no application called {attribute} in {place}")
    return app


def _module(name: str) -> ModuleType:
    from importlib import import_module

    sys.path.insert(0, str(Path.cwd()))
    try:
        return import_module(name)
    except Exception as error:  # whatever the user's code raises is about the user's code
        raise WrongUse(f"--api: the module {name} cannot be imported: {type(error).__name__}: {error}") from error


def _file_module(path: Path) -> ModuleType:
    """Return a file as a module; one called `__init__.py`, or beside one, is imported as part of its package."""
    from importlib.util import module_from_spec, spec_from_file_location

    if not path.is_file():
        raise FileProblem(path, "missing", "no such file")
    path = path.resolve()
    sys.path.insert(0, str(path.parent))
    spec = spec_from_file_location(f"prosa_api_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise WrongUse(f"--api {path}: is not a Python module")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever the user's code raises is about the user's code
        raise WrongUse(f"--api: {path} cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _network(text: str) -> Proxies:
    from prosa.web.limits import proxies_in

    try:
        return proxies_in(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; expected an address or a network such as 10.0.0.0/8") from None


AT_ONCE = 2
PER_MINUTE = 30
MIN_TOKEN = 16
"""Characters of a token that a user chose: a shorter one can be guessed."""

MAX_TOKEN = 512

_ABOUT_RUNS = {
    "allow_servers": "--allow-servers",
    "model": "--model",
    "model_url": "--model-url",
    "model_api": "--model-api",
    "api_key_env": "--api-key-env",
    "concurrency": "--concurrency",
    "runs_per_minute": "--runs-per-minute",
    "max_cost": "--max-cost",
    "max_output_tokens": "--max-output-tokens",
    "timeout": "--timeout",
}


def add_running_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    group = parser.add_argument_group("what may run")
    run = "let those who know the token run programs and interactive ai-scripts"
    group.add_argument("--allow-run", action="store_true", help=run)
    reach = "let programs start their own MCP servers and use their own sites"
    add_options(group, LimitOptions, "allow_servers", allow_servers=reach)
    group.add_argument(
        "--token-env", metavar="NAME", help="the environment variable with the token (default: a new token, printed)"
    )
    add_options(group, ModelOptions, model="model for everything that runs; SERVICE/NAME, local[:NAME], scripted:FILE")
    group.add_argument("--model-url", metavar="URL", help="an OpenAI-compatible server (also: OPENAI_BASE_URL)")
    group.add_argument("--model-api", choices=("chat", "responses"), help="Chat Completions (default) or Responses")
    add_options(group, ServiceOptions, "api_key_env", api_key_env="the variable whose key may go to --model-url")
    group.add_argument("--concurrency", type=count, metavar="N", help=f"runs at the same time ({AT_ONCE})")
    group.add_argument("--runs-per-minute", type=count, metavar="N", help=f"runs started per minute ({PER_MINUTE})")
    budget = (
        "US dollars for all runs until the server ends (5, for models with known prices); --budget is its older name"
    )
    group.add_argument("--max-cost", "--budget", type=dollars, metavar="USD", help=budget)
    tokens = "tokens that one model call may write (4096, if the price is known)"
    add_options(group, LimitOptions, "max_output_tokens", max_output_tokens=tokens)
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each run (120)")


def runner_of(args: argparse.Namespace, console: Console, root: Path) -> Runner | None:
    """Return what runs on the site below ``root``; None without `--allow-run`. Raises `WrongUse` for flags that would
    then have no effect."""
    if not args.allow_run:
        _require_none(args)
        return None
    from prosa.app.journal.place import store_path
    from prosa.app.run.service import complete_options, service_of
    from prosa.app.run.world import server_budget
    from prosa.web.run.runner import Gate, Runner

    environment = environment_of(
        console, root / "prosa", say_nothing
    )  # problems of settings were reported for the site
    environment = replace(environment, notice=console.err)
    options = complete_options(with_service(_choices(args), console.environ), environment)
    if options.script is not None and not options.script.is_file():
        raise FileProblem(options.script, "missing", "no such file")
    options = replace(options, journal=JournalOptions("serve"))
    environment = replace(environment, ask=None, confirm=None)  # there is no user to prompt while it serves
    _say_who_answers(options, environment, console)
    budget = server_budget(args.max_cost, environment, store_path(options.journal, console.environ))
    if options.model_name:
        service = service_of(options, environment, model_name=options.model_name)
        budget.require_price(options.model_name, service, {})
    gate = Gate(args.concurrency or AT_ONCE, args.runs_per_minute or PER_MINUTE)
    return Runner(root, options, environment, budget, gate, prefix=_prefix(args))


def token_of(args: argparse.Namespace, console: Console) -> str:
    """Return the token of the site: that of `--token-env`, or a new one, which is printed this once. Raises
    `WrongUse`."""
    if args.token_env is None:
        token = secrets.token_urlsafe(24)
        console.err(f"token: {token}")
        return token
    token = console.environ.get(args.token_env, "").strip()
    if not token:
        raise WrongUse(f"--token-env {args.token_env}: there is no such variable, or it is empty")
    if not (MIN_TOKEN <= len(token) <= MAX_TOKEN) or not token.isascii() or not token.isprintable() or " " in token:
        raise WrongUse(
            f"--token-env {args.token_env}: a token has {MIN_TOKEN} to {MAX_TOKEN} visible ASCII characters, no space",
            hint="as from: python -c 'import secrets; print(secrets.token_urlsafe())'",
        )
    return token


def _require_none(args: argparse.Namespace) -> None:
    for name, flag in _ABOUT_RUNS.items():
        if getattr(args, name):
            raise WrongUse(f"{flag} is about what runs, and nothing does", hint="add --allow-run")


def _choices(args: argparse.Namespace) -> Options:
    return Options(
        model=args.model,
        base_url=args.model_url,
        api=args.model_api,
        api_key_env=args.api_key_env,
        wall_clock=args.timeout,
        output_tokens=args.max_output_tokens,
        max_cost=args.max_cost,
        max_size=size_in_bytes(args.max_size),
        allow_servers=args.allow_servers,
    )


def _prefix(args: argparse.Namespace) -> str:
    """Return the path that the site lives under."""
    from prosa.cli.site import base_of

    return base_of(args)[1]


def _say_who_answers(options: Options, environment: Environment, console: Console) -> None:
    """Who answers, and what still keeps programs from running."""
    from prosa.app.run.service import service_words
    from prosa.app.trust import check_agreement
    from prosa.runtime.errors import AgreementRequired

    console.note(
        f"runs are allowed, and answered by {service_words(options, environment, model_name=options.model_name)}"
    )
    try:
        check_agreement(console.environ)
    except AgreementRequired as error:
        console.note(f"note: programs do not run yet: {error.message}\n{error.hint}")
