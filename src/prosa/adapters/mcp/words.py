"""Why a connection failed, in words a user can act on.

In: an exception, possibly nested in groups, and the observations of the connection. Out: a sentence part, a
`ToolServerError` with a hint, or whether an error means that the connection is lost. Credentials in a URL never show.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp import MCPError
from pydantic import ValidationError

from prosa.adapters.mcp.credential import Credential
from prosa.adapters.mcp.observed import Observed
from prosa.regex import regex
from prosa.runtime.errors import ToolServerError
from prosa.runtime.ports import ServerConfig

_SCOPE = regex(r'scope="([^"]*)"')
_LACKING = "insufficient_scope"
_LENGTH = 400
"""Maximum length of a quoted foreign message."""
_LOST = {
    "Connection closed": "",
    "SSE stream ended": "the answer broke off",
    "Session terminated": "it no longer knows our session",
}
"""How the SDK begins its words for a connection that is gone, and ours; the codes are shared with servers' errors."""


def leaves(problem: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions inside nested groups, in order."""
    if isinstance(problem, BaseExceptionGroup):
        for inner in problem.exceptions:
            yield from leaves(inner)
    else:
        yield problem


def is_loss(problem: MCPError) -> bool:
    """Return whether an error of a call says that the connection is gone, rather than that the call failed."""
    return problem.code in (types.CONNECTION_CLOSED, types.INVALID_REQUEST) and problem.message.startswith(tuple(_LOST))


def loss(problem: MCPError) -> str:
    """Return the reason for a lost connection; empty if only its process can tell."""
    return next(ours for theirs, ours in _LOST.items() if problem.message.startswith(theirs))


def reason(problem: BaseException, seen: Observed) -> str:
    """Return one clause: what went wrong."""
    first = next(leaves(problem), problem)
    match first:
        case MCPError() if is_loss(first):
            return loss(first) or ended(seen)
        case MCPError():
            return _short(first.message) + (f" (HTTP status {seen.http_status})" if _is_refusal(seen) else "")
        case httpx2.HTTPStatusError():
            return f"it answered with HTTP status {first.response.status_code}"
        case httpx2.ConnectError() | httpx2.ConnectTimeout():
            return "no connection" + (f": {_short(str(first))}" if str(first) else "")
        case ValidationError():
            return f"its answer breaks the protocol: {_validation(first)}"
        case OSError() | RuntimeError() | httpx2.HTTPError():
            return _short(str(first)) or type(first).__name__
        case _:
            return f"{type(first).__name__}: {_short(str(first))}"


def ended(seen: Observed) -> str:
    """Return how a server that is gone went."""
    status = seen.exit_status
    if status is None:
        return seen.failure or "the connection ended"
    return f"its process was ended by signal {-status}" if status < 0 else f"its process ended with status {status}"


def start_error(config: ServerConfig, why: str, seen: Observed, hint: str = "") -> ToolServerError:
    """Return the error of a server that did not start: name, command or URL, reason, and its last words (LA11)."""
    message = f"MCP server '{config.name}' did not start: {why} ({target(config)})"
    if seen.stray:
        message += f"\nIts stdout had a line that is not an MCP message: {seen.stray}"
    words = seen.stderr.decode("utf-8", "replace").strip()
    if words:
        message += f"\nThe end of its stderr:\n{words}"
    return ToolServerError(message, hint=hint or _hint(config))


def refused(config: ServerConfig, seen: Observed, credential: Credential | None) -> ToolServerError:
    """Return the error of a server that requires a credential: its message, and how to set a token (X18)."""
    why = f"it answered with HTTP status {seen.http_status}"
    if challenge := _short(seen.challenge):
        why += f", and wants: {challenge if credential is None else credential.hide(challenge)}"
    parts = urlsplit(config.url or "")
    if credential is not None and credential.renewal is not None:
        return start_error(config, why, seen, f"log in again: {_login_command(config, seen, credential)}")
    if credential is not None:
        hint = f"it did not accept the credential of your settings, in {' and '.join(credential.secrets)}"
        return start_error(config, why, seen, hint)
    hint = (
        f"log in, if it has logins: {_login_command(config, seen)}\n"
        f'or give it a token in your own settings: [servers."{parts.scheme}://{parts.netloc}"], and below it '
        'token-env = "NAME", the variable that holds the token (see docs/mcp.md)'
    )
    return start_error(config, why, seen, hint)


def further_rights(config: ServerConfig, seen: Observed, credential: Credential | None) -> str:
    """Return the end of a sentence about a call that the login of the user has no right to; empty for any other."""
    if credential is None or credential.renewal is None or seen.http_status != 403 or _LACKING not in seen.challenge:
        return ""
    return f". It needs rights that the user can ask for: {_login_command(config, seen, credential)}"


def _login_command(config: ServerConfig, seen: Observed, credential: Credential | None = None) -> str:
    """Return the command that makes a login; with the scopes that it has, where the server wants further ones."""
    words = ["prosa", "login", config.url or ""]
    wanted = _SCOPE.search(seen.challenge)
    if credential is not None and credential.renewal is not None and wanted is not None and _LACKING in seen.challenge:
        scopes = (*credential.renewal.scope.split(), *_short(credential.hide(wanted[1])).split())
        words += ["--scope", " ".join(dict.fromkeys(scopes))]
    return shlex.join(words)


def target(config: ServerConfig) -> str:
    """Return the command or URL of a server in a form that may be shown."""
    if config.command is not None:
        return f"command: {shlex.join((config.command, *config.args))}"
    parts = urlsplit(config.url or "")
    return f"URL: {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def spawn_problem(error: Exception, config: ServerConfig, cwd: str) -> tuple[str, str]:
    """Return why a command could not be started at all, and what to do: (reason, hint)."""
    problem = error.__cause__
    if isinstance(problem, FileNotFoundError | NotADirectoryError) and problem.filename == cwd:
        return f"there is no folder {cwd}", "the server starts in the folder of the program"
    if isinstance(problem, FileNotFoundError):
        return f"the command '{config.command}' was not found", "install it, or give its whole path"
    if isinstance(problem, PermissionError):
        return f"the command '{config.command}' may not be executed", "make the file executable"
    return f"the command '{config.command}' cannot be started: {_short(str(problem))}", ""


def _hint(config: ServerConfig) -> str:
    how = "run the command by hand to see its output" if config.command is not None else "check the URL"
    return f"{how}, or set 'disabled: true' on the server to run without it"


def _is_refusal(seen: Observed) -> bool:
    return seen.http_status is not None and seen.http_status >= 400


def _validation(problem: ValidationError) -> str:
    first = problem.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return _short(f"{where}: {first['msg']}" if where else first["msg"])


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= _LENGTH else text[:_LENGTH] + "…"
