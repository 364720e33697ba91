"""X31: configurations of promptfoo become test documents and programs, with a report of what was lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prosa
from prosa.app.convert.convert import ConvertOptions, Result, convert_documents, read_sources, write_results
from prosa.cli.main import main
from prosa.convert.nunjucks import filled, from_nunjucks
from prosa.convert.promptfoo.cases import MAX_COMBINATIONS, shorthand
from prosa.data.limits import MAX_CELL
from prosa.dialects.dialect import Hints
from prosa.dialects.reading import open_document
from prosa.dialects.table import TEST
from prosa.evaluation.case import Case
from prosa.source import SourceText
from prosa.template import Template
from prosa.testing import ScriptedProvider
from tests.cli.desk import desk
from tests.cli.programs import user
from tests.work import is_linear


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a folder for a configuration, which is the working directory."""
    (tmp_path / "prosa.toml").write_text("")
    (tmp_path / "sort").mkdir()
    monkeypatch.chdir(tmp_path / "sort")
    return tmp_path / "sort"


def converted(config: Any, **files: str) -> Result:
    """Return what becomes of a configuration with files beside it; all of it is checked."""
    for name, text in files.items():
        Path(name.replace("_", ".")).write_text(text)
    path = Path("promptfooconfig.yaml")
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    result = convert_documents(list(read_sources([path], 10_000_000)), ConvertOptions("test"))[0]
    if not result.problem:
        write_results([result], Path(), force=True, on_written=lambda _: None)
        it = desk()
        assert main(["check", *(str(each.path) for each in result.files)], it.console) == 0, it.out
    return result


def cases(result: Result) -> list[Case]:
    model = open_document(SourceText(result.files[0].text, "a.test.md"), Hints(explicit=TEST.name)).model_of(TEST)
    assert model is not None
    return [model.case(each) for each in model.cases]


def case(*asserted: Any, output: str = "{{a}}", **test: Any) -> tuple[Case, list[tuple[str, str]]]:
    """Return the only case with these assertions, and the report."""
    result = converted({"prompts": [output], "tests": [{"vars": {"a": "x"}, "assert": list(asserted), **test}]})
    return cases(result)[0], said(result)


def said(result: Result) -> list[tuple[str, str]]:
    return [(each.level, each.message) for each in result.report.items]


def rendered(*values: str) -> str:
    it = desk()
    assert main(["render", "sort.md", *values], it.console) == 0, it.err
    return it.out


# ---- the whole ----

SORT = """
description: Sorts a request
prompts: ['Sort this: {{request}}']
providers: [openai:gpt-4o]
evaluateOptions: {repeat: 2}
defaultTest: {assert: [{type: icontains, value: BILL}]}
tests:
  - {description: 'charged *twice*', vars: {request: I paid twice.}, assert: [{type: contains, value: billing}]}
  - {vars: {request: Where?}, assert: [{type: javascript, value: output.length > 3}]}
"""


def test_x31_a_configuration_becomes_a_test_document_and_a_program_that_run(here: Path):
    result = converted(SORT)
    assert [str(each.path) for each in result.files] == ["sort.test.md", "sort.md"]
    assert [(each.name, each.input) for each in cases(result)] == [
        ("charged twice", {"request": "I paid twice."}),
        ("Where?", {"request": "Where?"}),
    ]
    report = prosa.run_tests(
        "sort.test.md", provider=ScriptedProvider([{"content": '"the billing team"'}] * 4), environ=user(here)
    )
    (suite,) = report.suites
    assert [(each.counted.passed, each.counted.repeats) for each in suite.cases] == [(2, 2), (2, 2)]
    assert rendered("request=Hi") == "Sort this: Hi\n"


def test_x31_every_part_that_is_lost_is_in_the_report_at_its_line(here: Path):
    items = converted(SORT).report.items
    assert [(each.level, each.line, each.pointer) for each in items] == [
        ("manual", 4, "/providers"),
        ("lost", 9, "/tests/1/assert/0"),
    ]
    assert items[0].message.endswith("prosa test -m gpt-4o")


