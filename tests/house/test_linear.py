"""Every reader takes linear time, whatever a text says and however often (Y31, X9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings

from prosa.app.evals.judge import unfenced
from prosa.convert.convert import convert
from prosa.convert.form import NotConvertible, TargetContext
from prosa.convert.table import ROWS, form_in
from prosa.corpus.query import parse_query
from prosa.corpus.where import WhereError, parse_where
from prosa.data import JsonError, parse_json, read_json, read_yaml
from prosa.dialects import DialectName
from prosa.dialects.mdh.jsonpath import JsonPathError, parse_jsonpath
from prosa.dialects.prapti.content import escaped, restored
from prosa.dialects.ymj.selectors import BadSelector, UnknownSelector, prepare
from prosa.document.foreign import mdx_spans, shortcode_spans
from prosa.evaluation.jsonpath import BadQuery, compile_query
from prosa.render.page.clean import safe_html
from prosa.settings.read import read_project_settings
from prosa.site.drawing import inert_drawing
from prosa.site.negotiate import choose
from prosa.site.page import read_html
from prosa.site.robots import read_robots
from prosa.source import SourceText
from prosa.template import Template, TemplateError, action_spans
from tests.depth import DEEP, examples
from tests.house.repeated import FORMS, PLACE, Parts, document, everything, repeated
from tests.work import is_linear

SMALL, LARGE = (3_000, 48_000) if DEEP else (1_500, 24_000)
"""Characters. What is quadratic takes a fourth of the time for half of them, and is still found in ordinary cases."""


@pytest.mark.parametrize(("dialect", "form"), FORMS)
@given(parts=repeated)
@example(parts=("", ["```json call:2\n"], ""))
@example(parts=("", ["a"], ""))
@settings(max_examples=examples(50))
def test_y31_readers_of_documents_take_linear_time(dialect: DialectName, form: str, parts: Parts):
    """Y31, X9. Recordings are among them (X27)."""
    assert is_linear(lambda size: everything(document(form, parts, size), dialect), SMALL, LARGE)


def _converted(text: str) -> None:
    for name in ("SKILL.md", "a.md", "a.prompt", "a.json", "a.mda", "a.ymj"):
        source = SourceText(text, name)
        for target in ("program", "markdown"):
            convert(source, form_in(source), target, TargetContext("a", ROWS[target].path("a")))


READERS: dict[str, Callable[[str], object]] = {
    "conversions": _converted,
    "conditions": parse_where,
    "queries of a search": parse_query,
    "queries of JSONPath": compile_query,
    "paths of JSONPath": parse_jsonpath,
    "selectors": prepare,
    "templates": Template,
    "actions of a template": action_spans,
    "settings": read_project_settings,
    "JSON": parse_json,
    "JSON with places": read_json,
    "YAML": read_yaml,
    "JavaScript in MDX": lambda text: [*mdx_spans(text)],
    "shortcodes": lambda text: [*shortcode_spans(text)],
    "replies in chats": lambda text: restored(escaped(text)),
    "fenced answers": unfenced,
    "fragments of pages": safe_html,
    "pages of others": read_html,
    "robots.txt": read_robots,
    "Accept": choose,
    "drawings": lambda text: inert_drawing(f"<svg><style>{text}</style></svg>".encode("utf-8", "replace")),
}

REFUSED = (BadQuery, BadSelector, JsonError, JsonPathError, NotConvertible, TemplateError, UnknownSelector, WhereError)


@pytest.mark.parametrize("name", READERS)
@given(parts=repeated)
@example(parts=("[]" * 70 + '"', ['\\"'], ""))
@example(parts=("", ["~~~~a\n", "```"], ""))
@settings(max_examples=examples(50))
def test_x20_readers_of_small_languages_take_linear_time(name: str, parts: Parts):
    """X20, X9."""

    def read(size: int) -> None:
        try:
            READERS[name](document(PLACE, parts, size))
        except REFUSED:
            return

    assert is_linear(read, SMALL, LARGE)
