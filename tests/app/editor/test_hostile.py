"""No text and no offset makes a question fail, and no answer leaves the project."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prosa.app.check.check import CheckOptions
from prosa.app.check.workspace import Workspace
from prosa.app.editor.changes import DocumentSpan
from prosa.app.editor.definition import definitions, document_links
from prosa.app.editor.outline import folds, outline, selections, workspace_symbols
from prosa.app.editor.references import backlink_counts, highlights, references
from prosa.app.editor.rename import Renaming, renamable, rename, renamed_files
from prosa.corpus.moves import MoveRefused
from prosa.source import FileProblem
from tests.app.editor.marked import opened
from tests.depth import examples

NAMES = ("a.md", "b.mda", "t.ymj", "index.md", "sub/SKILL.md", "p.test.md", "old.txt")
PIECES = st.sampled_from(
    (
        *(
            "---\n",
            "doc-id: x\n",
            "id: x\n",
            "title: [\n",
            "name: p\n",
            "description: d\n",
            "links: [{target: 'url:../..'}]\n",
        ),
        *(
            "imports: [../../etc/passwd, /etc/passwd, ./a.md, '']\n",
            "input: {properties: {a: {$ref: '#/properties/a'}}}\n",
        ),
        *(
            "# A\n",
            "## A\n\n",
            "Two\n---\n",
            "> # q\n",
            "[x](a.md#a)",
            "[x](#)",
            "[x](..)",
            "[x](/)",
            "[x](%00)",
            "[x](\0)",
        ),
        *(
            "[x](../../../etc/passwd)",
            "![x](~/x)",
            "[x](file:///etc/passwd)",
            "<a href='//x'>",
            "[[a]]",
            "[[#A|b]]",
            "[[",
        ),
        *(
            "[[../../x]]",
            "![[a#^b]]",
            "x ^b\n",
            "[^1]",
            "[^1]: ",
            '`{"doc-id": "x", "rel-type": "r"}`\n',
            "[a][b]",
            "[b]: a.md\n",
        ),
        *(
            "{{ $x := .a }}",
            "{{ $x }}",
            "{{ .a.b }}",
            "{{ range",
            "{{ end }}",
            "### @user:\n",
            "% include ../../x\n",
            "`a.md`",
        ),
        *(
            "```ai-script\n",
            '{"script-id": "s"}\n',
            "```\n",
            "\r\n",
            "\r",
            "\u2028",
            "😀",
            "\ufeff",
            "\t",
            " ",
            "\n\n",
            "kind: note\n",
        ),
        *(
            '```json\n{"ops": {"graph": {"edges": [{"to": "[[a]]"}]}}}\n```\n',
            "actions: [{id: f, method: GET, url: /f}]\n",
        ),
    )
)
TEXT = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=40))
QUIET = settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUIET
@given(
    texts=st.dictionaries(st.sampled_from(NAMES), TEXT, min_size=1, max_size=4),
    offset=st.integers(-3, 300),
    name=st.one_of(st.text(max_size=12), st.sampled_from(["new", "../../x", "/", "a.md", "#", "{{", "$x"])),
    read=st.booleans(),
)
def test_any_text_and_any_offset_has_answers_within_the_project(
    texts: dict[str, str], offset: int, name: str, *, read: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        workspace = opened(root, dict.fromkeys(texts, "old\n"))
        if not read:
            workspace = Workspace.begin(workspace.root, CheckOptions(), {})
        for path, text in texts.items():
            workspace.update(workspace.root / path, text)
        real = workspace.root / min(texts)
        for places in answers(workspace, real, offset):
            assert_inside(workspace, places)
        for made in renamings(workspace, real, offset, name):
            assert_inside(workspace, [DocumentSpan(each.path, each.start, each.end) for each in made.edits])
            assert all(new.is_relative_to(workspace.root) for _, new in made.moves)


def answers(workspace: Workspace, path: Path, offset: int) -> Iterable[list[DocumentSpan]]:
    """The places of every answer."""
    found = definitions(workspace, path, offset)
    yield [place for each in found for place in (each.origin, each.whole, each.name)]
    yield [*references(workspace, path, offset), *highlights(workspace, path, offset)]
    yield [place for place, _ in backlink_counts(workspace, path)]
    yield [each.place for each in outline(workspace, path)]
    yield [each.place for each in folds(workspace, path)]
    yield [*selections(workspace, path, offset)]
    links = document_links(workspace, path)
    yield [each.place for each in links]
    assert all(each.path is None or each.path.is_relative_to(workspace.root) for each in links)
    assert all(each.url.lower().startswith(("http://", "https://")) for each in links if each.path is None)
    yield [each.place for each in workspace_symbols(workspace, "a")]
    one = renamable(workspace, path, offset)
    yield [one.place] if one is not None else []


def renamings(workspace: Workspace, path: Path, offset: int, name: str) -> Iterable[Renaming]:
    """What is planned; what is refused has a sentence."""
    pairs = [(path, path.with_name("moved.md")), (workspace.root / "sub", workspace.root / "else")]
    asked: list[Callable[[], Renaming]] = [lambda: rename(workspace, path, offset, name)]
    asked += [lambda pair=pair: renamed_files(workspace, [pair]) for pair in pairs]
    for ask in asked:
        try:
            yield ask()
        except (MoveRefused, FileProblem) as refused:
            assert str(refused)


def assert_inside(workspace: Workspace, places: Iterable[DocumentSpan]) -> None:
    for each in places:
        assert each.path.is_relative_to(workspace.root)
        source = workspace.source(each.path)
        assert each.start == each.end == 0 or source is not None
        assert 0 <= each.start <= each.end <= (len(source.text) if source is not None else 0)


def test_a_link_to_a_file_outside_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# secret\n")
    root = tmp_path / "root"
    workspace = opened(root, {"a.md": "[x](../secret.md) [y](out.md)\n", "b.md": "b\n"})
    (workspace.root / "out.md").symlink_to(tmp_path / "secret.md")
    workspace.update(workspace.root / "out.md")
    for offset in (6, 24):
        assert definitions(workspace, workspace.root / "a.md", offset) == ()
    assert document_links(workspace, workspace.root / "a.md") == ()


def test_schemas_that_refer_to_themselves_end(tmp_path: Path) -> None:
    some = ", ".join(f"p{number}: {{$ref: '#/properties/p{(number * 7) % 40}'}}" for number in range(40))
    schema = f"{{properties: {{{some}, x: {{allOf: [{{$ref: '#/'}}]}}}}}}"
    text = f"---\nname: p\ndescription: x\ninput: {schema}\n---\n{{{{ .p1.p2 }}}}\n"
    workspace = opened(tmp_path, {"p.md": text})
    assert references(workspace, workspace.root / "p.md", text.index(".p1") + 1)