def test_x31_the_command_writes_beside_the_configuration_and_over_nothing(here: Path):
    Path("promptfooconfig.yaml").write_text(SORT)
    it = desk()
    assert main(["convert", "promptfooconfig.yaml", "--to", "test", "--report", "json"], it.console) == 0
    assert set(json.loads(it.err.splitlines()[-1])) == {"kept", "items"}
    assert main(["convert", "promptfooconfig.yaml", "--to", "test"], desk().console) == 1
    assert main(["convert", "promptfooconfig.yaml", "--to", "test", "-o", "x/y.test.md"], desk().console) == 1
    Path("x").mkdir()
    assert main(["convert", "promptfooconfig.yaml", "--to", "test", "-o", "x/y.test.md"], desk().console) == 0
    assert sorted(each.name for each in Path("x").iterdir()) == ["y.md", "y.test.md"]
    assert main(["convert", "promptfooconfig.yaml", "--to", "test", "--force", "--strict"], desk().console) == 1


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["promptfooconfig.yaml", "--to", "program"], 1, "becomes tests"),
        (["sort.md", "--to", "test"], 1, "--to test makes tests of a configuration of promptfoo"),
        (["promptfooconfig.yaml", "--to", "promptfoo"], 2, "only a source"),
        (["promptfooconfig.yaml", "--to", "test", "--from", "chat"], 1, "this is chat"),
    ],
)
def test_x31_it_goes_one_way_only(here: Path, words: list[str], status: int, message: str):
    converted(SORT)
    it = desk()
    assert main(["convert", *words], it.console) == status
    assert message in it.err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("a: [", "not valid YAML"),
        ("[]", "not a configuration of promptfoo"),
        ("name: x", "not a configuration of promptfoo"),
        ("redteam: {purpose: x}\nprompts: [a]", "attacks that promptfoo makes"),
        ("prompts: [a]\ntests: huggingface://datasets/x", "nothing is fetched"),
        ("prompts: [a]\ntests: tests.py:make", "code, which is not run"),
        ("prompts: [a]\ntests: [file://gone.yaml]", "no such file"),
    ],
)
def test_x31_a_configuration_without_a_case_is_refused_in_one_sentence(here: Path, config: str, message: str):
    assert message in converted(config).problem


def test_x31_several_prompts_are_several_programs_to_compare(here: Path):
    result = converted({"prompts": ["A {{x}}", {"label": "short", "raw": "B {{x}}"}], "tests": [{"vars": {"x": "1"}}]})
    assert [str(each.path) for each in result.files] == ["sort.test.md", "sort.md", "sort-2.md"]
    assert 'description: "The prompt of sort: short"' in result.files[2].text
    assert ("manual", "the first prompt is tested; compare others with it: prosa test --against sort-2.md") in said(
        result
    )


def test_x31_the_name_of_a_configuration_adds_to_that_of_its_folder(here: Path):
    Path("promptfooconfig.claude.yaml").write_text(SORT)
    main(["convert", "promptfooconfig.claude.yaml", "--to", "test"], desk().console)
    assert sorted(each.name for each in Path().glob("*.md")) == ["sort-claude.md", "sort-claude.test.md"]


# ---- prompts ----


@pytest.mark.parametrize(
    ("text", "template", "values", "rendered"),
    [
        ("Hi {{name}}!", "Hi {{ .name }}!", {"name": "A"}, "Hi A!"),
        ("{{ a.b }} {{a['b']}}", "{{ .a.b }} {{ .a.b }}", {"a": {"b": "c"}}, "c c"),
        ("{{ a['x y'] }}", '{{ index . "a" "x y" }}', {"a": {"x y": "c"}}, "c"),
        ("{{ a[1] }}", '{{ index . "a" 1 }}', {"a": ["x", "y"]}, "y"),
        ("{{ a | upper }}", "{{ upper .a }}", {"a": "x"}, "X"),
        ("{{ a | default('none') }}", '{{ default "none" .a }}', {"a": ""}, "none"),
        ("{% if a %}yes{% else %}no{% endif %}", "{{ if .a }}yes{{ else }}no{{ end }}", {"a": ""}, "no"),
        ("{% if a == 'x' and not b %}1{% endif %}", None, {"a": "x", "b": ""}, "1"),
        ("{% for i in l %}{{i}},{{b}};{% endfor %}", None, {"l": ["1", "2"], "b": "x"}, "1,x;2,x;"),
        ("a {# note #}b {%- if a %} c{% endif %}", None, {"a": "1"}, "a b c"),
        ("{% raw %}{{x}}{% endraw %}", None, {}, "{{x}}"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}', {}, '{"a": {"b": 1}}'),
    ],
)
def test_x31_templates_of_nunjucks_render_the_same_in_go(
    text: str, template: str | None, values: dict[str, Any], rendered: str
):
    made = from_nunjucks(text)
    assert template in (None, made.template)
    assert made.unknown == ()
    assert Template(made.template).render(values) == rendered


