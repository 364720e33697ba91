"""Small corpora for properties: documents of every dialect in a few folders, pointing at each other in every notation,
under names that are awkward on purpose."""

from __future__ import annotations

import json
import posixpath
from urllib.parse import quote

from hypothesis import strategies as st

FOLDERS = ("", "d", "d/e", "D 2", "ü")
STEMS = ("a", "b c", "b-c", "A", "index", "x(1)", "100%", "q#1", "dot.v1", "&amp;", "ö", "it's", "readme")
KINDS = ("plain", "magi", "ymj", "mdh", "program", "chat")
SUFFIX = {"magi": ".mda", "ymj": ".ymj"}


@st.composite
def paths(draw: st.DrawFn, suffix: str) -> str:
    return posixpath.join(draw(st.sampled_from(FOLDERS)), draw(st.sampled_from(STEMS)) + suffix)


@st.composite
def corpora(draw: st.DrawFn) -> dict[str, str]:
    """Texts by path; two to six documents."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=6))
    named: dict[str, str] = {}
    for kind in kinds:
        named.setdefault(draw(paths(SUFFIX.get(kind, ".md"))), kind)
    ids = {path: draw(st.sampled_from([f"id{number}", f"x/{number}", "same"])) for number, path in enumerate(named)}
    return {path: draw(document(path, kind, list(named), ids)) for path, kind in named.items()}


@st.composite
def document(draw: st.DrawFn, path: str, kind: str, others: list[str], ids: dict[str, str]) -> str:
    targets = draw(st.lists(st.sampled_from(others), max_size=4))
    inline = [draw(body_link(path, target)) for target in targets]
    target = draw(st.sampled_from(others))
    named = ids[path]
    body = f"# {draw(st.sampled_from(['Title', 'a', named]))}\n\n" + "\n\n".join(inline) + "\n"
    match kind:
        case "magi":
            data = {"rel-type": "supports", "doc-id": ids[target], "rel-desc": "x", "rel-strength": 0.5}
            return f"---\ndoc-id: {quoted(draw, named)}\n---\n{body}\nt[^1]\n\n[^1]: `{json.dumps(data)}`\n"
        case "ymj":
            to = draw(st.sampled_from([stem(target), f"[[{stem(target)}|x]]", relative(path, target), "nowhere"]))
            uri = quote(relative(path, target)) if draw(st.booleans()) else "img/data.csv"
            footer = {
                "schema": "https://example.org/s",
                "ops": {"graph": {"edges": [{"type": "related", "to": to}]}, "attachments": [{"uri": uri}]},
            }
            head = f"---\ndoc_summary: s\nattachments:\n  - uri: {json.dumps(uri)}\n---\n"
            return f"{head}{body}\n```json\n{json.dumps(footer)}\n```\n"
        case "mdh":
            url = draw(st.sampled_from([ids[target], "url:/" + quote(target.removesuffix(".md")), "url:./gone"]))
            front = f"id: {quoted(draw, named)}\ntype: page\ntitle: T\n"
            links = f"links:\n  - {{rel: next, target: {json.dumps(url)}}}\n"
            return f"---\n{front}{links}---\n{body}[n](/node/{quote(ids[target])})\n"
        case "program":
            imports = json.dumps([f"./{relative(path, target)}", relative(path, target)])
            shape = "input: {type: object}\noutput: {type: object}\n"
            return f"---\nname: {quoted(draw, named)}\nimports: {imports}\n{shape}---\n{body}"
        case "chat":
            name = relative(path, target)
            written = json.dumps(name) if " " in name or draw(st.booleans()) else name
            return f"### @user:\n\n% include {written}\n\n{body}"
        case _:
            return body


@st.composite
def body_link(draw: st.DrawFn, path: str, target: str) -> str:
    """A link of the body to a document, or to something that is none."""
    href = draw(st.sampled_from(["", "./"])) + relative(path, target)
    page = href.removesuffix(".md")
    name = stem(target)
    return draw(
        st.sampled_from(
            [
                f"[t]({quote(href, safe='/.()')})",
                f"[t]({quote(href)}?q=1#frag 'title')",
                f"[t](<{href.replace('%', '%25').replace('#', '%23').replace('&', '%26')}#f>)",
                f"[t]({quote(page)}) and [t]({quote(page)}.html) and [t]({quote(page)}/)",
                f"[t][r] and [r]\n\n[r]: {quote(href)} 'x'",
                f"![i]({quote(href)}) and ![i](img/p.png) and [f](../data.csv)",
                f'<a href="{quote(href)}">x</a> and <img src="img/p.png">',
                f"[[{name}]] and [[{name}|label]] and [[{name}#part|l]]",
                f"[[{target.removesuffix('.md')}]] and ![[{posixpath.basename(target)}]]",
                f"[[{name.replace('-', ' ')}]] and [[gone]] and [[Title]]",
                "[t](missing.md) and [t](https://example.org/a.md) and [t](#own) and `[[code]]`",
            ]
        )
    )


def quoted(draw: st.DrawFn, text: str) -> str:
    return draw(st.sampled_from([text, f"'{text}'", f'"{text}"', f"{text} # comment"]))


def stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def relative(path: str, target: str) -> str:
    return posixpath.relpath(f"/{target}", f"/{posixpath.dirname(path)}")
