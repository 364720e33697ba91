"""One expression for any of many words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.regex import any_of, import_uncompiled
from tests.depth import DEEP

WORDS = st.lists(st.text(st.sampled_from("ab.é-"), max_size=5), min_size=1, max_size=8)


def test_nothing_is_found_where_there_are_no_words() -> None:
    assert re.search(any_of([]), "a") is None


def test_words_are_found_that_begin_like_each_other_at_every_length() -> None:
    most = 2_000 if DEEP else 700
    words = ["a" * length for length in range(1, most)]
    found = re.compile(any_of(words))
    assert found.fullmatch(words[-1]) and not found.fullmatch("a" * most)


@given(WORDS, st.text(st.sampled_from("ab.é-"), max_size=12))
def test_an_expression_of_words_finds_what_they_find_one_by_one(words: list[str], text: str) -> None:
    assert bool(re.search(any_of(words), text)) == any(word in text for word in words)
    assert bool(re.fullmatch(any_of(words), text)) == (text in words)
    data = any_of(words).encode(), text.encode()
    assert bool(re.search(*data)) == any(word.encode() in data[1] for word in words)


def test_a_library_may_name_the_parameters_of_compile_while_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its expressions are compiled at their first use, and those of other modules at once."""
    package = tmp_path / "naming_library"
    package.mkdir()
    (package / "__init__.py").write_text("from naming_library import inner\n")
    (package / "inner.py").write_text("import re\nfound = re.compile(pattern='A+', flags=re.IGNORECASE)\n")
    monkeypatch.syspath_prepend(tmp_path)
    compile_now = re.compile
    found = import_uncompiled("naming_library").inner.found
    assert re.compile is compile_now and type(found) is not re.Pattern
    assert found.fullmatch("aaa") and (found.pattern, found.flags & re.IGNORECASE) == ("A+", re.IGNORECASE)
