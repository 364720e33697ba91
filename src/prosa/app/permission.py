"""Permission to run: the only gate for tool servers, automatic runs, and programs (X7, X47).

In: programs and servers, each with the origin of its document; the user's permissions for this call. Out: nothing, or
`NotTrusted`, which names the document, the server and the command that allows it; `AgreementRequired`. Nothing is
started here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from prosa.adapters.files import config_dir
from prosa.adapters.files.agreement_store import check_agreement
from prosa.runtime.errors import NotTrusted
from prosa.runtime.program import reachable

if TYPE_CHECKING:
    from prosa.adapters.files.trust_store import TrustStore
    from prosa.app.options import Environment, Options
    from prosa.runtime.ports import Origin, ServerConfig, ServerSession, ToolServers
    from prosa.runtime.program import Program
    from prosa.source import SourceText

MAX_COMMAND = 120
"""Characters of a command or a URL in a message."""


def is_trusted(source: SourceText, environ: Mapping[str, str]) -> bool:
    """Return whether the user trusts a document with this content. Raises `RunError` for an unusable record."""
    return _trusts(source.path, source.digest, environ)


def require_trust(source: SourceText, environ: Mapping[str, str]) -> None:
    """Raise `NotTrusted` for an untrusted document with automatic runs."""
    if not is_trusted(source, environ):
        message = f"{source.path} {_state(source.path, environ)}, so nothing in it runs by itself"
        hint = f"read it, then run: prosa trust {source.path}" if source.digest else "only a file can be trusted"
        raise NotTrusted(message, hint=hint)


def require_permission(program: Program, options: Options, environment: Environment, *, sites: bool = False) -> None:
    """Refuse a run before it begins, for want of the agreement or of a permission: see the two below."""
    require_agreement(program, options, environment.environ)
    require_servers(program, options, environment, sites=sites)


def require_agreement(program: Program, options: Options, environ: Mapping[str, str]) -> None:
    """Raise `AgreementRequired` where a run needs the agreement and it was not accepted (X47).

    Runs of markdownlang programs need it, live or scripted. Skills, chats, ai-scripts and shipped examples do not, nor
    does a run in which a recording answers everything.
    """
    replayed = options.recording is not None and options.recording.plays_all
    if program.needs_agreement and not options.shipped and not replayed:
        check_agreement(environ)


def require_servers(program: Program, options: Options, environment: Environment, *, sites: bool = False) -> None:
    """Raise `NotTrusted` if a program, or one that it imports, would start a server without permission (X7).

    Permitted are servers of programs named in this call, those of trusted documents, and with ``allow_servers`` all. A
    replayed run starts none. With ``sites``, for runs requested by other users, the sites that programs name need the
    same permission.
    """
    if (refused := refusal(program, options, environment)) is not None:
        raise refused
    for reached in reachable(program) if sites and not _plays_servers(options) else ():
        if reached.sites and not _permitted(reached.origin, options, environment):
            what = f"{reached.origin.path}: the site {_short(reached.sites[0])} was not reached"
            raise _not_trusted(what, (reached.origin,), environment)


def refusal(program: Program, options: Options, environment: Environment) -> NotTrusted | None:
    """Return why a run of a program ends before it begins, for a server that may not start; None where none is."""
    if _plays_servers(options):
        return None
    servers = (server for one in reachable(program) for server in one.servers)
    refused = [server for server in servers if not _permitted(server.origin, options, environment)]
    return _refused(refused, environment) if refused else None


def _plays_servers(options: Options) -> bool:
    chosen = options.recording
    return chosen is not None and chosen.plays_all and not (chosen.replay is not None and chosen.replay.tools == "live")


class PermittedServers(Struct, frozen=True):
    """Tool servers behind the permission, through which every run starts them; meets `ToolServers`. ``opened`` gives
    what starts them."""

    opened: Callable[[], ToolServers]
    options: Options
    environment: Environment

    @asynccontextmanager
    async def connect(self, servers: Sequence[ServerConfig], *, cwd: str) -> AsyncIterator[ServerSession]:
        """Start all servers. Raises `NotTrusted` before any of them starts where one is not permitted."""
        refused = [server for server in servers if not _permitted(server.origin, self.options, self.environment)]
        if refused:
            raise _refused(refused, self.environment)
        async with self.opened().connect(servers, cwd=cwd) as session:
            yield session


def _permitted(origin: Origin, options: Options, environment: Environment) -> bool:
    if origin.by != "document" or options.allow_servers:
        return True
    return _trusts(origin.path, origin.digest, environment.environ)


def _trusts(path: str, digest: str, environ: Mapping[str, str]) -> bool:
    return bool(digest) and _trust_store(environ).trusts(Path(path), digest)


def _state(path: str, environ: Mapping[str, str]) -> str:
    known = bool(path) and _trust_store(environ).knows(Path(path))
    return "was changed since you trusted it" if known else "is not trusted"


def _trust_store(environ: Mapping[str, str]) -> TrustStore:
    from prosa.adapters.files.trust_store import TrustStore

    return TrustStore(config_dir(environ))


def _refused(servers: Sequence[ServerConfig], environment: Environment) -> NotTrusted:
    """Return the refusal of servers: the first one in full, and the documents of all."""
    first = servers[0]
    command = first.url if first.url is not None else _quoted((first.command or "", *first.args))
    more = f" (and {len(servers) - 1} more)" if len(servers) > 1 else ""
    place = f"{first.origin.path}:{first.origin.line}: " if first.origin.path else ""
    what = f"{place}the MCP server {first.name!r} ({_short(command)}) was not started{more}"
    return _not_trusted(what, [server.origin for server in servers], environment)


def _not_trusted(what: str, origins: Sequence[Origin], environment: Environment) -> NotTrusted:
    first, paths = origins[0].path, list(dict.fromkeys(origin.path for origin in origins if origin.path))
    why = f"{first or 'its program'} was not named by you, and {_state(first, environment.environ)}"
    it = "it" if len(paths) == 1 else "them"
    trust = f"read {it}, then run: prosa trust {_quoted(paths)}\nor " if paths else ""
    return NotTrusted(f"{what}: {why}", hint=f"{trust}allow {it} for this call: --allow-servers")


def _quoted(words: Iterable[str]) -> str:
    from shlex import join  # only here: hardly a run is refused

    return join(words)


def _short(text: str) -> str:
    from prosa.render.plain import safe

    return safe(text if len(text) <= MAX_COMMAND else f"{text[:MAX_COMMAND]}…")
