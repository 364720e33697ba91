"""Parts of a long answer: `--fields`, `--limit`, `--max-tokens` and `--after` of every command that lists something.

In: a command of which the table says that it lists something, and the keys of its lists. Out: its answer with fewer
rows and fields, and a cursor where there is more. No command cuts its own answer.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec import Struct

from prosa.cli.commands import Lists
from prosa.cli.errors import DATA_FORMATS
from prosa.cli.parser import Parser, WrongUse

if TYPE_CHECKING:
    from prosa.cli.console import Console
    from prosa.data import Plain, Value

BYTES = 2
"""Bytes of JSON to a token at least; measured with three tokenizers, real answers have 2.7 to 3.6."""

CURSOR_BYTES = 40
"""Bytes of `next` with its cursor."""

FLAGS = ("--fields", "--max-tokens", "--after")
STALE = "that is not a place in this answer, or the answer has changed since"


class Part(Struct, frozen=True):
    """Which part of an answer is asked for; None is all."""

    fields: tuple[str, ...] = ()
    limit: int | None = None
    max_tokens: int | None = None
    after: str = ""

    @property
    def start(self) -> int:
        """The number of rows in front of the cursor."""
        return int(self.after.partition("-")[0]) if self.after else 0

    @property
    def is_compact(self) -> bool:
        """Whether a flag of `FLAGS` was given: it asks for no spaces, and in JSONL for a last line with the cursor."""
        return bool(self.fields or self.max_tokens or self.after)


def add_parts(parser: Parser) -> None:
    """Add the flags; `--limit` only where the command has none."""
    parser.set_defaults(limits_text=parser.has_flag("--limit"))
    group = parser.add_argument_group("parts of the answer, with --format json or jsonl")
    group.add_argument("--fields", type=_fields, default=(), metavar="A,B", help="only these fields of each row")
    if not parser.has_flag("--limit"):
        group.add_argument("--limit", type=_positive, metavar="N", help="at most N rows")
    group.add_argument("--max-tokens", type=_positive, metavar="N", help="as many rows as fit into N tokens")
    group.add_argument("--after", type=_cursor, metavar="CURSOR", help="continue after the `next` of an earlier answer")


def part_of(args: argparse.Namespace, parser: Parser) -> Part | None:
    """Return the part that is asked for, None for a whole answer. Raises `WrongUse` where it is not JSON."""
    limit = args.limit if args.limit != parser.get_default("limit") or args.after or args.max_tokens else None
    part = Part(args.fields, limit, args.max_tokens, args.after or "")
    if not part.is_compact and limit is None:
        return None
    is_data = getattr(args, "format", "text") in DATA_FORMATS
    if not is_data and (part.is_compact or not args.limits_text):
        used_flag = next((flag for flag in FLAGS if getattr(args, flag[2:].replace("-", "_"))), "--limit")
        raise WrongUse(f"{used_flag} is about JSON", hint="add --format json or --format jsonl")
    if is_data and getattr(args, "watch", False):
        raise WrongUse("--watch answers again and again, and a part is of one answer", hint="leave --watch out")
    return part if is_data else None


def put_part(
    run: Callable[[argparse.Namespace, Console], int],
    args: argparse.Namespace,
    console: Console,
    part: Part,
    lists: Lists,
) -> int:
    """Run the command, and print the part of its answer. Return its exit status."""
    import json

    from prosa.render.json import dump

    if part.limit is not None and not lists.last:
        args.limit = part.start + part.limit + 1  # one more says whether there is more
    whole = io.StringIO()
    status = run(args, console.changed(stdout=whole))
    text = whole.getvalue()
    if not text.strip():
        return status
    if args.format == "jsonl":
        rows, cursor = _cut([("", json.loads(line)) for line in text.splitlines()], part)
        more = [{"next": cursor}] if cursor and part.is_compact else []
        console.out("\n".join(dump(row, compact=part.is_compact) for row in [*(row for _, row in rows), *more]))
    else:
        answer = _answer(json.loads(text), part, lists.keys)
        console.out(dump(answer, compact=True) if part.is_compact else dump(answer, indent=2))
    return status


def _answer(document: list[Value] | dict[str, Value], part: Part, keys: Sequence[str]) -> Plain:
    """Return an answer with the part of its lists, and `next` where there is more."""
    from prosa.render.json import dump

    if isinstance(document, list):
        rows, cursor = _cut([("", row) for row in document], part)
        return [row for _, row in rows] + ([{"next": cursor}] if cursor else [])
    lists = {key: items for key in keys if isinstance(items := document.get(key), list)}
    overhead = len(
        dump({name: None if name in lists else value for name, value in document.items()}, compact=True).encode()
    )
    rows, cursor = _cut([(key, row) for key, items in lists.items() for row in items], part, overhead)
    cut = {key: [row for name, row in rows if name == key] for key in lists}
    more = {"more": bool(cursor)} if "more" in document else {}
    return {**document, **cut, **more, **({"next": cursor} if cursor else {})}


def _cut(rows: Sequence[tuple[str, Value]], part: Part, overhead: int = 0) -> tuple[list[tuple[str, Value]], str]:
    """Return the rows of the part with the fields that are asked for, and the cursor behind them, empty at the end.
    ``overhead`` are the bytes of the answer besides its rows. Raises `WrongUse`."""
    from prosa.render.json import dump

    _require_fields(part.fields, [row for _, row in rows])
    start = _start([row for _, row in rows], part.after)
    kept: list[tuple[str, Value]] = []
    room = (part.max_tokens or 0) * BYTES - overhead - CURSOR_BYTES
    for key, row in rows[start:]:
        if len(kept) == part.limit:
            break
        chosen = (
            {name: row[name] for name in part.fields if name in row} if part.fields and isinstance(row, dict) else row
        )
        room -= len(dump(chosen, compact=True).encode()) + 1
        if part.max_tokens and room < 0:
            if not kept:
                raise WrongUse(f"--max-tokens {part.max_tokens}: one row takes more", hint="--fields A,B takes less")
            break
        kept.append((key, chosen))
    end = start + len(kept)
    return kept, f"{end}-{_digest(rows[end - 1][1])}" if end < len(rows) else ""


def _start(rows: Sequence[Value], after: str) -> int:
    """Return the place behind a cursor: where it says, or where its row is now. Raises `WrongUse` for another one."""
    if not after:
        return 0
    places: list[int] = [int(after.partition("-")[0]), *range(1, len(rows) + 1)]
    for end in places:
        if 0 < end <= len(rows) and _digest(rows[end - 1]) == after[-8:]:
            return end
    raise WrongUse(f"--after {after}: {STALE}", hint="begin again without --after")


def _digest(row: Value) -> str:
    """Return what a row is known by: its values except numbers such as scores, which change with the rest."""
    import json

    steady = {key: cell for key, cell in row.items() if not isinstance(cell, float)} if isinstance(row, dict) else row
    return f"{crc32(json.dumps(steady, sort_keys=True).encode()):08x}"


def _require_fields(fields: Sequence[str], rows: Sequence[Value]) -> None:
    known = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row))
    for field in fields:
        if known and field not in known:
            from prosa.diagnostics.nearest import nearest

            near = nearest(field, known)
            hint = f"did you mean {near}?" if near else f"there are: {', '.join(known)}"
            raise WrongUse(f"--fields {field}: no row has this field", hint=hint)


def _fields(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))
    if not names:
        raise argparse.ArgumentTypeError("expected names with commas between them")
    return names


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:9]) <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is not a number from 1 to 1,000,000")
    return int(text)


def _cursor(text: str) -> str:
    number, dash, digest = text.partition("-")
    if not (number.isascii() and number.isdecimal() and dash and len(number) < 9 and len(digest) == 8):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a cursor; `next` of an answer is one")
    return text
