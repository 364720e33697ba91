"""How fast a site is copied: `prosa visit --crawl` beside a loop of httpx2 that asks for as many pages.

In: a running server, and the URLs of its pages. Out: the rows. Both are whole processes over one loopback server, which
has answered every page before. `python -m bench.serve_crawl FILE` is the loop.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.measure import Process, Row, process, python
from bench.serve_child import Child
from bench.serve_http import HOST

PAGES, RUNS = 1_000, 3
BARE = "httpx2, one page after the other"


def crawl_rows(child: Child, place: Path, environ: Mapping[str, str], paths: Sequence[str]) -> Iterator[Row]:
    """Pages a second, and the processors of one page. The loop only reads; a crawl follows links and writes files."""
    root, folder = f"http://{HOST}:{child.port}", place / "copy"
    file = place / "urls.json"
    asked = [f"{root}{path}" for path in paths[:PAGES]]
    file.write_text(json.dumps(asked), encoding="utf-8")
    crawl = python("-m", "prosa", "visit", f"{root}/", "--crawl", str(folder), "--max-pages", str(len(asked)))
    loop = python("-m", "bench.serve_crawl", str(file))
    found: dict[str, list[Process]] = {"crawl": [], "loop": []}
    for turn in range(RUNS + 1):
        shutil.rmtree(folder, ignore_errors=True)
        for name, command in (("crawl", crawl), ("loop", loop)):
            ran = process(command, environ)
            if turn:
                found[name].append(ran)
    own, base = (_each(found[name], len(asked)) for name in ("crawl", "loop"))
    what = f"serve, visit --crawl, {len(asked):,} pages"
    yield Row(f"{what}, pages a second", own[0], "/s", BARE, base[0])
    yield Row(f"{what}, CPU of one page", own[1], "ms", BARE, base[1])


def _each(ran: Sequence[Process], pages: int) -> tuple[float, float]:
    """Pages a second, and the milliseconds of processors of one page, starting the process included."""
    wall, used = (statistics.median(each) for each in zip(*((each.wall, each.used) for each in ran), strict=True))
    return pages * 1000 / wall, used / pages


def main(file: Path) -> None:
    """Ask for every URL of a list, over one connection."""
    import httpx2

    with httpx2.Client(headers={"accept": "text/markdown"}) as client:
        for url in json.loads(file.read_text(encoding="utf-8")):
            client.get(url).raise_for_status()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
