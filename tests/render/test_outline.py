"""What `prosa show` tells a person: what the reader understood, dialect by dialect."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.cli.main import main
from prosa.dialects import DialectName
from prosa.dialects.facts import DialectFacts
from prosa.render.outline import MAX_ITEMS, MAX_VALUE, document_facts, render_outline
from prosa.rules.engine import check_text
from prosa.source import SourceText
from tests.cli.desk import desk
from tests.depth import DEEP
from tests.house.repeated import FORMS, PLACE, TOKENS

DOCUMENTS = {
    "report.mda": """\
        ---
        doc-id: rep
        tags: [post, desk]
        ---
        # Letters

        ```ai-script
        {"script-id": "sum", "prompt": "Say it.", "auto-run": true, "output-format": "markdown"}
        ```

        <!-- ai-result {"script-id": "sum", "sha256": "00", "model": "gpt-4o", "answered_by": "tiny", "cut": true} -->

        Eleven.

        <!-- /ai-result -->

        See it[^1].

        [^1]: `{"rel-type": "parent", "doc-id": "other", "rel-desc": "the other one", "rel-strength": 0.5}`
        """,
    "table.ymj": """\
        ---
        doc_summary: Sample
        kind: ticket
        attachments: [{uri: full.csv, note: all of it}]
        ---
        # Table

        See [[other]].

        ```csv
        a,b
        1,2
        ```

        ```json
        {"schema": "1", "index": {"tags": ["x", "y"]}, "ops": {"body_format": "csv", "priority": "low",
         "graph": {"edges": [{"type": "see", "to": "other"}]}}}
        ```
        """,
    "chat.md": """\
        % temperature = 0.2

        ### @system:

        Be brief.

        ### @user/Ada:

        What is the
        time?

        ### //@user:

        Off.
        """,
    "node.md": """\
        ---
        id: ferry
        type: page
        title: The ferry
        links: [{rel: parent, target: harbour}]
        actions:
          - id: ferry.book
            title: Book
            method: POST
            url: /api/book
            query: {required: [date], optional: [seats], properties: {date: {type: string}}}
            auth: {type: bearer}
        ---
        See [harbour](/harbour).
        """,
    "SKILL.md": """\
        ---
        name: foo
        description: Does foo.
        allowed-tools: Bash Read
        ---
        # Foo

        Read [this](ref.md).
        """,
    "plain.md": "# One\n\n## Two `x`\n\n[a](b.md)\n",
}

SHOWN = {
    "report.mda": """\
        report.mda: MAGI document
          doc-id        rep
          tags          post, desk
          scripts       sum, line 7 (markdown, auto-run, result edited): Say it.
          relationships [^1], line 19: parent other (0.5): the other one
          results       sum, lines 11–15: edited, by tiny, cut off
          headings      Letters, line 5
        """,
    "table.ymj": """\
        table.ymj: YMJ record
          doc_summary  Sample
          kind         ticket
          tags         x, y
          handling     body_format: csv
                       priority: low
          edges        see other
          attachments  full.csv: all of it, without a hash
          payload      first_fenced:csv: 2 lines; see --payload
          wikilinks    [[other]], line 8
          accepted     no (permissive)
          headings     Table, line 6
        """,
    "chat.md": """\
        chat.md: Prapti chat
          settings     temperature = 0.2, line 1
          messages     @system, line 3: Be brief.
                       @user/Ada, line 7: What is the time?
                       @user, line 12 (disabled): Off.
          sent         2 of 3
        """,
    "node.md": """\
        node.md: MDH node
          id           ferry
          type         page
          title        The ferry
          links        parent harbour, line 5
          in the text  /harbour, line 14
          actions      ferry.book: POST /api/book (Book)
                           date: string in the query
                           seats: anything in the query, optional
                           with a credential: bearer
        """,
    "SKILL.md": """\
        SKILL.md: Agent Skill
          name         foo
          description  Does foo.
          tools        Bash
                       Read
          headings     Foo, line 6
          links        ref.md, line 8
        """,
    "plain.md": """\
        plain.md: Markdown document
          front matter none
          headings     One, line 1
                         Two x, line 3
          links        b.md, line 5
        """,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_x4_people_see_what_the_reader_understood(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(dedent(DOCUMENTS[name]))
    at = desk()
    assert main(["show", name], at.console) == 0
    lines = [line for line in at.out.splitlines() if not line.startswith("  findings")]
    assert lines == dedent(SHOWN[name]).splitlines()


SHAPES = {get_args(get_type_hints(shape)["dialect"])[0]: shape for shape in get_args(DialectFacts)}


def outline(text: str, dialect: str) -> str:
    """Return the outline of facts that have the shape of their dialect."""
    checked = check_text(SourceText(text, "x.md"), dialect=dialect)  # type: ignore[arg-type]
    (document,) = checked.documents
    facts = document_facts(document, checked.diagnostics)
    msgspec.convert(facts.own, SHAPES[facts.own["dialect"]])
    return render_outline(facts)


def test_x4_facts_of_every_dialect_have_a_shape():
    assert SHAPES.keys() == {*get_args(DialectName)}


@pytest.mark.parametrize(("dialect", "form"), FORMS)
def test_x4_facts_have_the_shape_of_their_dialect(dialect: str, form: str):
    """Every fourth token, others for the next form; all of them in `make test-deep`."""
    for token in TOKENS if DEEP else TOKENS[FORMS.index((dialect, form)) % 4 :: 4]:  # type: ignore[arg-type]
        assert outline(form.replace(PLACE, token), dialect)


def test_x4_a_parameter_whose_name_is_no_text_is_shown_as_written():
    action = "{id: find, method: GET, url: /find, query: {required: [[a], 3], properties: {a: {type: string}}}}"
    shown = outline(f"---\nid: n\nactions: [{action}]\n---\n", "mdh")
    assert "['a']: anything in the query" in shown and "3: anything in the query" in shown


def test_x4_types_of_inputs_are_found_through_references():
    schema = """\
          type: object
          $defs: {person: {type: object}, many: {type: array, items: {$ref: "#/$defs/many"}}}
          properties:
            who: {$ref: "#/$defs/person"}
            all: {type: array, items: {$ref: "#/$defs/person"}}
            deep: {$ref: "#/$defs/many"}
            mode: {oneOf: [{const: fast}, {const: 3}]}
            free: {minLength: 2}
          required: [who]
        """
    front = f"name: p\ndescription: Tells something.\ninput:\n{indent(dedent(schema), '  ')}output: {{}}\n"
    shown = outline(f"---\n{front}---\nSay {{{{ .who }}}}.\n", "markdownlang")
    rows = [line.split("input ")[-1].strip() for line in shown.splitlines() if ": " in line[13:]]
    assert rows[:2] == ["who: object", "all: array of object, optional"]
    assert rows[2].startswith("deep: array of array") and len(rows[2]) < 120
    assert rows[3:5] == ["mode: string or integer, optional", "free: anything, optional"]


def test_x4_a_case_shows_what_is_expected_of_the_workspace_and_the_run():
    asserted = '[{"file": "a.md", "contains": "x"}, {"loaded": "s"}, {"tools": {"called": ["python"]}}, "Is brief"]'
    shown = outline(f'{{"evals": [{{"id": 1, "prompt": "p", "assertions": {asserted}}}]}}', "evals")
    assert "1: p, line 1: 3 decided, 1 graded" in shown


@pytest.mark.parametrize(
    ("field", "why"), [("", "has none"), ("description: [a]\n", "has no text there"), ("description:\n", "has none")]
)
def test_la1_a_description_that_is_no_text_is_not_called_absent(field: str, why: str):
    shown = outline(f"---\nname: p\n{field}input: {{}}\noutput: {{}}\n---\nAnswer.\n", "markdownlang")
    assert f"description  Answer. (derived: the program {why})" in shown


def test_x9_long_lists_and_values_are_cut():
    text = "".join(f"% k{at} = {at}\n" for at in range(MAX_ITEMS + 5)) + f"\n### @user:\n\n{'x' * 500}\n"
    shown = outline(text, "prapti")
    assert "… and 5 more; --format json has all of them" in shown
    assert max(map(len, shown.splitlines())) < MAX_VALUE + 30


@given(
    st.sampled_from(("magi", "ymj", "prapti", "mdh", "skill_md", "test", "evals", "plain", "markdownlang")),
    st.lists(
        st.sampled_from(
            (
                *("---\n", "id: a\n", "links: [{rel: 1}, 2]\n", "actions: [{id: x, query: 3}, {}]\n", "name: [1]\n"),
                *("```ai-script\n[1]\n```\n", "[^1]: `[1]`\n", "[^1]: `{}`\n", "### @user:\n", "% x\n", "% a = 1\n"),
                *(
                    '```json\n{"ops": {"graph": {"edges": [1]}}, "index": []}\n```\n',
                    "# x\n",
                    "\x1b[2J",
                    "attachments: [1]\n",
                ),
            )
        ),
        max_size=8,
    ),
)
def test_x9_any_document_has_an_outline_that_no_terminal_obeys(dialect: str, pieces: list[str]):
    assert "\x1b" not in outline("".join(pieces), dialect)
