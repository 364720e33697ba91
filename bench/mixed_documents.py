"""One generated document of each dialect, two to six kilobytes each. In: a `Place`. Out: its text.

A flawed document has exactly one finding of `prosa check`; every other one has none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from uuid import UUID

from bench.prose import TOPICS, Tongue, paragraph, sentence, title, tongue


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document stands: the ``index``-th of ``count`` of its kind, so that it can point at others. With ``rare``
    it has words that are not in every document."""

    seed: int
    index: int
    count: int
    flawed: bool
    rare: bool = False

    def rng(self) -> Random:
        """Return the randomness of this document alone."""
        return Random(f"{self.seed}:{self.index}:{self.count}")

    def other(self, rng: Random) -> int:
        """Return the index of any document of its kind."""
        return rng.randrange(self.count)

    def tongue(self, rng: Random) -> Tongue:
        """Return the language of this document."""
        return tongue(rng)._replace(rare=self.rare)


def plain(place: Place) -> str:
    """Return a page with links to other pages and to their sections, a footnote, a table, code and a picture."""
    rng = place.rng()
    words = place.tongue(rng)
    head = ""
    if place.index % 2:
        head = f'---\ntitle: "{title(rng, words)}"\nlang: {words.tag}\ntags: [{rng.choice(TOPICS)}, pages]\n---\n\n'
    links = [f"[{title(rng, words)}](../{page_path(place.other(rng))}#further-reading)" for _ in range(3)]
    if place.flawed:
        links.append("[a page that never was](../part-00/no-such-page.md)")
    parts = [
        f"{head}# {title(rng, words)} {place.index}\n",
        paragraph(rng, words) + f"See {links[0]} and its note[^1].\n",
        *(_section(rng, words, number) for number in range(1, rng.randint(4, 7))),
        "## Further reading\n",
        "".join(f"- {link}\n" for link in links[1:]),
        f"[^1]: {sentence(rng, words)}\n",
    ]
    return "\n".join(parts)


def magi(place: Place) -> str:
    """Return a document with all common fields, an ai-script block and two relationships."""
    rng = place.rng()
    words = place.tongue(rng)
    notes = {"link": _relationship(place, rng, "related"), "root": _relationship(place, rng, "extends")}
    flaw = _js({"rel-type": "related", "source-url": "https://example.org/", "rel-desc": "Bare"})
    parts = [
        _magi_front(place, rng, words),
        f"# {title(rng, words)} {place.index}\n",
        paragraph(rng, words) + "It belongs to a series[^link], which has a beginning[^root].\n",
        *(_section(rng, words, number) for number in range(1, rng.randint(3, 5))),
        f"```ai-script\n{_js(_script(place, rng, words), indent=2)}\n```\n",
        "".join(f"[^{label}]: `{_js(note)}`\n" for label, note in notes.items()),
        *([f"And one more[^bare].\n\n[^bare]: {flaw}\n"] if place.flawed else []),
    ]
    return "\n".join(parts)


def ymj(place: Place) -> str:
    """Return a record in Strict form with its hash, wikilinks to two others and a few directives."""
    rng = place.rng()
    words = place.tongue(rng)
    links = f"See [[{record_stem(place.other(rng))}]] and [[{record_stem(place.other(rng))}|the other one]].\n"
    sections = [_section(rng, words, number) for number in range(1, rng.randint(4, 6))]
    summary = sentence(rng, words)
    body = "\n".join([f"# {title(rng, words)}\n", f"{summary}\n{paragraph(rng, words)}", links, *sections])
    digest = hashlib.sha256((body + "." if place.flawed else body).encode()).hexdigest()
    footer = {
        "schema": "1",
        "payload_hash": digest,
        "index": {"tags": [rng.choice(TOPICS), "records"]},
        "ops": {"body_format": "markdown", "visibility": "public", "priority": rng.choice(("low", "normal", "high"))},
    }
    head = {
        "doc_summary": summary,
        "kind": "note",
        "version": "1.0.0",
        "subject": f"{title(rng, words)} {place.index}",
        "maintained_by": "Timetable office",
        "ymj_spec": "0.7",
        "created": "2026-01-15",
        "language": words.tag,
    }
    yaml = "".join(f"{key}: {_js(value)}\n" for key, value in head.items())
    return f"---\n{yaml}---\n{body}```json\n{_js(footer, indent=2)}\n```\n"


