"""`prosa mcp`: a folder for agents over the Model Context Protocol; `prosa mcp config` prints the configuration of a
client.

Nothing runs without `--allow-run`, and only published content is visible (X23, X30). Over standard input and output
unless `--http` selects Streamable HTTP.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prosa.app.options import JournalOptions, LimitOptions
from prosa.cli.argument_types import seconds, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.options import add_model, add_options, options_from
from prosa.cli.parser import WrongUse
from prosa.cli.process import collect_often
from prosa.data import Plain

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from prosa.app.site.agents import CheckScope
    from prosa.app.site.live import LiveSite
    from prosa.app.site.skills import Skills

CLIENTS = ("claude", "vscode", "cursor", "codex", "gemini", "zed")
CONFIG = "config"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `mcp`."""
    parser.add_argument("folder", nargs="?", default=".", metavar="DIR", help="the folder (default: .); or: config")
    parser.add_argument("rest", nargs="?", metavar="DIR", help="after config: the folder")
    parser.add_argument("--client", choices=CLIENTS, help="after config: the client whose configuration is printed")
    parser.add_argument("--name", metavar="TEXT", help="the name of the folder (default: its first page)")
    parser.add_argument("--max-size", default="10MB", metavar="SIZE", help="largest document (default: 10MB)")
    help_text = "also give the skills of this folder, whatever the site publishes; repeatable"
    parser.add_argument("--skills", action="append", default=[], metavar="DIR", help=help_text)
    group = parser.add_argument_group("what may run")
    run = "let programs whose path matches run as tools (default: all); repeatable"
    group.add_argument("--allow-run", action="append", nargs="?", const="*", metavar="GLOB", help=run)
    add_options(
        group,
        LimitOptions,
        *("allow_servers", "max_cost", "max_output_tokens"),
        allow_servers="let them start MCP servers and use sites",
        max_cost="US dollars for all runs of this server",
        max_output_tokens="tokens that one model call may write",
    )
    group.add_argument("--timeout", type=seconds, metavar="SECONDS", help="for each run")
    add_model(parser)
    group = parser.add_argument_group("what a check reports")
    group.add_argument("--baseline", metavar="FILE", help="only findings that this file does not hold")
    since = "where no document is named, check those that changed since this revision of git"
    group.add_argument("--changed-since", metavar="REV", help=since)
    net = parser.add_argument_group("over HTTP")
    net.add_argument("--http", action="store_true", help="answer Streamable HTTP on this machine")
    net.add_argument("--port", type=int, default=8001, metavar="N", help="the port (default: 8001; 0: any)")
    net.add_argument("--token-env", metavar="NAME", help="the variable with the token that clients must know")
    private = "include documents that are not public; over HTTP only with --token-env"
    net.add_argument("--include-private", action="store_true", help=private)


def run(args: argparse.Namespace, console: Console) -> int:
    """0 when the client is gone, or a signal has stopped it. Raises `WrongUse`."""
    if args.folder == CONFIG:
        return _config(args, console)
    if args.rest is not None or args.client is not None:
        raise WrongUse("--client is about `prosa mcp config`", hint="prosa mcp config --client NAME [DIR]")
    if args.include_private and args.http and not args.token_env:
        raise WrongUse("--include-private over HTTP needs a token", hint="name its variable with --token-env")
    token = _token(args, console)
    from prosa.cli.site import live_site

    args.layout, args.base_url, args.exclude = "path", "", []
    with live_site(args, console) as (site, _):
        server = _server(args, console, site)
        site.start()
        collect_often()
        if args.http:
            return _serve_http(args, console, server, token)
        from prosa.mcp_server.transport import serve_stdio

        serve_stdio(server)
    return 0


def _server(args: argparse.Namespace, console: Console, site: LiveSite) -> Server[Any]:
    from msgspec.structs import replace

    from prosa.app.run.world import server_budget
    from prosa.cli.environment import environment_of
    from prosa.mcp_server.programs import Programs, Rights
    from prosa.mcp_server.server import build_server

    environment = replace(environment_of(console, site.root / "prosa"), ask=None, confirm=None, notice=console.err)
    options = replace(
        options_from(args, console.environ), max_size=size_in_bytes(args.max_size), journal=JournalOptions("mcp")
    )
    rights = Rights(tuple(args.allow_run or ()))
    programs = Programs(site, options, environment, rights, server_budget(args.max_cost, environment))
    return build_server(site, programs, _scope(args, console, site), named_skills(args.skills, console))


