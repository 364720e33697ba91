"""The suites of JSON Schema, CommonMark, GFM, `.gitignore` files and dotprompt."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyromark
import yaml

from prosa.adapters.files.walk import ignored_in
from prosa.convert.dotprompt import from_picoschema
from prosa.convert.handlebars import from_handlebars
from prosa.document import parse
from prosa.document.walk import OPTIONS
from prosa.schema import Schema, SchemaError
from prosa.source import SourceText
from prosa.template import Template, TemplateError
from tests.document.claims import check_claims
from tests.document.test_commonmark import plain
from tests.suites.suite import Outcome, stated_version

EXAMPLE = re.compile(r"^`{32} example(.*)\n((?:.*\n)*?)\.\n((?:.*\n)*?)`{32}$", re.MULTILINE)


def json_schema(place: Path) -> Outcome:
    """Validate every instance of draft 2020-12, without what the draft leaves to implementations."""
    total, wrong = 0, []
    for file in sorted((place / "tests" / "draft2020-12").glob("*.json")):
        for group in json.loads(file.read_text(encoding="utf-8")):
            for test in group["tests"]:
                total += 1
                if _is_valid(group["schema"], test["data"]) is not test["valid"]:
                    wrong.append(f"{file.stem}: {group['description']}: {test['description']}")
    return Outcome(stated_version(place), total, tuple(wrong))


def _is_valid(schema: Any, instance: Any) -> bool | None:
    try:
        return not Schema(schema).problems(instance)
    except SchemaError:
        return None


def commonmark(place: Path) -> Outcome:
    """Read every example of the specification: the HTML is the one it states, and every span holds what it claims."""
    return _specification(place / "spec.txt", None)


def gfm(place: Path) -> Outcome:
    """Read every example of GitHub's specification as Prosa reads documents."""
    return _specification(place / "test" / "spec.txt", OPTIONS)


def _specification(file: Path, options: Any) -> Outcome:
    text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
    total, wrong = 0, []
    for number, (kind, markdown, html) in enumerate(EXAMPLE.findall(text), 1):
        if "disabled" in kind:
            continue
        total += 1
        markdown, html = markdown.replace("→", "\t"), html.replace("→", "\t")
        check_claims(parse(SourceText(markdown)))
        made = pyromark.html(markdown) if options is None else pyromark.html(markdown, options=options)
        if _alike(made) != _alike(html):
            wrong.append(f"{kind.strip() or 'example'} {number}: {markdown.strip()[:60]!r}")
    version = re.search(r"^version: ['\"]?([\w.-]+)", text, re.MULTILINE)
    return Outcome(f"{version[1] if version else ''} ({stated_version(_top(file))})", total, tuple(wrong))


def _top(file: Path) -> Path:
    return next(each for each in file.parents if (each / "VERSION").is_file() or each.name in ("commonmark", "gfm"))


def _alike(html: str) -> str:
    """Return HTML without differences that mean nothing: white space between blocks, and the order of attributes."""
    html = re.sub(r"<input ([^>]*?)/?>", lambda tag: f"<input {' '.join(sorted(tag[1].split()))}>", plain(html))
    html = re.sub(r' align="(\w+)"', r' style="text-align: \1"', html).replace('=""', "")
    return re.sub(r"\s*(</?(?:table|thead|tbody|tr|td|th|ul|ol|li|p|del)\b[^>]*>)\s*", r"\1", html).strip()


ROLES = {"model": "assistant"}
IGNORED = re.compile(
    r"^\s*(not_ignored|ignored)!\(\s*(\w+),\s*(ROOT|\"[^\"]*\"),\s*(r?\"(?:\\.|[^\"\\])*\"),\s*(\"[^\"]*\")"
    r"(?:,\s*(true|false))?,?\s*\);",
    re.MULTILINE,
)


def gitignore(place: Path) -> Outcome:
    """Ask which paths a `.gitignore` hides: the cases of the `ignore` crate, which follows git."""
    text = (place / "crates" / "ignore" / "src" / "gitignore.rs").read_text(encoding="utf-8")
    wrong, cases = [], list(_ignore_cases(text))
    for name, patterns, path, is_folder, expected in cases:
        with TemporaryDirectory() as folder:
            top = os.path.realpath(folder)
            os.mkdir(os.path.join(top, ".git"))
            Path(top, ".gitignore").write_text(patterns, encoding="utf-8")
            if ignored_in(top).ignores(os.path.join(top, path), is_folder=is_folder) is not expected:
                wrong.append(f"{name}: {patterns!r} and {path}")
    return Outcome(stated_version(place), len(cases), tuple(wrong))


def _ignore_cases(text: str) -> Iterator[tuple[str, str, str, bool, bool]]:
    for kind, name, root, patterns, path, is_folder in IGNORED.findall(text):
        raw = patterns.startswith("r")
        content = patterns[2:-1] if raw else patterns[1:-1].replace("\\n", "\n").replace("\\\\", "\\")
        below = os.path.normpath(path.strip('"'))
        base = "" if root == "ROOT" else os.path.normpath(root.strip('"'))
        below = os.path.relpath(below, base) if base not in ("", ".") and below.startswith(base) else below
        yield name, content, below, is_folder == "true", kind == "ignored"


def dotprompt(place: Path) -> Outcome:
    """Render every prompt of the specification as the program that Prosa makes of it, and read its schemas."""
    total, wrong = 0, []
    for file in sorted((place / "spec").rglob("*.yaml")):
        for group in yaml.safe_load(file.read_text(encoding="utf-8")):
            for test in group["tests"]:
                total += 1
                if not _says_the_same(group, test):
                    wrong.append(f"{file.stem}: {group['name']}: {test.get('desc', '')}")
    return Outcome(stated_version(place), total, tuple(wrong))


def _says_the_same(group: dict[str, Any], test: dict[str, Any]) -> bool:
    expected = test["expect"]
    front, body = _parts(group["template"])
    for part in ("input", "output"):
        short, schema = (front.get(part) or {}).get("schema"), (expected.get(part) or {}).get("schema")
        if schema is not None and short is not None and from_picoschema(short) != schema:
            return False
    options = test.get("options") or {}
    values = {**(front.get("input") or {}).get("default", {}), **(options.get("input") or {}).get("default", {})}
    given = (test.get("data") or {}).get("input") or {}
    if expected.get("messages") is None:
        return True
    messages = [(ROLES.get(each["role"], each["role"]), each["content"]) for each in expected["messages"]]
    said, _, unknown = from_handlebars(body)
    if unknown:
        return False
    try:
        texts = [(each.role or "user", Template(each.text).render({**values, **given})) for each in said]
    except TemplateError:
        return False
    made = [(role, [{"text": text}]) for role, text in texts if text.strip()]
    return [_trimmed(each) for each in made] == [_trimmed(each) for each in messages]


def _trimmed(message: tuple[str, Any]) -> tuple[str, Any]:
    role, content = message
    return role, [
        {key: each.strip() if isinstance(each, str) else each for key, each in part.items()} for part in content
    ]


def _parts(template: str) -> tuple[dict[str, Any], str]:
    found = re.match(r"\A(?:[ \t]*(?:#.*)?\n)*---\n(.*?)---\n?(.*)\Z", template.replace("\r\n", "\n"), re.DOTALL)
    if found is None:
        return {}, template
    front = yaml.safe_load(found[1])
    return (front if isinstance(front, dict) else {}), found[2]
