"""Doors agree: the command line and Python give the same answer to the same question (X30)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import prosa
from prosa.cli.main import main
from prosa.dialects.table import DIALECTS, DOCUMENT_SUFFIXES
from prosa.render.json import render_json
from prosa.source import FileProblem
from tests.cli.desk import desk
from tests.depth import DEEP
from tests.rules.literate import Example, examples, pages

ONE, TWO = "7d0c9d0e-0f0b-4d3a-8a55-1f2e3d4c5b6a", "0b8d8e52-0000-4c55-9d1a-52f1c1a2b3c4"


def refers(doc_id: str, target: str) -> str:
    """A document that points at another one by its id."""
    head = f"---\ndoc-id: {doc_id}\n---\n" if doc_id else ""
    return f'{head}See[^1].\n\n[^1]: `{{"rel-type": "child", "doc-id": "{target}", "rel-desc": "why"}}`\n'


def asked(argv: list[str], home: Path) -> tuple[int, str, str]:
    """The status and the words of a command."""
    at = desk(environ={"HOME": str(home)})
    status = main(argv, at.console)
    return status, at.out, at.err


def checked(paths: list[str], home: Path, flags: tuple[str, ...] = ()) -> object:
    status, out, err = asked(["check", "--format", "json", "--no-cache", "--jobs", "1", *flags, *paths], home)
    assert err == ""
    found = json.loads(out)
    assert status == int(any(each["severity"] == "error" for each in found["diagnostics"]))
    return found["diagnostics"]


def in_python(paths: list[str], **options: object) -> object:
    return json.loads(render_json(prosa.check(paths, **options), 0))["diagnostics"]


def written(example: Example, folder: Path) -> list[str]:
    """The documents of an example as files; those that are checked, for settings alone an empty one beside them."""
    names = []
    for name, text in example.documents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff\xfe" if text is None else str.encode(text, "utf-8", "surrogatepass"))
        if not name.endswith(".toml"):
            names.append(name)
    if not names:
        (folder / "main.md").write_text("")
        names.append("main.md")
    return names


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_x30_every_example_of_a_rule_gets_the_same_answer_at_both_doors(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """X30. A document alone, beside the others; or the folder as a whole, for every second example; `make test-deep`
    checks each in both ways. Each example is a project, and a door checks all that have the same flags at once."""
    monkeypatch.chdir(tmp_path)
    alike: dict[tuple[str | None, bool], tuple[list[str], list[str]]] = {}
    for number, example in enumerate(examples(page.read_text("utf-8"))):
        (tmp_path / str(number) / ".git").mkdir(parents=True)
        names = written(example, tmp_path / str(number))
        # A folder without a document is nothing to check: the command line says so, and Python gives an empty list.
        has_documents = any(name.endswith(DOCUMENT_SUFFIXES) for name in names)
        dialect = next((flag[3:] for flag in example.flags if flag.startswith("as=")), None)
        documents, folders = alike.setdefault((dialect, "strict" in example.flags), ([], []))
        as_a_whole = has_documents and (number + len(page.stem)) % 2 == 0
        if DEEP or not as_a_whole:
            documents.append(f"{number}/{names[0]}")
        if as_a_whole or (DEEP and has_documents):
            folders.append(str(number))
    for (dialect, strict), (documents, folders) in alike.items():
        flags = (*(("--as", dialect) if dialect else ()), *(("--strict",) if strict else ()))
        for paths in filter(None, (documents, folders) if DEEP else (documents + folders,)):
            assert in_python(paths, dialect=dialect, strict=strict or None) == checked(paths, tmp_path, flags)


def test_x30_python_obeys_the_settings_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X30, X7. What `prosa.toml` ignores is ignored, and what is wrong in it is said first."""
    monkeypatch.chdir(tmp_path)
    Path("a.mda").write_text(refers("", TWO))
    Path("b.mda").write_text(f"---\ndoc-id: {TWO[:-1]}5\n---\n")
    Path("prosa.toml").write_text("")
    assert [each.rule for each in prosa.check("a.mda")] == ["missing-doc-id", "unknown-doc-id"]
    Path("prosa.toml").write_text('ignore = ["missing-doc-id", "MG048"]\nstrcit = true\n')
    assert [each.rule for each in prosa.check(".")] == ["unknown-setting"]
    assert prosa.load("a.mda").diagnostics == ()
    assert in_python(["a.mda"]) == checked(["a.mda"], tmp_path)


