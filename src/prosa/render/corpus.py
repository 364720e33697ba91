"""Hits of a search and the numbers of a corpus, for people and as objects with keys in a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from prosa.corpus.search import Hit
from prosa.corpus.statistics import Statistics
from prosa.data import Value
from prosa.render.plain import safe

_RESET = "\x1b[0m"
_PLACE = "\x1b[1m"
_MARK = "\x1b[1;31m"
_DIM = "\x1b[2m"

BETWEEN = " › "


def hit_object(hit: Hit, file: str) -> dict[str, Value]:
    """Return one hit. ``path`` is relative to the root of the corpus, ``file`` as seen from where the command runs;
    ``marks`` are pairs of offsets in the snippet."""
    return {
        "path": hit.path,
        "line": hit.line,
        "column": hit.column,
        "end_line": hit.end_line,
        "node": hit.node,
        "dialect": hit.dialect,
        "title": hit.title,
        "heading": hit.heading,
        "anchor": hit.anchor,
        "score": float(f"{hit.score:.6g}"),
        "snippet": hit.snippet,
        "marks": [list(mark) for mark in hit.marks],
        "file": file,
    }


def render_hits(hits: Sequence[Hit], shown: Callable[[str], str], *, color: bool = False, verbose: bool = False) -> str:
    """Return two lines for each hit: its place with title and headings, and the snippet. ``shown`` names a path for
    people."""
    return "\n".join(line for hit in hits for line in _lines(hit, shown(hit.path), color, verbose))


def _lines(hit: Hit, path: str, color: bool, verbose: bool) -> Iterator[str]:
    place = _paint(f"{safe(path)}:{hit.line}:{hit.column}", _PLACE, color)
    score = _paint(f"  ({hit.score:.3g}, {hit.dialect})", _DIM, color) if verbose else ""
    yield f"{place}  {safe(_names(hit))}{score}".rstrip()
    if hit.snippet:
        yield f"    {_marked(hit, color)}"


def _names(hit: Hit) -> str:
    """Return title and headings, without repeating a first heading that is the title."""
    if not hit.title or hit.heading == hit.title or hit.heading.startswith(hit.title + BETWEEN):
        return hit.heading or hit.title
    return hit.title + (BETWEEN + hit.heading if hit.heading else "")


def _marked(hit: Hit, color: bool) -> str:
    """Return the snippet with what matched in colour. `safe` keeps every character in its place."""
    text = safe(hit.snippet)
    if not color:
        return text
    parts, at = [], 0
    for start, end in hit.marks:
        parts += [text[at:start], _paint(text[start:end], _MARK, color)]
        at = end
    return "".join((*parts, text[at:]))


def _paint(text: str, code: str, color: bool) -> str:
    return f"{code}{text}{_RESET}" if color else text


MAX_NAMES = 12
"""Rels that are listed for people; the others are counted together."""

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def render_statistics(statistics: Statistics, root: str, now_ns: int, shown: Callable[[str], str]) -> str:
    """Return a tree: documents by dialect, edges by notation, by rel and by state, the most linked documents."""
    counts = ((statistics.documents, "document"), (statistics.sections, "section"), (statistics.words, "word"))
    head = [
        safe(root),
        f"  {', '.join(_many(count, noun) for count, noun in counts)}",
        f"  index: {_size(statistics.size)}, {_age(statistics.changed_ns, now_ns)}",
    ]
    groups = [
        ("documents", statistics.dialects),
        ("edges by origin", statistics.origins),
        ("edges by rel", _few({name or "(none)": count for name, count in statistics.rels.items()})),
        ("edges by state", statistics.states),
        ("vectors", {"sections and documents": statistics.embeddings} if statistics.embeddings else {}),
        ("orphans", {"documents that no other points at": statistics.orphans} if statistics.orphans else {}),
        ("most linked", {shown(linked.node.path): linked.count for linked in statistics.linked}),
    ]
    blocks = [_block(name, counts) for name, counts in groups if counts]
    return "\n".join([*head, *(line for block in blocks for line in ("", *block))])


def statistics_object(statistics: Statistics, root: str, index: str, now_ns: int) -> dict[str, Value]:
    """Return the same as plain data. ``age`` is the seconds since the index changed, null where it never did."""
    return {
        "root": root,
        "index": index,
        "size": statistics.size,
        "age": round((now_ns - statistics.changed_ns) / 1e9, 3) if statistics.changed_ns else None,
        "documents": statistics.documents,
        "sections": statistics.sections,
        "words": statistics.words,
        "embeddings": statistics.embeddings,
        "dialects": dict(statistics.dialects),
        "edges": {
            "total": statistics.edges,
            "origin": dict(statistics.origins),
            "rel": {name: count for name, count in statistics.rels.items() if name},
            "state": dict(statistics.states),
        },
        "orphans": statistics.orphans,
        "most_linked": [
            {"id": linked.node.id, "path": linked.node.path, "title": linked.node.title, "count": linked.count}
            for linked in statistics.linked
        ],
    }


def _block(name: str, counts: Mapping[str, int]) -> list[str]:
    numbers = {safe(key): f"{count:,}" for key, count in counts.items()}
    size = max(map(len, numbers.values()))
    return [name, *(f"  {number:>{size}}  {key}" for key, number in numbers.items())]


def _few(counts: Mapping[str, int]) -> dict[str, int]:
    items = list(counts.items())
    rest = sum(count for _, count in items[MAX_NAMES:])
    return dict(items[:MAX_NAMES]) | ({f"({len(items) - MAX_NAMES} others)": rest} if rest else {})


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _size(size: int) -> str:
    return f"{size / 2**20:,.1f} MB" if size >= 2**20 else f"{size / 2**10:,.0f} KB"


def _age(then_ns: int, now_ns: int) -> str:
    if not then_ns:
        return "never made"
    seconds = max(0, (now_ns - then_ns) // 10**9)
    name, size = next(((name, size) for name, size in _UNITS if seconds >= size), ("second", 1))
    return f"last changed {_many(seconds // size, name)} ago" if seconds else "last changed just now"
