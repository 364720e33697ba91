"""Every notation as its author wrote it, before and after: quotes, percent-encoding, angle brackets, labels stay."""

from __future__ import annotations

import hashlib
import json

import pytest

from prosa.corpus.moves import MoveRefused, NameRefused
from prosa.dialects.ymj.format import payload_hash
from tests.corpus.moves.store import Texts, after, plan, plan_id

LINKS = [
    # what stands in d/a.md, what stands there after d/old.md became e/new name.md
    ("[t](old.md)", "[t](../e/new%20name.md)"),
    ("[t](./old.md)", "[t](../e/new%20name.md)"),
    ("[t](<old.md>)", "[t](<../e/new name.md>)"),
    ("[t]( <old.md#a b> 'T')", "[t]( <../e/new name.md#a b> 'T')"),
    ("[t](old.md?x=1#y 'T')", "[t](../e/new%20name.md?x=1#y 'T')"),
    ("[t](old%2Emd)", "[t](../e/new%20name.md)"),
    ("[t](..//d/old.md)", "[t](../e/new%20name.md)"),
    ("[t](old)", "[t](../e/new%20name)"),
    ("[t](old.html#x)", "[t](../e/new%20name.html#x)"),
    ("[t](old/)", "[t](../e/new%20name/)"),
    ("![old](old.md)", "![old](../e/new%20name.md)"),
    ("[t][r]\n\n[r]: old.md", "[t][r]\n\n[r]: ../e/new%20name.md"),
    ("[r]\n\n[r]: <old.md>\n  'T'", "[r]\n\n[r]: <../e/new name.md>\n  'T'"),
    ('<a href="old.md#x">t</a>', '<a href="../e/new%20name.md#x">t</a>'),
    ("[[old]]", "[[new name]]"),
    ("![[old]]", "![[new name]]"),
    ("[[ old |l]]", "[[ new name |l]]"),
    ("[[old#h|l]]", "[[new name#h|l]]"),
    ("[[d/old]]", "[[e/new name]]"),
    ("[[old.md]]", "[[new name.md]]"),
    ("[[OLD]]", "[[new name]]"),
    ("| a |\n|---|\n| [[old\\|l]] |", "| a |\n|---|\n| [[new name\\|l]] |"),
    ("`[t](old.md)` and [x](other.md) and <https://example.org/old.md>", None),
    ("```\n[[old]]\n```", None),
    ("<!-- [t](old.md) -->", None),
]


@pytest.mark.parametrize(("written", "expected"), LINKS)
def test_y21_every_link_of_a_body_follows_the_file(written: str, expected: str | None):
    texts = {"d/a.md": f"# A\n\n{written}\n", "d/old.md": "# Old\n"}
    found = after(texts, plan(texts, "d/old.md", "e/new name.md"))
    assert found["d/a.md"] == f"# A\n\n{written if expected is None else expected}\n"


OWN = [
    ("[t](b.md)", "[t](../d/b.md)"),
    ("[t](./b.md)", "[t](../d/b.md)"),
    ("[t](../c.md)", "[t](../c.md)"),
    ("[t](a.md#x)", "[t](moved.md#x)"),
    ("[t](#x)", "[t](#x)"),
    ("![p](img/p%20q.png)", "![p](../d/img/p%20q.png)"),
    ('<img src="img/p q.png">', '<img src="../d/img/p q.png">'),
    ("[t](gone.md)", "[t](../d/gone.md)"),
    ("[t](../../outside.md)", "[t](../../outside.md)"),
    ("[t](/from/root.md)", "[t](/from/root.md)"),
    ("[[b]]", "[[b]]"),
    ("[[a]]", "[[moved]]"),
    ("[r]: b.md", "[r]: ../d/b.md"),
    ("[t](mailto:a@example.org)", "[t](mailto:a@example.org)"),
]


@pytest.mark.parametrize(("written", "expected"), OWN)
def test_the_links_of_the_moved_document_lead_where_they_led(written: str, expected: str):
    texts = {"d/a.md": f"{written}\n", "d/b.md": "# B\n", "c.md": "# C\n"}
    assert after(texts, plan(texts, "d/a.md", "e/moved.md"))["e/moved.md"] == f"{expected}\n"


def test_blanks_for_hyphens_stay_blanks():
    texts = {"a.md": "[[My Note]]\n", "my-note.md": "# M\n"}
    assert after(texts, plan(texts, "my-note.md", "your-own-note.md"))["a.md"] == "[[your own note]]\n"


def test_a_wikilink_names_as_many_folders_as_it_takes():
    texts = {"a.md": "[[x]]\n", "d/x.md": "# X\n", "e/y.md": "# Y\n"}
    assert after(texts, plan(texts, "d/x.md", "f/y.md"))["a.md"] == "[[f/y]]\n"