@pytest.mark.parametrize(
    "text",
    ["{{ a | reverse }}", "{{ f(x) }}", "{{ env.KEY }}", "{% include 'x' %}", "{% set a = 1 %}", "{{ loop.index }}"],
)
def test_x31_what_go_cannot_express_becomes_text_and_is_reported(text: str):
    made = from_nunjucks(f"a {text} b")
    assert made.unknown == (text,)
    assert Template(made.template).render({}) == f"a {text} b"


@pytest.mark.parametrize(
    "text", ["{{", "{%", "{% if a %}", "{% endif %}", "{% else %}", "{{}}", "{{ a", "%}", "{% for %}"]
)
def test_x31_broken_templates_never_fail(text: str):
    Template(from_nunjucks(text).template)
    assert from_nunjucks("{% if a %}" * 10_000).template


@pytest.mark.parametrize(
    "piece", ["{{", "{%", "{#", "{{ a", "{% if a -%} ", "{{a}}", "{{ a['", "{% if a and ", "{%- a"]
)
def test_x31_long_templates_are_read_in_linear_time(piece: str):
    assert is_linear(lambda count: (from_nunjucks(piece * count), filled(piece * count, {"a": "x"})), 10_000, 100_000)


def test_x31_messages_become_the_text_of_one_prompt(here: Path):
    messages = [{"role": "system", "content": "Be {{how}}."}, {"role": "user", "content": "Hi"}]
    result = converted(
        {"prompts": ["file://chat.json"], "tests": [{"vars": {"how": "kind"}}]}, chat_json=json.dumps(messages)
    )
    assert ("guessed", "the messages are the text of one prompt") in said(result)
    text = rendered("how=kind")
    assert "Be kind." in text
    assert "@user" in text


def test_x31_variables_that_a_case_leaves_out_are_empty_as_in_promptfoo(here: Path):
    converted(
        {"prompts": ["{{a}}{{b}}{% if c %}!{% endif %}"], "tests": [{"vars": {"a": "1"}}, {"vars": {"a": 2, "b": "x"}}]}
    )
    assert rendered("a=1") == "1\n"


def test_x31_a_prompt_that_code_makes_is_left_to_write(here: Path):
    result = converted({"prompts": ["file://p.py"], "tests": [{"vars": {"a": "1"}}]})
    assert [level for level, _ in said(result)] == ["lost", "manual"]
    assert "Write the prompt here." in result.files[1].text


# ---- tests ----


def test_x31_files_are_read_below_the_root_alone(here: Path):
    (here.parent.parent / "secret.txt").write_text("secret")
    (here.parent / "shared.txt").write_text("of all")
    (here / "link.txt").symlink_to(here.parent.parent / "secret.txt")
    values = {
        "a": "file://../shared.txt",
        "b": "file://../../secret.txt",
        "c": f"file://{here.parent.parent}/secret.txt",
        "d": "file://link.txt",
        "e": "file://x.py",
    }
    result = converted({"prompts": ["{{a}}"], "tests": [{"vars": values}]})
    assert cases(result)[0].input == {"a": "of all"}
    assert [level for level, _ in said(result)] == ["lost"] * 4
    assert "secret" not in "".join(each.text for each in result.files).replace("secret.txt", "")


def test_x31_a_list_makes_a_case_for_each_item(here: Path):
    test = {"vars": {"a": ["1", "2"], "b": ["x", "y"]}}
    found = cases(converted({"prompts": ["{{a}}{{b}}"], "tests": [test]}))
    assert [each.input for each in found] == [{"a": a, "b": b} for a in "12" for b in "xy"]
    many = converted({"prompts": ["{{a}}"], "tests": [{"vars": {"a": [str(n) for n in range(10_000)]}}]})
    assert len(cases(many)) == MAX_COMBINATIONS
    whole = {"options": {"disableVarExpansion": True}, **test}
    assert [each.input for each in cases(converted({"prompts": ["{{a}}"], "tests": [whole]}))] == [test["vars"]]


