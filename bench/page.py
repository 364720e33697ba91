"""`docs/benchmarks.md`, made of the results alone: ratios first, then who is compared, growth, and every section.

In: results. Out: the page and the pictures of growth beside it. The same results give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bench.pictures import Line, growth
from bench.results import Measured, Results
from bench.row import Row
from bench.sections import DEFAULT, HEADLINES, PEERS, SECTIONS
from prosa.adapters.files import replace_file

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "benchmarks.md"
PICTURES = "pictures/growth-"
SMALLEST = 0.001
"""A smaller ratio says no more than this one."""
_DOCUMENTS, _BRACKETS, _NUMBER = re.compile(r"([\d,]+) documents"), re.compile(r" \([^)]*\)"), re.compile(r"\d[\d,]*")

INTRO = """\
# Benchmarks

Every figure stands beside a baseline that was measured in the same run, in turn with it. Trust the ratios: absolute
figures belong to one machine. `0.50x` is half the time or memory of the baseline; of rates, which end in `/s`, more is
better. An aim that is missed says so. `make bench` writes this page.
"""

METHOD = """\
## Method

- Figures are medians of runs in turn: Prosa, then each of the others, then Prosa again, so that a machine that slows
  down slows all of them. The slowest contenders run less often, at least once.
- *Wall* is the time until a process has ended. *CPU* and *processors* are the time of all its processes together, which
  other work on the machine changes less. *Instructions* are counted by valgrind, where it is installed.
- Byte code is compiled before anything is measured, as an installation has it. Files are in the file cache of the
  system.
- Others run with their defaults, from exact versions with hashes, in environments of their own below the user's cache
  folder.
- Of rows that differ in their number of documents only, the table has those of the most; `bench/results.json` has all.
- An aim is what was asked for before the work began. It is judged by the figures of this page, at the load given with
  them.

```sh
make bench    # installs what is compared, measures the default sections, writes this page
```

