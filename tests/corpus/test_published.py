"""Which documents may be shown: everything that is unclear counts as what may not be (X6, X23)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.corpus.extract import extract
from prosa.corpus.facets import is_published
from prosa.source import SourceText

RECORD = "---\nymj_spec: 0.5.0\ndoc_summary: tide\nkind: note\n%s---\nbody\n\n```json\n%s\n```\n"
HEAD = "---\n%s---\nThe ferry.\n"


def footer(text: str, head: str = "") -> str:
    return RECORD % (head, text)


SHOWN = {
    "plain": "x",
    "public": HEAD % "visibility: public\n",
    "public in capitals": HEAD % "visibility: PUBLIC # for all\n",
    "quoted": HEAD % "visibility: 'public'\n",
    "null": HEAD % "visibility:\n",
    "empty": HEAD % 'visibility: ""\n',
    "public, front matter broken": HEAD % "visibility: public\ntags: [x\n",
    "classified public": HEAD % "classification: public\n",
    "internal": HEAD % "classification: internal\n",
    "classification null": HEAD % "classification:\n",
    "of the body": HEAD % "title: x\n" + "classification: secret\nvisibility: private\n",
    "example in plain Markdown": '# x\n\n```json\n{"ops":{"visibility":"private"}}\n```\n',
    "another field": HEAD % "camera:\n  visibility: poor\n",
    "a longer name": HEAD % "visibility-range: 3 km\n",
}
HIDDEN = {
    "private": HEAD % "visibility: private\n",
    "friends": HEAD % "visibility: friends\n",
    "list": HEAD % "visibility: [public, private]\n",
    "list of one": HEAD % "visibility: [public]\n",
    "list of private": HEAD % "visibility:\n- private\n",
    "empty list": HEAD % "visibility: []\n",
    "empty mapping": HEAD % "visibility: {}\n",
    "mapping": HEAD % "visibility:\n  role: [crew]\n",
    "role": HEAD % "visibility: role:[crew]\n",
    "boolean": HEAD % "visibility: false\n",
    "number": HEAD % "visibility: 0\n",
    "broken front matter": HEAD % "visibility: private\ntags: [x\n",
    "not closed": "---\nvisibility: private\n",
    "twice": HEAD % "visibility: public\nvisibility: private\n",
    "twice, private first": HEAD % "visibility: private\nvisibility: public\n",
    "another case": HEAD % "Visibility: private\n",
    "quoted key": HEAD % '"visibility": private\n',
    "flow": HEAD % "{visibility: private}\n",
    "other line ends, broken": "---\r\nvisibility: private\r\ntags: [\r\n---\r\n",
    "byte order mark": "\ufeff" + HEAD % "visibility: private\n",
    "classification secret": HEAD % "classification: secret\n",
    "classification confidential": HEAD % "classification: CONFIDENTIAL\n",
    "classification list": HEAD % "classification: [internal]\n",
    "classification list of two": HEAD % "classification: [public, secret]\n",
    "classification block list": HEAD % "classification:\n- public\n- secret\n",
    "classification mapping": HEAD % "classification:\n  level: top\n",
    "classification number": HEAD % "classification: 3\n",
    "classification boolean": HEAD % "classification: true\n",
    "classification quoted": HEAD % 'classification: "Secret "\n',
    "classification escaped": HEAD % 'classification: "se\\x63ret"\n',
    "classification, broken": HEAD % "classification: secret\na: [\n",
    "classification, not closed": "---\nclassification: secret\n",
    "classification twice": HEAD % "classification: public\nclassification: secret\n",
    "classification below": HEAD % "meta:\n  classification: secret\n",
    "classification in words": HEAD % "classification: strictly confidential\n",
    "classification folded": HEAD % "classification: >-\n  secret\n",
    "classification tagged": HEAD % "classification: !!str secret\n",
}
RECORDS_SHOWN = {
    "public": footer('{"index":{},"ops":{"visibility":"public"}}'),
    "nothing said": footer('{"index":{},"ops":{}}'),
    "null": footer('{"index":{},"ops":{"visibility":null}}'),
}
RECORDS_HIDDEN = {
    "private": footer('{"index":{},"ops":{"visibility":"private"}}'),
    "roles": footer('{"index":{},"ops":{"visibility":{"role":["crew"]}}}'),
    "no roles": footer('{"index":{},"ops":{"visibility":{"role":[]}}}'),
    "role as text": footer('{"index":{},"ops":{"visibility":"role:[crew,cook]"}}'),
    "list": footer('{"index":{},"ops":{"visibility":["public","private"]}}'),
    "empty list": footer('{"index":{},"ops":{"visibility":[]}}'),
    "false": footer('{"index":{},"ops":{"visibility":false}}'),
    "header against footer": footer('{"index":{},"ops":{"visibility":"public"}}', "visibility: private\n"),
    "footer against header": footer('{"index":{},"ops":{"visibility":"private"}}', "visibility: public\n"),
    "broken footer": footer('{"index":{},"ops":{"visibility":"private",}}'),
    "unclosed footer": footer('{"index":{},"ops":{"visibility" : "private"}'),
    "twice": footer('{"index":{},"ops":{"visibility":"public","visibility":"private"}}'),
    "no fence": '---\nymj_spec: 0.5.0\n---\nbody\n\n{"ops":{"visibility":"private"}}\n',
    "classified": footer('{"index":{},"ops":{}}', "classification: confidential\n"),
}

CASES = [
    *((name, text, "a.md", True) for name, text in SHOWN.items()),
    *((name, text, "a.md", False) for name, text in HIDDEN.items()),
    *((f"record: {name}", text, "a.ymj", True) for name, text in RECORDS_SHOWN.items()),
    *((f"record: {name}", text, "a.ymj", False) for name, text in RECORDS_HIDDEN.items()),
]


def shown(text: str, path: str = "a.md", *, private: bool = False) -> bool:
    return is_published(extract(SourceText(text, path), path).facets, private=private)


@pytest.mark.parametrize(("text", "path", "expected"), [each[1:] for each in CASES], ids=[each[0] for each in CASES])
def test_x23_ya20_what_may_be_shown(text: str, path: str, expected: bool) -> None:
    """X23, YA20. Own words of a document, as people and broken tools write them."""
    assert shown(text, path) is expected


@pytest.mark.parametrize("text", [text for name, text in HIDDEN.items() if "classification" in name])
def test_x23_what_is_classified_is_shown_to_nobody(text: str) -> None:
    """X23. Neither with `--include-private`."""
    assert not shown(text, private=True)


def test_x23_what_is_private_is_shown_to_those_who_may_see_it() -> None:
    """X23."""
    assert shown(HIDDEN["private"], private=True)
    assert shown(RECORDS_HIDDEN["roles"], "a.ymj", private=True)


@given(
    st.text(alphabet=st.sampled_from("ab:[]{}\"'-#\n\t \r&*!|>%,"), max_size=60), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_x23_a_secret_stays_one_whatever_stands_below_it(noise: str, end: str) -> None:
    """X23, X6. The lines below it may break the front matter in any way."""
    text = f"---\nclassification: secret\n{noise}\n---\nbody\n".replace("\r\n", "\n").replace("\n", end)
    assert not shown(text)
    assert not shown(text.replace("classification: secret", "visibility: private"))
