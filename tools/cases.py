"""Write `conformance/generated` from the examples in the pages of rules: `python -m tools.cases`.

An example with an error is a document that is rejected, where the error is; one without is accepted. What only Prosa
asks for is no case: `SOURCES` names the pages whose rule a specification states, and where.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from prosa.document import parse
from prosa.rules.registry import rule_named
from prosa.source import SourceText

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "src" / "prosa" / "rules" / "docs"
OUT = ROOT / "conformance" / "generated"


class Source(NamedTuple):
    """The format and the rule that a page of a rule belongs to, and the level of that rule."""

    format: str
    rule: str
    level: str = "must"


SOURCES = {
    "script-syntax": Source("magi", "2/object"),
    "relationship-syntax": Source("magi", "3/object"),
    "relationship-without-target": Source("magi", "3/target"),
    "scalar-for-list": Source("magi", "1/lists"),
    "duplicate-script-id": Source("magi", "2/unique-id", "should"),
    "missing-doc-id": Source("magi", "1/doc-id", "should"),
    "relationship-object": Source("magi", "1/relationships", "should"),
    "misspelt-script-fence": Source("magi", "2/identifier"),
    "missing-header": Source("ymj", "5/missing-header"),
    "missing-footer": Source("ymj", "5/missing-footer"),
    "footer-syntax": Source("ymj", "5/invalid-footer"),
    "second-header": Source("ymj", "10/one-header"),
    "text-after-footer": Source("ymj", "4/footer-last"),
    "summary-too-long": Source("ymj", "10/summary-length"),
    "summary-on-several-lines": Source("ymj", "10/summary-line"),
    "summary-not-second": Source("ymj", "4/summary-first", "should"),
    "identity-mirror": Source("ymj", "4/mirrors"),
    "unusual-footer-fence": Source("ymj", "14/strict-fences"),
    "payload-mime-mismatch": Source("ymj", "4/payload-mime"),
    "missing-selector-target": Source("ymj", "13/target", "should"),
    "missing-payload-hash": Source("ymj", "4/payload-hash"),
    "missing-description": Source("markdownlang", "front-matter-fields/required"),
    "missing-output": Source("markdownlang", "front-matter-fields/required"),
    "missing-front-matter": Source("markdownlang", "program-structure/two-parts"),
    "bad-schema": Source("markdownlang", "json-schema-requirements/draft"),
    "schema-without-type": Source("markdownlang", "json-schema-requirements/type"),
    "server-without-transport": Source("markdownlang", "server-configuration/transport"),
    "server-with-two-transports": Source("markdownlang", "server-configuration/transport"),
    "server-url-scheme": Source("markdownlang", "transport-types/url-scheme"),
    "template-syntax": Source("markdownlang", "interpolation-syntax/go"),
    "unknown-import": Source("markdownlang", "front-matter-fields/imports"),
    "node-without-front-matter": Source("mdh", "5.1/front-matter"),
    "cross-origin-action": Source("mdh", "8.1/url"),
    "bad-jsonpath": Source("mdh", "9.1/jsonpath", "should"),
    "message-heading-text": Source("prapti", "message-headings/other-headings"),
    "message-heading-colon": Source("prapti", "message-headings/colon"),
    "configuration-in-code": Source("prapti", "future-directions/fences", "may"),
    "unknown-role": Source("prapti", "message-headings/role"),
}


def cases() -> dict[str, list[str]]:
    """Return the lines of each format."""
    lines: dict[str, list[str]] = {}
    for page, source in SOURCES.items():
        seen: list[tuple[str, bool]] = []
        for example in _examples(page):
            key = (example.text, example.strict)
            if key not in seen:
                seen.append(key)
                lines.setdefault(source.format, []).append(_line(f"{page}-{len(seen)}", source, example))
    return lines


class Example(NamedTuple):
    """A document of a page, whether it is read strictly, and the line of its first error."""

    text: str
    strict: bool
    line: int | None


def _examples(page: str) -> Iterator[Example]:
    """Yield the examples that are one document, read as what its page is about."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    documents: list[str] = []
    for fence in parse(SourceText(text)).fences:
        content = "".join(piece.of(text) for piece in fence.content)
        words = fence.info.split() or [""]
        if words[0] == "diagnostics":
            flags = {word for word in words[1:] if not word.startswith("as=")}
            if len(documents) == 1 and flags <= {"strict"} and documents[0]:
                yield Example(documents[0], "strict" in flags, _first_error(content, rule_named(page).code))
            documents = []
        elif words[0] == "generate" or len(words) > 2:
            documents += ["", ""]
        elif len(words) > 1:
            documents.append(content)


def _first_error(expected: str, code: str) -> int | None:
    """Return the line of the first error; 0, which is no place, where errors of other rules stand as well."""
    errors = [line.split(" ", 4) for line in expected.splitlines() if line.split(" ", 4)[3] == "error"]
    if any(each[2] != code for each in errors):
        return 0
    return int(errors[0][1].split(":")[0]) if errors else None


def _line(name: str, source: Source, example: Example) -> str:
    case = {
        "id": f"{source.format}-{name}",
        "rule": source.rule,
        "level": source.level,
        "op": "read",
        "input": {"text": example.text, **({"mode": "strict"} if example.strict else {})},
        "expect": {"result": {}} if example.line is None else {"error": {"line": example.line} if example.line else {}},
    }
    return json.dumps(case, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files."""
    OUT.mkdir(exist_ok=True)
    for name, lines in cases().items():
        (OUT / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
