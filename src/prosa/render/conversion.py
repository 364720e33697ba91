"""What conversions did, in words: a line for each part that is not simply kept, and a count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prosa.convert.neutral import LEVELS, Report
from prosa.data import Value


def report_lines(report: Report) -> Iterator[str]:
    """Yield `path:line: level: what` for each item, then how many parts came to what."""
    for item in report.items:
        to = f" ({item.to})" if item.to else ""
        yield f"{item.path}:{item.line}: {item.level}: {item.message}{to}"
    counts = [(level, sum(item.level == level for item in report.items)) for level in LEVELS]
    yield ", ".join((f"{report.kept} kept", *(f"{count} {level}" for level, count in counts if count)))


def reports_data(reports: Iterable[Report]) -> dict[str, Value]:
    """Return all reports of one command as one."""
    all_of = tuple(reports)
    return Report(
        sum(report.kept for report in all_of), tuple(item for report in all_of for item in report.items)
    ).data()