def mdh(place: Place) -> str:
    """Return a node of a site with a search action, linked to other nodes by id and inline."""
    rng = place.rng()
    words = place.tongue(rng)
    related = place.other(rng)
    lines = [
        f"id: node-{place.index}",
        "type: page",
        f"title: {_js(f'{title(rng, words)} {place.index}')}",
        f"tags: [{rng.choice(TOPICS)}, nodes]",
        "updated: 2026-02-03T08:30:00Z",
        "links:",
        "  - {rel: part_of, target: node-0}",
        f"  - {{rel: related, target: node-{related}}}",
        "actions:",
        f"  - id: find-{place.index}",
        f"    title: {_js(sentence(rng, words))}",
        f"    method: {'get' if place.flawed else 'GET'}",
        f"    url: /api/{rng.choice(TOPICS)}/{place.index}",
        "    accept: application/json",
        "    auth: {type: none}",
        "    query: {required: [q], optional: [page_size]}",
    ]
    target = related if related else place.count - 1
    inline = f"Read [{title(rng, words)}]({node_url(target)}) too.\n"
    sections = [_section(rng, words, number) for number in range(1, rng.randint(3, 6))]
    head = "\n".join(lines)
    return "\n".join([f"---\n{head}\n---\n", f"# {title(rng, words)}\n", paragraph(rng, words) + inline, *sections])


def prapti(place: Place) -> str:
    """Return a chat of a few turns with configuration lines."""
    rng = place.rng()
    words = place.tongue(rng)
    parts = [
        f"% temperature = 0.{rng.randint(1, 9)}\n% max_tokens = {rng.randint(2, 40) * 100}\n",
        f"### @system:\n\n{paragraph(rng, words)}",
    ]
    for turn in range(rng.randint(3, 6)):
        colon = "" if place.flawed and not turn else ":"
        parts += [f"### @user{colon}\n\n{paragraph(rng, words)}", f"### @assistant:\n\n{paragraph(rng, words)}"]
        parts.append(_code(rng, words) if turn % 2 else paragraph(rng, words))
    return "\n".join([*parts, f"### @user:\n\n{sentence(rng, words)}\n"])


def program(place: Place) -> str:
    """Return a program that takes a text and gives findings, and says at length how."""
    rng = place.rng()
    words = place.tongue(rng)
    head = f"""\
---
name: program-{place.index}
description: {_js(sentence(rng, words))}
input:
  type: object
  properties:
    text: {{ type: string, minLength: 1 }}
    tone: {{ type: string, enum: [plain, formal] }}
  required: [text, tone]
  additionalProperties: false
output:
  type: object
  properties:
    findings:
      type: array
      items: {{ type: string }}
    score: {{ type: number, minimum: 0, maximum: 1 }}
  required: [findings, score]
  additionalProperties: false
---
"""
    name = "nobody" if place.flawed else "text"
    use = f'{{{{ if eq .tone "formal" }}}}{sentence(rng, words)}{{{{ end }}}}\n\n> {{{{ .{name} }}}}\n'
    use += "\n{{ .text }}\n" if place.flawed else ""
    sections = [_section(rng, words, number) for number in range(1, rng.randint(3, 6))]
    return "\n".join([head, f"# {title(rng, words)}\n", paragraph(rng, words), *sections, use])


def skill(place: Place) -> str:
    """Return an Agent Skill."""
    rng = place.rng()
    words = place.tongue(rng)
    name = f"another-{place.index}" if place.flawed else skill_name(place.index)
    sections = [_section(rng, words, number) for number in range(1, rng.randint(4, 7))]
    lines = ", ".join(f"{place.index}{letter}" for letter in "ABCDE")  # no two skills are for the same
    description = _js(f"{sentence(rng, words)} Use it for timetables of the lines {lines}.")
    head = f"---\nname: {name}\ndescription: {description}\n---\n"
    return "\n".join([head, f"# {title(rng, words)}\n", paragraph(rng, words), *sections])