def test_a_move_that_changes_no_name_writes_no_wikilink():
    texts = {"a.md": "[[x]]\n", "d/x.md": "# X\n"}
    made = plan(texts, "d/x.md", "e/x.md")
    assert made.others == ()
    assert made.count == 0


def magi(name: str, body: str = "") -> str:
    return f"---\ndoc-id: {name}\n---\n{body}"


@pytest.mark.parametrize(
    ("new", "written"),
    [("n1", '"n1"'), ('a"b', '"a\\"b"'), ("a`b", '"a\\u0060b"'), ("ö", '"ö"'), ("a\\b", '"a\\\\b"')],
)
def test_m50_a_relationship_follows_the_doc_id(new: str, written: str):
    data = '{"rel-type": "child", "doc-id" : "old", "rel-desc": "old"}'
    texts = {"a.mda": magi("a", f"t[^1]\n\n[^1]: `{data}`\n"), "b.mda": magi("old")}
    found = after(texts, plan_id(texts, "b.mda", "old", new))
    assert found["a.mda"] == texts["a.mda"].replace('"doc-id" : "old"', f'"doc-id" : {written}')
    assert Texts(found).reading("b.mda").model.doc_id == new


@pytest.mark.parametrize(
    ("front", "new", "expected"),
    [
        ("doc-id: old", "n", "doc-id: n"),
        ("doc-id: 'old' # c", "it's", "doc-id: 'it''s' # c"),
        ('doc-id: "old"', 'a"b', 'doc-id: "a\\"b"'),
        ("doc-id: old", "null", 'doc-id: "null"'),
        ("doc-id: old", "12", 'doc-id: "12"'),
        ("doc-id: old", "a: b", 'doc-id: "a: b"'),
        ("doc-id: old", "#x", 'doc-id: "#x"'),
    ],
)
def test_an_id_is_quoted_as_it_needs(front: str, new: str, expected: str):
    texts = {"b.mda": f"---\n{front}\ntitle: T\n---\n"}
    assert after(texts, plan_id(texts, "b.mda", "old", new))["b.mda"] == f"---\n{expected}\ntitle: T\n---\n"


def node(name: str, links: str = "", body: str = "") -> str:
    return f"---\nid: {name}\ntype: page\ntitle: T\n{links}---\n{body}"


def test_h4_h10_the_links_of_a_node_follow_its_id_and_its_url():
    links = "links:\n  - {rel: next, target: svc:old}\n  - rel: up\n    target: 'url:/d/old?x=1'\n"
    links += "  - {rel: x, href: ../d/old}\n"
    body = "[a](/d/old) [b](../d/old#f) [c](/d/old.md) [d](/d/old.json) [e](/node/svc:old)"
    body += " [f](https://example.org/d/old)\n"
    texts = {"index.md": node("home"), "e/a.md": node("a", links, body), "d/old.md": node("svc:old")}
    by_id = after(texts, plan_id(texts, "d/old.md", "svc:old", "svc:new"))["e/a.md"]
    assert by_id == texts["e/a.md"].replace("target: svc:old", "target: svc:new").replace(
        "/node/svc:old", "/node/svc:new"
    )
    by_path = after(texts, plan(texts, "d/old.md", "f/new.md"))["e/a.md"]
    for before, now in [
        ("'url:/d/old?x=1'", "'url:/f/new?x=1'"),
        ("href: ../d/old}", "href: ../f/new}"),
        ("[a](/d/old)", "[a](/f/new)"),
        ("[b](../d/old#f)", "[b](../f/new#f)"),
        ("[c](/d/old.md)", "[c](/f/new.md)"),
        ("[d](/d/old.json)", "[d](/f/new.json)"),
    ]:
        assert before in texts["e/a.md"]
        assert now in by_path
    assert "[e](/node/svc:old) [f](https://example.org/d/old)" in by_path
    home = after(texts, plan(texts, "d/old.md", "f/index.md"))["e/a.md"]
    assert "[a](/f/)" in home or "[a](/f)" in home


def program(name: str, imports: str = "") -> str:
    return f"---\nname: {name}\n{imports}input: {{type: object}}\noutput: {{type: object}}\n---\nhi\n"


def test_l28_imports_follow_a_program():
    imports = "imports:\n  - ./lib/old.md\n  - 'lib/old.md'\n  - \"lib/old.md\" # why\n"
    texts = {"main.md": program("main", imports), "lib/old.md": program("old")}
    made = plan(texts, "lib/old.md", "new: lib.md")
    wanted = 'imports:\n  - "./new: lib.md"\n  - \'./new: lib.md\'\n  - "./new: lib.md" # why\n'
    found = (
        after(texts, made)["main.md"].replace("'new: lib.md'", "'./new: lib.md'").replace('"new: lib', '"./new: lib')
    )
    assert found == program("main", wanted)
    simple = after(texts, plan(texts, "lib/old.md", "lib/new.md"))["main.md"]
    assert simple == texts["main.md"].replace("old.md", "new.md")


