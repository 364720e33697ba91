"""The registry of selectors (Y27): every type there is, one row each, and the one way from a text to a finder."""

from __future__ import annotations

from prosa.dialects.ymj.selectors.fenced import block_id, first_fenced, nth_fenced
from prosa.dialects.ymj.selectors.headings import heading_path, section
from prosa.dialects.ymj.selectors.patterns import between, regex
from prosa.dialects.ymj.selectors.selector import BadSelector, Finder, SelectorType

REGISTRY_VERSION = "0.7"
"""The specification that these types are those of; `section` and `between` come from its registry page."""

SELECTORS: tuple[SelectorType, ...] = (
    SelectorType("first_fenced", "first_fenced:<lang>", first_fenced),
    SelectorType("nth_fenced", "nth_fenced:<lang>:<n>", nth_fenced),
    SelectorType("block_id", "block_id:<id>", block_id),
    SelectorType("section", "section:<heading>", section),
    SelectorType("heading_path", "heading_path:<h1>/<h2> -> fenced:<lang>", heading_path),
    SelectorType("regex", "regex:<pattern>[/flags]", regex, pattern=True),
    SelectorType("between", "between:<start>:<end>", between, pattern=True),
)

MAX_SELECTOR = 2_100
"""Characters of a selector: two patterns and a name."""


class UnknownSelector(ValueError):
    """A selector of a type that is not in the registry; ``name`` is the type."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def selector_type(selector: str) -> SelectorType | None:
    """The row of a selector."""
    name = selector.partition(":")[0].strip()
    return next((row for row in SELECTORS if row.name == name), None)


def prepare(selector: str) -> Finder:
    """The finder of a selector. Raises `UnknownSelector` and `BadSelector`."""
    name, colon, rest = selector.partition(":")
    row = selector_type(selector)
    if row is None:
        raise UnknownSelector(name.strip())
    if not colon or not rest.strip() or len(selector) > MAX_SELECTOR:
        raise BadSelector(f"is written `{row.form}`")
    return row.prepare(rest)