def page_path(index: int) -> str:
    """Return a page, from the folder of all pages."""
    return f"part-{index // 100:02}/page-{index}.md"


def record_stem(index: int) -> str:
    """Return the file name of a record without its suffix."""
    return f"record-{index}"


def node_path(index: int) -> str:
    """Return a node, from the root of its site; the first one is the home page."""
    return f"area-{index // 100:02}/node-{index}.md" if index else "index.md"


def node_url(index: int) -> str:
    """Return where a node is served."""
    return f"/{node_path(index).removesuffix('.md')}"


def skill_name(index: int) -> str:
    """Return the name of a skill, and of its folder."""
    return f"skill-{index}"


PATHS: dict[Callable[[Place], str], Callable[[int], str]] = {
    plain: lambda index: f"pages/{page_path(index)}",
    magi: lambda index: f"series/volume-{index // 100:02}/document-{index}.mda",
    ymj: lambda index: f"records/{record_stem(index)}.ymj",
    mdh: lambda index: f"site/{node_path(index)}",
    prapti: lambda index: f"chats/chat-{index}.md",
    program: lambda index: f"programs/program-{index}.md",
    skill: lambda index: f"skills/{skill_name(index)}/SKILL.md",
}
"""Where the documents of each kind lie."""


def _magi_front(place: Place, rng: Random, words: Tongue) -> str:
    lines = {
        "doc-id": _doc_id(place.seed, place.index),
        "title": f"{title(rng, words)} {place.index}",
        "description": sentence(rng, words),
        "author": "Timetable office",
        "tags": [rng.choice(TOPICS), "series"],
        "created-date": f"2026-0{rng.randint(1, 9)}-15T09:00:00Z",
        "audience": ["readers"],
        "purpose": "reference",
    }
    return "---\n" + "".join(f"{key}: {_js(value)}\n" for key, value in lines.items()) + "---\n"


def _script(place: Place, rng: Random, words: Tongue) -> Mapping[str, object]:
    return {
        "script-id": f"summary-{place.index}",
        "prompt": sentence(rng, words),
        "priority": rng.choice(("low", "medium", "high")),
        "auto-run": False,
        "parameters": {"temperature": 0.3},
        "output-format": "markdown",
    }


def _relationship(place: Place, rng: Random, rel: str) -> Mapping[str, object]:
    target = _doc_id(place.seed, place.other(rng))
    return {"rel-type": rel, "doc-id": target, "rel-desc": "Of the same series", "rel-strength": rng.randint(1, 9) / 10}


def _doc_id(seed: int, index: int) -> str:
    return str(UUID(int=Random(f"id:{seed}:{index}").getrandbits(128), version=4))


def _section(rng: Random, words: Tongue, number: int) -> str:
    """Return a heading with a paragraph and now and then a list, a table, code or a quotation under it."""
    block = rng.choice((_list, _table, _quotation, _code, paragraph))(rng, words)
    return f"## {title(rng, words)} {number}\n\n{paragraph(rng, words)}\n{block}"


def _list(rng: Random, words: Tongue) -> str:
    return "".join(f"{at}. {sentence(rng, words)}\n" for at in range(1, rng.randint(3, 7)))


def _table(rng: Random, words: Tongue) -> str:
    rows = "".join(f"| {rng.choice(TOPICS)} | {sentence(rng, words)} |\n" for _ in range(rng.randint(2, 6)))
    return f"| what | note |\n|---|---|\n{rows}"


def _quotation(rng: Random, words: Tongue) -> str:
    return "".join(f"> {sentence(rng, words)}\n" for _ in range(rng.randint(2, 4)))


def _code(rng: Random, words: Tongue) -> str:
    """Return code, with a comment in the language of the document."""
    comment = title(rng, words)
    lines = "".join(f"    total += {rng.choice(TOPICS)}[{at}]  # {comment}\n" for at in range(rng.randint(3, 9)))
    return f"```python\ndef {rng.choice(TOPICS)}(total):\n{lines}    return total\n```\n"


def _js(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
