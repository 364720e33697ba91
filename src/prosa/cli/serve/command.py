"""`prosa serve`: a folder as a site for agents and people (H1–H8). Thin: read the arguments, bind, serve, stop.

It binds to this machine alone unless the user names another address. Nothing runs without `--allow-run`, and only
published content is shown (X6, X23). Stdout stays empty; the address is printed on stderr once the site answers.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from prosa.app.options import say_nothing
from prosa.cli.argument_types import port
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.errors import say
from prosa.cli.parser import WrongUse
from prosa.cli.process import collect_often
from prosa.cli.serve.running import add_running_options, runner_of, token_of
from prosa.cli.serve.site import add_site_options, base_of, live_site
from prosa.data import Value
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
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
        proxies = tuple(each for some in args.trusted_proxy for each in some)
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
    web = Web(site, sessions, prefix, origin or address, closed, runner)
    guard = Guard(hosts, (origin,) if origin else ())
    return SiteApp(web, guard)


def _agents(console: Console, site: LiveSite, app: SiteApp) -> Callable[..., Value]:
    """Return what answers agents: the tools that read, and programs as prompts. The site itself guards it."""
    from prosa.app.options import Options
    from prosa.app.run.money import server_budget
    from prosa.app.run.world import system_clock
    from prosa.mcp_server.programs import Programs, Rights
    from prosa.mcp_server.server import build_server
    from prosa.mcp_server.transport import http_application
    from prosa.web.limits import network_of

    around = environment_of(console, site.root / "prosa", say_nothing)
    programs = Programs(site, Options(), around, Rights(), server_budget(None, around))
    server = build_server(site, programs, console.environ)
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
        told = stack.enter_context(_lines(_stderr(console)))
        lines = told if place is None else stack.enter_context(_lines(lambda text: _write(place, text)))
        yield AccessLog(lines.write), lambda text: told.write(safe(f"error: {text}"))


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


def application(name: str) -> Callable[..., Value]:
    """Return the user's own ASGI application. It is imported, and so run, because the user names it. Raises
    `WrongUse`."""
    place, colon, attribute = name.rpartition(":")
    if not colon or not place or not attribute.isidentifier():
        raise WrongUse(f"--api {name}: expected FILE.py:NAME or MODULE:NAME")
    module = _file_module(Path(place)) if place.endswith(".py") else _module(place)
    found = getattr(module, attribute, None)
    if not callable(found):
        raise WrongUse(f"--api {name}: there is no application called {attribute} in {place}")
    return found  # type: ignore[no-any-return]


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
        raise WrongUse(f"--api {path}: is no Python module")
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