def test_x31_tests_of_a_table_have_their_expectations(here: Path):
    table = 'text,__expected,__expected2,__description\n"a,b",contains: x,llm-rubric: kind,first\nc,exactly,,\n'
    found = cases(converted({"prompts": ["{{text}}"], "tests": "cases.csv"}, cases_csv=table))
    assert [each.name for each in found] == ["first", "c"]
    assert found[0].expect == {"contains": "x"}
    assert found[0].grade == ("kind",)
    assert (found[1].input, found[1].expect) == ({"text": "c"}, {"equals": "exactly"})


@pytest.mark.parametrize(
    ("text", "asserted"),
    [
        ("yes", {"type": "equals", "value": "yes"}),
        ("is-json", {"type": "is-json", "value": None}),
        ('contains-any: a, "b,c"', {"type": "contains-any", "value": ["a", "b,c"]}),
        ("similar(0.8): x", {"type": "similar", "value": "x", "threshold": 0.8}),
        ("fn: output > 1", {"type": "javascript", "value": "output > 1"}),
        ("grade: is kind", {"type": "llm-rubric", "value": "is kind"}),
        ("file://check.py", {"type": "python", "value": "file://check.py"}),
        ("Answer: yes", {"type": "equals", "value": "Answer: yes"}),
        ("similar(0.8.1): x", {"type": "equals", "value": "similar(0.8.1): x"}),
        ("contains-any: a\nb, c", {"type": "contains-any", "value": ["a\nb", "c"]}),
        (f"contains-all: {'a' * 200_000}", {"type": "contains-all", "value": ["a" * 200_000]}),
    ],
    ids=range(11),
)
def test_x31_short_forms_of_a_table(text: str, asserted: dict[str, Any]):
    assert shorthand(text) == asserted


def test_x31_tables_with_old_line_ends_are_read_and_a_cell_too_long_is_said(here: Path):
    found = cases(converted({"prompts": ["{{a}}"], "tests": "cases.csv"}, cases_csv="a,b\r1,2\r"))
    assert [each.input for each in found] == [{"a": "1", "b": "2"}]
    tests = [{"vars": {"a": "1"}}, "cases.csv"]
    whole = cases(converted({"prompts": ["{{a}}"], "tests": tests}, cases_csv=f"a\n{'x' * 200_000}\n"))
    assert [each.input for each in whole] == [{"a": "1"}, {"a": "x" * 200_000}]
    Path("cases.csv").write_text(f"a\n{'x' * (MAX_CELL + 1)}\n")
    sources = list(read_sources([Path("promptfooconfig.yaml")], 2 * MAX_CELL))
    long = convert_documents(sources, ConvertOptions("test", max_size=2 * MAX_CELL))[0]
    assert said(long) == [("lost", said(long)[0][1])]
    assert "left out: it is not a table: field larger than field limit" in said(long)[0][1]


def test_x31_scenarios_try_each_test_with_each_set_of_variables(here: Path):
    scenario = {"config": [{"vars": {"a": "1"}}, {"vars": {"a": "2"}}], "tests": [{"vars": {"b": "x"}}]}
    found = cases(converted({"prompts": ["{{a}}{{b}}"], "scenarios": [scenario]}))
    assert [each.input for each in found] == [{"a": "1", "b": "x"}, {"a": "2", "b": "x"}]


def test_x31_variables_are_filled_into_variables_and_values(here: Path):
    test = {"vars": {"a": "1", "b": "{{a}}!"}, "assert": [{"type": "contains", "value": "{{b}}"}]}
    (found,) = cases(converted({"prompts": ["{{b}}"], "tests": [test]}))
    assert (found.input["b"], found.expect) == ("1!", {"contains": "1!"})
    assert filled("{{ a | upper }}", {"a": "x"}) is None


def test_x31_a_configuration_of_prompts_alone_has_one_case(here: Path):
    assert [each.input for each in cases(converted({"prompts": ["Say hi."]}))] == [{}]


# ---- assertions ----


