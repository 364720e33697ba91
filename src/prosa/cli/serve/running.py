"""What may run on a site that is served, and its token: arguments of `serve` (X6, X7, X9).

In: arguments. Out: a `Runner`, or None without `--allow-run`; the token. Everything here comes from the user.
"""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
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
from prosa.cli.argument_types import count, dollars, seconds, size_in_bytes
from prosa.cli.console import Console
from prosa.cli.environment import environment_of
from prosa.cli.options import add_options, with_service
from prosa.cli.parser import WrongUse
from prosa.source import FileProblem

if TYPE_CHECKING:
    from prosa.web.run.runner import Runner

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
    from prosa.app.run.money import server_budget
    from prosa.app.run.service import complete_options, service_of
    from prosa.web.run.runner import Gate, Runner

    around = environment_of(console, root / "prosa", say_nothing)  # problems of settings were reported for the site
    around = replace(around, notice=console.err)
    choices = complete_options(with_service(_choices(args), console.environ), around)
    if choices.script is not None and not choices.script.is_file():
        raise FileProblem(choices.script, "missing", "no such file")
    choices = replace(choices, journal=JournalOptions("serve"))
    around = replace(around, ask=None, confirm=None)  # there is no user to prompt while it serves
    _tell(choices, around, console)
    budget = server_budget(args.max_cost, around, store_path(choices.journal, console.environ))
    if choices.model_name:
        service = service_of(choices, around, model_name=choices.model_name)
        budget.require_price(choices.model_name, service, {})
    gate = Gate(args.concurrency or AT_ONCE, args.runs_per_minute or PER_MINUTE)
    return Runner(root, choices, around, budget, gate, prefix=_prefix(args))


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
    from prosa.cli.serve.site import base_of

    return base_of(args)[1]


def _tell(choices: Options, around: Environment, console: Console) -> None:
    """Who answers, and what still keeps programs from running."""
    from prosa.app.run.service import service_words
    from prosa.app.trust import check_agreement
    from prosa.runtime.errors import AgreementRequired

    console.note(f"runs are allowed, and answered by {service_words(choices, around, model_name=choices.model_name)}")
    try:
        check_agreement(console.environ)
    except AgreementRequired as error:
        console.note(f"note: programs do not run yet: {error.message}\n{error.hint}")