def test_a_program_that_is_called_otherwise_is_a_note():
    texts = {"main.md": program("main", "imports: [old.md]\n"), "old.md": program("old")}
    notes = plan_id(texts, "old.md", "old", "new").notes
    assert [note.message for note in notes] == [
        "the program was called `old` and will be called `new`",
        "it imports the program: its text may still say `old`",
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("% include old.md", "% include new.md"),
        ('% include "old.md"', '% include "new.md"'),
        ("% include.code old.md md", "% include.code new.md md"),
    ],
)
def test_p10_a_chat_includes_the_file_at_its_new_place(written: str, expected: str):
    texts = {"chat.md": f"### @user:\n\n{written}\n", "old.md": "x\n"}
    assert after(texts, plan(texts, "old.md", "new.md"))["chat.md"] == f"### @user:\n\n{expected}\n"
    spaced = after(texts, plan(texts, "old.md", "d/new one.md"))["chat.md"]
    assert '"d/new one.md"' in spaced


def record(edges: list[str], body: str, uri: str) -> str:
    footer = {
        "payload_hash": "0" * 64,
        "ops": {"graph": {"edges": [{"type": "related", "to": to} for to in edges]}, "attachments": [{"uri": uri}]},
    }
    head = f"---\ndoc_summary: s\nattachments:\n  - uri: {uri}\n    note: n\n---\n"
    text = f"{head}{body}\n\n```json\n{json.dumps(footer, indent=1)}\n```\n"
    found = Texts({}).reread("r.ymj", text).model
    return text.replace("0" * 64, found.body_sha256)


def test_y21_y31_x22_edges_attachments_and_the_hash_of_a_record_follow():
    texts = {
        "d/r.ymj": record(["old", "[[old|l]]", "./old.md#h", "d/old.md"], "See [[old]].", "old.md"),
        "d/old.md": "# O\n",
    }
    found = after(texts, plan(texts, "d/old.md", "e/new one.md"))["d/r.ymj"]
    model = Texts({}).reread("d/r.ymj", found).model
    edges = [each["to"] for each in model.footer_value["ops"]["graph"]["edges"]]
    assert edges == ["new one", "[[new one|l]]", "../e/new one.md#h", "e/new one.md"]
    assert [each.uri for each in model.attachments] == ["../e/new%20one.md"]
    assert [each.source for each in model.attachments] == ["both"]
    assert payload_hash(model).state == "matches"
    assert "See [[new one]]." in found


def test_x22_a_hash_that_did_not_match_stays_as_it_is():
    text = record(["x"], "See [[old]].", "data.csv").replace("See [[old]].", "See [[old]]!")
    texts = {"r.ymj": text, "old.md": "# O\n"}
    model = Texts({}).reread("r.ymj", after(texts, plan(texts, "old.md", "new.md"))["r.ymj"]).model
    assert payload_hash(model).state == "differs"
    assert payload_hash(model).text == payload_hash(Texts(texts).reading("r.ymj").model).text


def test_a_record_that_moves_takes_its_attachments_along():
    texts = {"d/r.ymj": record(["x"], "b", "img/a%20b.png"), "d/s.ymj": record(["x"], "b", "file:img/c.png")}
    assert "uri: ../d/img/a%20b.png" in after(texts, plan(texts, "d/r.ymj", "e/r.ymj"))["e/r.ymj"]
    assert "uri: file:../d/img/c.png" in after(texts, plan(texts, "d/s.ymj", "e/s.ymj"))["e/s.ymj"]