@pytest.mark.parametrize(
    ("asserted", "expect"),
    [
        ({"type": "equals", "value": "x"}, {"equals": "x"}),
        ({"type": "equals", "value": 5}, {"equals": "5"}),
        ({"type": "contains-all", "value": ["a", "b"]}, {"contains": ["a", "b"]}),
        ({"type": "icontains", "value": "a.b"}, {"matches": r"(?i)a\.b"}),
        ({"type": "contains-any", "value": ["a", "b|c"]}, {"matches": r"a|b\|c"}),
        ({"type": "starts-with", "value": "a"}, {"matches": r"\A(?:a)"}),
        ({"type": "regex", "value": r"\d{4}"}, {"matches": r"\d{4}"}),
    ],
)
def test_x31_assertions_with_a_word_of_ours_are_in_that_word(here: Path, asserted: Any, expect: Any):
    found, report = case(asserted)
    assert (found.expect, report) == (expect, [])


@pytest.mark.parametrize(
    ("asserted", "right", "wrong"),
    [
        ({"type": "not-contains", "value": "x"}, "y", "xy"),
        ({"type": "not-icontains", "value": "x"}, "y", "X"),
        ({"type": "icontains-all", "value": ["a", "B"]}, "A b", "a"),
        ({"type": "not-equals", "value": "x"}, "y", "x"),
        ({"type": "equals", "value": {"a": 1}}, '{"a": 1}', '{"a": 2}'),
        ({"type": "is-json"}, "[1]", "x"),
        ({"type": "not-is-json"}, "x", "[1]"),
        ({"type": "contains-json"}, 'so: {"a": 1}.', "so: {a}"),
        ({"type": "regex", "value": "(?=a)a"}, "a", "b"),
        ({"type": "word-count", "value": {"min": 2, "max": 3}}, "a b", "a"),
        ({"type": "python", "value": "len(output) > 2 and context['vars']['a'] == 'x'"}, "abc", "a"),
        ({"type": "python", "value": "if output:\n  return {'pass': True, 'score': 1}\nreturn False"}, "a", ""),
        ({"type": "python", "value": "0.5", "threshold": 0.4}, "a", None),
        ({"type": "not-python", "value": "output == 'a'"}, "b", "a"),
    ],
)
def test_x31_other_assertions_are_a_check_in_python_that_decides_the_same(
    here: Path, asserted: Any, right: str, wrong: str | None
):
    found, _ = case(asserted)
    names: dict[str, Any] = {}
    exec(found.expect["$"]["python"], names)
    assert names["check"]({"a": "x"}, right, []) is True
    assert wrong is None or isinstance(names["check"]({"a": "x"}, wrong, []), str)


def test_x31_bounds_and_questions(here: Path):
    found, report = case(
        {"type": "cost", "threshold": 0.01},
        {"type": "latency", "threshold": 2500},
        {"type": "llm-rubric", "value": "is kind"},
        {"type": "factuality", "value": "Paris is in France"},
        {"type": "g-eval", "value": ["is short", "is long"], "threshold": 0.5},
    )
    assert found.run == {"cost": {"max": 0.01}, "seconds": {"max": 2.5}}
    assert found.grade == ("is kind", "The output does not contradict this: Paris is in France", "is short", "is long")
    assert [level for level, _ in report] == ["guessed", "lost"]
    found, _ = case({"type": "llm-rubric", "value": "line 1\nline 2"})
    assert found.grade == ("line 1\nline 2",)


@pytest.mark.parametrize(
    "asserted",
    [
        {"type": "javascript", "value": "true"},
        {"type": "python", "value": "file://x.py"},
        {"type": "python", "value": "this is no code"},
        {"type": "moderation"},
        {"type": "is-sql"},
        {"type": "select-best", "value": "x"},
        {"type": "contains", "value": "{{ b | upper }}"},
        {"type": "contains", "value": ""},
        {"type": "contains", "value": "file://../../../x"},
        {"type": "equals", "value": "a", "transform": "output.x"},
        {"type": "equals", "value": "a", "weight": 0},
        {"type": "cost"},
        {"type": "word-count", "value": "many"},
        {"type": "word-count", "value": "²"},
        {"type": "unheard-of"},
        {"value": "x"},
        "x",
        None,
    ],
)
def test_x31_assertions_without_a_counterpart_are_lost_and_said(here: Path, asserted: Any):
    found, report = case(asserted)
    assert [level for level, _ in report] == ["lost"]
    assert found.run is None
    assert found.grade == ()


