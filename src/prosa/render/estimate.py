"""What a run may cost, as lines for people.

In: the key `estimate` of a plan, plain data. Out: a table, and what bounds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from prosa.data import Value
from prosa.render.plain import safe

HEAD = ("cost", "calls", "tokens in", "out", "dollars")
COLUMNS = ("calls", "tokens_in", "tokens_out")


def estimate_lines(estimate: Mapping[str, Value]) -> list[str]:
    """Return the table, then its bounds, the most effective savings, and what no number includes."""
    rows = [HEAD, ("  at least", *_cells(estimate["at_least"]))]
    if likely := estimate["likely"]:
        rows.append(("  likely", *map(_with_p95, _cells(likely["median"]), _cells(likely["p95"]))))
    if most := estimate["at_most"]:
        rows.append(("  at most", *_cells(most)))
    return [*_aligned(rows), *(safe(f"  {line}") for line in _reasons(estimate))]


def _cells(amount: Mapping[str, Value]) -> list[str]:
    return [*(f"{amount[name]:,}" for name in COLUMNS), _dollars(amount["dollars"])]


def _with_p95(middle: str, high: str) -> str:
    return middle if middle == high else f"{middle} ({high})"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    for row in rows:
        yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _reasons(estimate: Mapping[str, Value]) -> Iterator[str]:
    first = estimate["first_call"]
    about = "" if first["exact"] else "~"
    known = "" if first["rendered"] else ", without what depends on the input"
    yield f"the first call has {about}{first['tokens_in']:,} tokens of text{known}"
    cap, worst = estimate["max_cost"], first["dollars_at_most"]
    if cap is not None and worst is not None and worst > cap:
        yield f"--max-cost {cap:g} may not hold even that: it may cost ${_dollars(worst)}"
    if likely := estimate["likely"]:
        runs = f"{likely['runs']:,} run{'' if likely['runs'] == 1 else 's'}"
        yield f"likely: the median of {runs} of this version (in parentheses what 19 of 20 stayed below)"
    if estimate["unbounded"]:
        yield f"at most: no bound: {estimate['unbounded']}"
    elif most := estimate["at_most"]:
        yield from _bounds(estimate, most)
    for name in estimate["unknown_prices"]:
        yield f'no price of {name} is known: not counted, and --max-cost refuses it; prices."{name}" in your settings'


def _bounds(estimate: Mapping[str, Value], most: Mapping[str, Value]) -> Iterator[str]:
    own, part, lower = estimate["own"], estimate["import"], estimate["lower"]
    window = "" if estimate["context"] is None else f" with a context of {estimate['context']:,} tokens"
    calls = f"{own['calls']:,} call{'' if own['calls'] == 1 else 's'}"
    yield f"at most: {calls}{window}, {estimate['output']:,} tokens out in each: {_priced(own['dollars'])}"
    if part and part["times"]:
        each = part["dollars"]
        product = "" if each is None else f" × ${_dollars(each)} = ${_dollars(_times(each, part['times']))}"
        yield f"+ {part['program']}: {part['times']:,}{product}"
    if lower:
        limit = f"`limits: {{{lower['limit']}: {lower['value']}}}`"
        yield f"{limit} in all its programs makes it {_priced(lower['dollars'])}"
    if estimate["max_cost"] is not None and most["dollars"] == estimate["max_cost"]:
        yield f"--max-cost {estimate['max_cost']:g} ends it before that"
    if estimate["retries"]:
        yield f"a call that fails may be billed too, and is tried again up to {estimate['retries']} times"


def _times(each: Value, times: Value) -> float:
    return float(Decimal(str(each)) * int(times))


def _priced(amount: Value) -> str:
    return "no known price" if amount is None else f"${_dollars(amount)}"


def _dollars(amount: Value) -> str:
    """Dollars for a table: cents from a dollar on, else two significant digits."""
    if amount is None:
        return "unknown"
    if amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.{max(4, 1 - _exponent(amount))}f}" if amount else "0"


def _exponent(amount: float) -> int:
    return Decimal(str(amount)).adjusted()