def test_x30_python_knows_what_lies_beside_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X30. A reference to a document that was not named is no unknown one."""
    monkeypatch.chdir(tmp_path)
    Path(".git").mkdir()
    Path("one.mda").write_text(refers(ONE, TWO))
    Path("two.mda").write_text(refers(TWO, ONE.replace("a", "b")))
    assert prosa.check("one.mda") == [] == checked(["one.mda"], tmp_path)
    assert prosa.load("one.mda").diagnostics == ()
    assert [each.rule for each in prosa.check("two.mda")] == ["unknown-doc-id"]
    assert in_python(["."]) == checked(["."], tmp_path)


@pytest.mark.parametrize(("options", "flags"), [
    ({"select": ["missing-doc-id"]}, ("--select", "missing-doc-id")),
    ({"select": "MG"}, ("--select", "MG")),
    ({"ignore": ["MG048"]}, ("--ignore", "MG048")),
    ({"strict": True}, ("--strict",)),
    ({"strict": False}, ("--permissive",)),
    ({"dialect": "plain"}, ("--as", "plain")),
    ({"root": "inner"}, ("--root", "inner")),
    ({"max_size": 10}, ("--max-size", "10")),
    ({"gitignore": False}, ("--no-gitignore",)),
    ({"jobs": 2, "cache": True}, ()),
], ids=str)  # fmt: skip
def test_x30_every_option_means_the_same(
    options: dict[str, object], flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("inner").mkdir()
    Path(".gitignore").write_text("hidden.mda\n")
    Path("prosa.toml").write_text('strict = true\n[per-glob."*.md"]\nignore = ["unresolved-link"]\n')
    for name in ("a.mda", "b.md", "inner/c.mda", "hidden.mda"):
        Path(name).write_text(f"{refers('', TWO)}\n[away](nowhere.md) <!-- prosa: allow MG9 -->\n")
    found = in_python(["."], **options)
    assert found == checked(["."], tmp_path, flags)
    assert found


def test_x30_what_is_not_there_is_refused_in_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X30. A path, a root, a rule and a dialect that do not exist: exit 2, and an exception of a kind."""
    monkeypatch.chdir(tmp_path)
    Path("a.md").write_text("# A\n")
    with pytest.raises(FileProblem) as missing:
        prosa.check("gone.md")
    assert asked(["check", "gone.md"], tmp_path) == (2, "", f"error: {missing.value}\n")
    with pytest.raises(FileProblem) as root:
        prosa.check("a.md", root="gone")
    assert asked(["check", "a.md", "--root", "gone"], tmp_path) == (2, "", f"error: {root.value}\n")
    with pytest.raises(ValueError, match=r"unknown rule 'missing-doc-di'; did you mean missing-doc-id\?"):
        prosa.check("a.md", ignore=["missing-doc-di"])
    assert asked(["check", "a.md", "--ignore", "missing-doc-di"], tmp_path) == (
        2, "", "error: unknown rule 'missing-doc-di'\n  did you mean missing-doc-id?\n",
    )  # fmt: skip
    for call in (prosa.check, prosa.load):
        with pytest.raises(ValueError, match=r"unknown dialect 'mgai'; did you mean magi\?"):
            call("a.md", dialect="mgai")  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", [row.name for row in DIALECTS])
def test_x30_load_gives_the_model_of_every_dialect(dialect: str, tmp_path: Path):
    """X30. From a file and from a text."""
    text = "---\nname: a\ndescription: b\ntitle: C\n---\n\n### @user:\n\nHello.\n"
    path = tmp_path / "a.md"
    path.write_text(text)
    for given in (path, text):
        document = prosa.load(given, dialect=dialect)  # type: ignore[arg-type]
        assert document.dialect == dialect
        folder = {"evals": "evals.suite", "test": "evals.document"}.get(dialect, dialect)
        assert type(document.model).__module__.removesuffix(".model") == f"prosa.dialects.{folder}"


QUESTIONS = ("a", "a.md", "b", "notes/b.md", "./notes/b.md", "one", "nothing", "notes", "outside.md")
"""Names of documents: an id that is the name of a folder too, files, file names, what is no document."""


@pytest.mark.parametrize("name", QUESTIONS)
def test_x30_questions_about_a_corpus_have_one_answer(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """X30. Links, path and impact name the same document and find the same edges at both doors."""
    root = tmp_path / "corpus"
    for path, text in {
        "one.mda": f"---\ndoc-id: {ONE}\n---\n{refers('', TWO)}",
        "two.mda": f"---\ndoc-id: {TWO}\n---\nSee [a](a.md).\n",
        "a.md": "# A\n\n[[b]]\n",
        "a/inner.md": "---\nid: a\ntype: note\ntitle: Inner\n---\n[b](../notes/b.md)\n",
        "notes/b.md": "# B\n",
        "prosa.toml": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (tmp_path / "outside.md").write_text("# Outside\n")
    monkeypatch.chdir(root)
    home = tmp_path / "home"
    with prosa.Corpus(".", environ={"HOME": str(home)}) as corpus:
        try:
            node = corpus.document(name)
        except prosa.UnknownDocument as unknown:
            for argv in (["links", name], ["links", name, "b"], ["links", name, "--impact"]):
                status, out, err = asked(argv, home)
                assert (status, out) == (2, "") and err.startswith(f"error: {unknown.message}"), argv
            return
        links = json.loads(asked(["links", name, "--format", "json"], home)[1])
        assert [each["target"] for each in links["out"]] == [each.target for each in corpus.links(name).out]
        assert [each["source"] for each in links["back"]] == [each.source for each in corpus.links(name).back]
        impact = json.loads(asked(["links", name, "--impact", "--format", "json"], home)[1])
        reached = [each.node for each in corpus.impact(name)]
        assert (impact["node"], [each["node"] for each in impact["reached"]]) == (node.id, reached)
        way = json.loads(asked(["links", name, "notes/b.md", "--format", "json"], home)[1])
        steps = corpus.path(name, "notes/b.md")
        assert way["length"] == (None if steps is None else len(steps))


def test_x30_a_type_of_relationship_has_one_spelling_at_all_doors(tmp_path: Path):
    """X30, MA7."""
    (tmp_path / "one.mda").write_text(f"---\ndoc-id: {ONE}\n---\n{refers('', TWO)}".replace("child", "cites"))
    (tmp_path / "two.mda").write_text(f"---\ndoc-id: {TWO}\n---\n")
    with prosa.Corpus(tmp_path, environ={"HOME": str(tmp_path / "home")}) as corpus:
        found = [each.node for each in corpus.impact(TWO, rels="cites")]
        assert found == [each.node for each in corpus.impact(TWO)] == [ONE]