`bench/README.md` in the repository tells how to measure one section, and how a new row gets here.
"""


def write(results: Results) -> None:
    """Replace the pictures and, last, the page."""
    for name, picture in pictures(results).items():
        file = FILE.parent / name
        if not file.is_file() or file.read_text(encoding="utf-8") != picture:
            replace_file(file, picture)
    replace_file(FILE, text(results))


def text(results: Results) -> str:
    """Return the page."""
    parts = [
        INTRO,
        *_headlines(results),
        *_aims(results),
        *_where(results),
        *_peers(results),
        *_growth(results),
        METHOD,
    ]
    for name in SECTIONS:
        parts += _section(name, results)
    return re.sub(r"(?m)^(- .*\n)\n(?=- )", r"\1", "\n".join(part.rstrip("\n") + "\n" for part in parts))


def pictures(results: Results) -> dict[str, str]:
    """Return every picture of growth by its path beside the page."""
    return {
        f"{PICTURES}{slug}.svg": growth(slug, f"{series}, {rows[0].unit}", rows[0].unit, _lines(rows))
        for series, rows in _series(results).items()
        for slug in (_slug(series),)
    }


def _headlines(results: Results) -> Iterator[str]:
    lines, linked = [], set[str]()
    for name, words in HEADLINES:
        for row in _largest(_rows(results, name)):
            if words in row.what and row.ratio is not None:
                section = name if name in linked else f"[{name}](#{_anchor(name)})"
                lines.append(f"| {_what(row)} | {_ratio(row)} | {row.baseline} | {section} |")
                linked.add(name)
    if lines:
        yield "## At a glance\n\n| what | ratio | of | section |\n|---|--:|---|---|\n" + "\n".join(lines) + "\n"


def _aims(results: Results) -> Iterator[str]:
    """Count the aims that are met, and name the others."""
    judged = {
        (name, row.what, row.aim): row for name in SECTIONS for row in _rows(results, name) if row.met() is not None
    }
    missed = [(name, row) for (name, *_), row in judged.items() if row.met() is False]
    if judged:
        yield f"Of {len(judged)} aims that figures can judge, {len(judged) - len(missed)} are met.\n"
    if missed:
        yield "Missed:\n\n" + "".join(
            f"- `{name}`: {'; '.join(_missed(row) for section, row in missed if section == name)}\n"
            for name in dict.fromkeys(name for name, _ in missed)
        )


def _missed(row: Row) -> str:
    """Return a row with its figure and its aim, and with what the aim compares it with."""
    compares = row.ratio and ("x" in row.aim or "more" in row.aim)
    beside = f", {_ratio(row)} {row.baseline}" if compares else ""
    return f"{_what(row)}: {_figure(row.value)} {row.unit}{beside} (aim: {row.aim})"


def _where(results: Results) -> Iterator[str]:
    """Say on which machines, when, under which load, and what was not run."""
    yield "## Where and when\n"
    machines: dict[str, list[str]] = {}
    for name in SECTIONS:
        if each := results.sections.get(name):
            machines.setdefault(each.machine.title, []).append(name)
    yield from (f"- {title}: {_listed(names)}\n" for title, names in machines.items())
    known = [each for each in results.sections.values() if each.rows]
    if known:
        days = sorted({each.when[:10] for each in known})
        loads = [load for each in known for load in each.load]
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        minutes = sum(each.seconds for name, each in results.sections.items() if name in DEFAULT) / 60
        yield f"- {span}, at a load of {min(loads)} to {max(loads)}; its default sections took {minutes:.0f} minutes\n"
    for name, section in SECTIONS.items():
        if name not in results.sections:
            yield f"- not run: `{name}` ({section.title}){f', as {section.asked}' if section.asked else ''}\n"
        elif results.sections[name].failed:
            older = "; its figures are those of before" if results.sections[name].rows else ""
            yield f"- `{name}` failed in the last run: {results.sections[name].failed}{older}\n"


def _peers(results: Results) -> Iterator[str]:
    versions: dict[str, str] = {}
    absent: dict[str, str] = {}
    for name in SECTIONS:
        if each := results.sections.get(name):
            versions |= each.versions
            absent |= {peer: f"{reason} (`{name}`)" for peer, reason in each.absent.items()}
    yield "## What is compared\n"
    found = [f"{peer} {version}" for peer, version in sorted(versions.items())]
    yield f"- measured: {_listed(found) if found else 'none of the others'}\n"
    yield from (f"- left out: {peer}: {reason}\n" for peer, reason in sorted(absent.items()))
    never = [peer for peer in PEERS if peer not in versions and peer not in absent]
    if never:
        yield f"- not asked for: {_listed(never)}\n"


def _growth(results: Results) -> Iterator[str]:
    found = _series(results)
    if not found:
        return
    yield "## Growth\n\nAn exponent of 1.00, fitted over all sizes, is a cost in proportion to the size.\n"
    for series, rows in found.items():
        lines = _lines(rows)
        told = "; ".join(_grows(line) for line in lines)
        sizes = f"from {lines[0].points[0][0]:,.0f} to {lines[0].points[-1][0]:,.0f}"
        words = f"{series}, in {rows[0].unit}, {sizes}: {told}"
        yield f"![{words}]({PICTURES}{_slug(series)}.svg)\n\n{series}: {told}.\n"


def _grows(line: Line) -> str:
    first, last = line.points[0], line.points[-1]
    power = f", exponent {line.exponent:.2f}" if line.exponent is not None else ""
    return f"{line.name} {_figure(first[1])} to {_figure(last[1])}{power}"


def _series(results: Results) -> dict[str, list[Row]]:
    """Return the rows of each series that has more than one size."""
    found: dict[str, list[Row]] = {}
    for name in SECTIONS:
        for row in _rows(results, name):
            if row.series:
                found.setdefault(row.series, []).append(row)
    return {series: rows for series, rows in found.items() if len({row.size for row in rows}) > 1}


def _lines(rows: Iterable[Row]) -> list[Line]:
    points: dict[str, dict[float, float]] = {"prosa": {}}
    for row in rows:
        points["prosa"][row.size] = row.value
        if row.base is not None:
            points.setdefault(row.baseline, {})[row.size] = row.base
    return [Line(name, tuple(sorted(each.items()))) for name, each in points.items()]


def _section(name: str, results: Results) -> Iterator[str]:
    section, each = SECTIONS[name], results.sections.get(name)
    yield f"## {name}: {section.title}\n\n{section.about}\n"
    if each is None or not each.rows:
        why = each.failed if each else section.asked
        yield f"Not run{f': {why}' if why else ''}.\n"
        return
    taken = f"{each.seconds / 60:.1f} minutes" if each.seconds >= 90 else f"{each.seconds:.0f} s"
    yield f"{each.when}, {taken}, load {each.load[0]} before and {each.load[1]} after.\n"
    yield "| what | ratio and baseline | Prosa | aim |\n|---|---|--:|---|\n" + "".join(_table(each))


def _table(each: Measured) -> Iterator[str]:
    """Yield a line for each figure, with all its baselines."""
    groups: dict[tuple[str, float], list[Row]] = {}
    for row in _largest(each.rows):
        groups.setdefault((row.what, row.value), []).append(row)
    for (_, value), rows in groups.items():
        beside = "; ".join(_beside(row, each.absent) for row in rows if row.baseline)
        aims = dict.fromkeys(filter(None, map(_aim, rows)))
        yield f"| {_what(rows[0])} | {beside} | {_figure(value)} {rows[0].unit} | {'; '.join(aims)} |\n".replace(
            "  ", " "
        )


def _largest(rows: Iterable[Row]) -> list[Row]:
    """Return the rows, of those that differ in their number of documents the ones of the most.

    The others are in the results, and in the pictures where they have a series.
    """
    sizes: dict[tuple[str, str], int] = {}
    found = [(row, *_sized(row)) for row in rows]
    for _, kind, size in found:
        sizes[kind] = max(size, sizes.get(kind, 0))
    return [row for row, kind, size in found if size == sizes[kind]]


def _sized(row: Row) -> tuple[tuple[str, str], int]:
    """Return what a row is about, without its numbers and what is in brackets, and its number of documents."""
    found = _DOCUMENTS.search(row.what)
    if found is None:
        return (row.what, row.baseline), 0
    plain = _NUMBER.sub("", _BRACKETS.sub("", row.what))
    return (plain, row.baseline), int(found[1].replace(",", ""))


def _beside(row: Row, absent: Mapping[str, str]) -> str:
    if row.base is None:
        out = any(row.baseline.startswith(peer) for peer in absent)
        return f"{row.baseline}: {'left out' if out else 'not measured'}"
    shown = _figure(row.base)
    return f"**{_ratio(row)}** {row.baseline} ({shown})" if row.base else f"{row.baseline}: {shown}"


def _what(row: Row) -> str:
    return row.what.strip().replace("|", "\\|")


def _ratio(row: Row) -> str:
    ratio = row.ratio or 0
    if 0 < ratio < SMALLEST:
        return f"< {SMALLEST}x"
    return f"{ratio:.2f}x" if ratio >= 0.095 else f"{ratio:.2g}x"


def _aim(row: Row) -> str:
    met = row.met()
    return f"{ {True: 'met: ', False: '**missed**: ', None: ''}[met] }{row.aim}" if row.aim else ""


def _figure(value: float) -> str:
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.2g}"


def _rows(results: Results, name: str) -> list[Row]:
    each = results.sections.get(name)
    return each.rows if each else []


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _anchor(name: str) -> str:
    from prosa.document.anchors import slug

    return slug(f"{name}: {SECTIONS[name].title}")