def test_x31_sets_and_references_are_opened(here: Path):
    config = {
        "prompts": ["{{a}}"],
        "assertionTemplates": {"kind": {"type": "llm-rubric", "value": "is kind"}},
        "tests": [
            {
                "vars": {"a": "x"},
                "assert": [
                    {"$ref": "#/assertionTemplates/kind"},
                    {"type": "assert-set", "threshold": 0.5, "assert": [{"type": "contains", "value": "y"}]},
                ],
            }
        ],
    }
    result = converted(config)
    assert cases(result)[0].grade == ("is kind",)
    assert cases(result)[0].expect == {"contains": "y"}
    assert [level for level, _ in said(result)] == ["guessed"]


def test_x31_sets_inside_sets_are_lost_and_said(here: Path):
    """Also those that a reference leads back to."""
    ring = {"type": "assert-set", "assert": [{"$ref": "#/assertionTemplates/ring"}, {"type": "contains", "value": "y"}]}
    asserted = [{"$ref": "#/assertionTemplates/ring"}]
    config = {"assertionTemplates": {"ring": ring}, "prompts": ["{{a}}"], "tests": [{"vars": {"a": "x"}}]}
    result = converted({**config, "defaultTest": {"assert": asserted}})
    assert cases(result)[0].expect == {"contains": "y"}
    assert said(result) == [("lost", "a set inside a set has no counterpart")]


def test_x31_a_schema_that_every_case_asks_for_is_the_output_of_the_program(here: Path):
    schema = {"type": "object", "properties": {"team": {"type": "string"}}, "required": ["team"]}
    asserted = [{"type": "is-json", "value": schema}]
    tests = [{"vars": {"a": "1"}, "assert": [{"type": "contains", "value": "billing"}]}, {"vars": {"a": "2"}}]
    result = converted({"prompts": ["{{a}}"], "defaultTest": {"assert": asserted}, "tests": tests})
    assert "team:" in result.files[1].text
    names: dict[str, Any] = {}
    exec(cases(result)[0].expect["$"]["python"], names)
    assert names["check"]({}, {"team": "billing"}, []) is True
    alone = converted({"prompts": ["{{a}}"], "tests": [{"vars": {"a": "1"}, "assert": asserted}, {"vars": {"a": "2"}}]})
    assert "type: string" in alone.files[1].text
    assert said(alone)[0][0] == "lost"


# ---- hostile ----


@pytest.mark.parametrize(
    "value",
    [
        "```\n## Case\n```yaml expect\n",
        "---\ntests: x\n---",
        "{{ .secret }}",
        "\u202e",
        "a" * 100_000,
        "#" * 50,
        "\x1b[31m",
        1e300,
    ],
)
def test_x31_texts_of_others_stay_texts(here: Path, value: Any):
    test = {"description": f"d {value}", "vars": {"a": value}, "assert": [{"type": "contains", "value": value}]}
    (found,) = cases(converted({"prompts": ["{{a}}"], "tests": [test]}))
    assert found.input == {"a": value}


@pytest.mark.parametrize(
    "config",
    [
        {"prompts": 5, "tests": [5, None, "x", []]},
        {"prompts": [None, {}, {"id": 1}], "tests": [{"vars": 5, "assert": 5, "options": []}]},
        {"prompts": {"a": "b"}, "tests": [{"vars": {"a b": {"c": [None]}}, "assert": [{"type": ["x"]}]}]},
        {"prompts": ["x"], "scenarios": [5, {"config": 5}], "defaultTest": "file://gone", "providers": [{}, 5, None]},
        {"prompts": ["{{a}}"], "tests": [{"vars": {"a": "file://promptfooconfig.yaml"}}]},
    ],
)
def test_x31_odd_configurations_are_converted_or_refused_without_a_crash(here: Path, config: Any):
    result = converted(config)
    assert "internal error" not in result.problem
    assert result.problem or result.files


def test_x31_unknown_keys_of_a_prompt_are_reported_in_the_order_of_the_file(here: Path):
    keys = [f"key-{letter}" for letter in "zyxwvutsrq"]
    result = converted({"prompts": [{"raw": "p", **dict.fromkeys(keys, 1)}], "tests": [{"vars": {}}]})
    assert [word for _, word in said(result) if "of a prompt has no counterpart" in word] == [
        f"`{key}` of a prompt has no counterpart" for key in keys
    ]