def _scope(args: argparse.Namespace, console: Console, site: LiveSite) -> CheckScope:
    """Return what checks report. Raises `WrongUse` and `FileProblem` for what cannot be used."""
    from prosa.app.check.baseline import open_baseline
    from prosa.app.check.changed import UnknownRevision, revision_at
    from prosa.app.site.agents import CheckScope

    try:
        known = open_baseline(Path(args.baseline)).path if args.baseline is not None else None
        if args.changed_since is not None:
            revision_at(args.changed_since, site.root)
    except UnknownRevision as error:
        raise WrongUse(f"--changed-since: {error}") from None
    return CheckScope(console.environ, known, args.changed_since)


def named_skills(folders: Sequence[str], console: Console) -> tuple[Skills, ...]:
    """Return the skills of folders that the user names. Raises `WrongUse` for one without any."""
    from prosa.app.site.skills import FolderSkills, Skills
    from prosa.render.plain import safe

    skillses = tuple(FolderSkills(Path(folder).resolve()) for folder in folders)
    for skills, folder in zip(skillses, folders, strict=True):
        if not skills.root.is_dir() or next(skills.folders(), None) is None:
            raise WrongUse(f"--skills {folder}: no folder with a SKILL.md, in it or directly below")
    return tuple(Skills(skills, lambda text: console.err(safe(text))) for skills in skillses)


def _token(args: argparse.Namespace, console: Console) -> str:
    if args.token_env is None:
        return ""
    if not args.http:
        raise WrongUse("--token-env is about --http: standard input and output belong to one client")
    from prosa.cli.serve import token_of

    return token_of(args, console)


def _serve_http(args: argparse.Namespace, console: Console, server: Server[Any], token: str) -> int:
    from prosa.app.run.world import system_clock
    from prosa.mcp_server.transport import PATH, http_application
    from prosa.web import serving
    from prosa.web.answer import bounded
    from prosa.web.limits import network_of

    host = "127.0.0.1"
    made = serving.bound(host, args.port)
    with made:
        address = serving.address_of(made, host)
        port = int(address.rpartition(":")[2])
        app = bounded(http_application(server, serving.hosts_of(host, port, ()), system_clock(), token, network_of))
        serving.serve(app, made, lambda: console.err(f"answering at {address}{PATH} (Ctrl-C stops)"))
    return 0


def _config(args: argparse.Namespace, console: Console) -> int:
    """Print the configuration that a client needs to start the server. Nothing is written."""
    if args.client is None:
        raise WrongUse("--client is missing", hint=f"one of {', '.join(CLIENTS)}; a folder of that name is ./config")
    folder = Path(args.rest or ".").resolve()
    words: list[str] = ["mcp", str(folder)]
    for glob in args.allow_run or ():
        words += ["--allow-run", glob] if glob != "*" else ["--allow-run"]
    for skill in args.skills:
        words += ["--skills", str(Path(skill).resolve())]
    words += ["--baseline", str(Path(args.baseline).resolve())] if args.baseline is not None else []
    words += ["--changed-since", args.changed_since] if args.changed_since is not None else []
    name = args.name or folder.name or "prosa"
    console.out(_snippet(args.client, name, words))
    return 0


def _snippet(client: str, name: str, words: list[str]) -> str:
    started: dict[str, Plain] = {"command": "prosa", "args": words}
    if client == "codex":
        return f'[mcp_servers.{json.dumps(name)}]\ncommand = "prosa"\nargs = {json.dumps(words)}'
    key = {"vscode": "servers", "zed": "context_servers"}.get(client, "mcpServers")
    if client == "vscode":
        started = {"type": "stdio", **started}
    return json.dumps({key: {name: started}}, indent=2, ensure_ascii=False)