@pytest.mark.parametrize(
    ("texts", "path", "new", "words"),
    [
        ({"a.md": "[[x]]\n", "d/x.md": "", "b.md": ""}, "b.md", "e/x.md", r"another reference leads: a\.md:1 \(`x`\)"),
        ({"a.md": "[[y]]\n", "t.md": "---\ntitle: y\n---\n", "b.md": ""}, "b.md", "y.md", r"where another reference"),
        ({"a.md": "[[x]]\n", "d/x.md": "", "b.md": "", "e/x.md": ""}, "b.md", "x.md", r"where another reference"),
        ({"a.md": "[[b]]\n", "b.md": ""}, "b.md", "a|b.md", r"a\.md:1: the reference `b` has no way to name"),
        ({"e/a.md": "[[b]]\n", "b.md": "", "e/c.md": ""}, "b.md", "c.md", r"after the move: `c` leads to e/c\.md"),
        (
            {"d/a.md": "[[b]]\n", "b.md": "", "d/index.md": "", "e/index.md": ""},
            "b.md",
            "index.md",
            r"a\.md:1: the reference `b` has no way to name the document after the move: `index` leads to d/index\.md",
        ),
        ({"a.mda": magi("a")}, "a.mda", "a.md", r"is read as MAGI document, and at a\.md .* as Markdown document"),
    ],
)
def test_ya21_a_move_that_would_change_other_references_is_refused(
    texts: dict[str, str], path: str, new: str, words: str
):
    if "e/x.md" in texts:  # `[[x]]` of a.md is ambiguous until one lies beside it: nothing is led astray
        assert [note.message for note in plan(texts, path, new).notes] == ["`x` was ambiguous and will lead to x.md"]
        return
    with pytest.raises(MoveRefused, match=words):
        plan(texts, path, new)


def test_a_reference_that_led_nowhere_may_find_the_document_and_is_noted():
    texts = {"a.md": "[t](new.md) [[new]]\n", "old.md": "# O\n"}
    made = plan(texts, "old.md", "new.md")
    assert [(note.path, note.line, note.message) for note in made.notes] == [
        ("a.md", 1, "`new.md` led to no document and will lead to new.md"),
        ("a.md", 1, "`new` led to no document and will lead to new.md"),
    ]


@pytest.mark.parametrize("new", ["a", "old", "", " x", "x\n", "x" * 600, "plain.md"])
def test_h20_an_id_that_is_taken_or_no_name_is_refused(new: str):
    texts = {"a.mda": magi("a"), "b.mda": magi("old"), "plain.md": "# P\n"}
    with pytest.raises(NameRefused):
        plan_id(texts, "b.mda", "old", new)


def test_ha20_a_node_refuses_an_id_that_its_reader_would_not_take():
    texts = {"index.md": node("home")}
    with pytest.raises(MoveRefused, match="identifier-form"):
        plan_id(texts, "index.md", "home", "two words")


def attaching(uri: str, text: str, where: str = "yaml") -> str:
    """A record that attaches a document with its hash, in the header or in the footer."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    header = f"doc_summary: s\nattachments:\n  - uri: {uri}\n"
    header += f"    sha256: {digest.upper()}\n" if where == "yaml" else ""
    footer = {"schema": "s", "ops": {"attachments": [{"uri": uri, **({"sha256": digest} if where == "json" else {})}]}}
    return f"---\n{header}---\nb\n\n```json\n{json.dumps(footer)}\n```\n"


@pytest.mark.parametrize("where", ["yaml", "json"])
def test_x22_the_hashes_of_attached_documents_stay_true(where: str):
    note = "[b](b.md)\n"
    inner = attaching("note.md", note, where)
    texts = {"note.md": note, "b.md": "# B\n", "inner.ymj": inner, "outer.ymj": attaching("inner.ymj", inner)}
    found = after(texts, plan(texts, "b.md", "d/new.md"))
    assert found["note.md"] == "[b](d/new.md)\n"
    for path, attached in (("inner.ymj", "note.md"), ("outer.ymj", "inner.ymj")):
        (each,) = Texts(found).reading(path).model.attachments
        assert each.sha256.lower() == hashlib.sha256(found[attached].encode()).hexdigest()


def test_x22_a_hash_of_an_attachment_that_was_wrong_stays_wrong_and_circles_end():
    note = "[b](b.md)\n"
    wrong = attaching("note.md", "other")
    texts = {"note.md": note, "b.md": "# B\n", "r.ymj": wrong}
    assert after(texts, plan(texts, "b.md", "new.md"))["r.ymj"] == wrong
    one = attaching("two.ymj", "")
    two = attaching("one.ymj", one).replace("\nb\n", "\n[b](b.md)\n")
    circle = {"one.ymj": attaching("two.ymj", two), "two.ymj": two, "b.md": "# B\n"}
    assert "[b](new.md)" in after(circle, plan(circle, "b.md", "new.md"))["two.ymj"]


def test_x21_a_link_of_a_node_is_decoded_once():
    """A file whose name has a sign of URLs in it is the one that a link with that sign encoded leads to."""
    front = "---\nid: {}\ntype: page\ntitle: T\nlinks:\n  - {{rel: next, target: 'url:/q%231'}}\n---\n"
    node = f"{front}[a](q%231.md) [b](/q%231)\n"
    texts = {"q#1.md": node.format("one"), "a.md": node.format("two")}
    written = after(texts, plan(texts, "q#1.md", "new.md"))
    assert written["a.md"] == node.format("two").replace("q%231", "new")
