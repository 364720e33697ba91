"""Tags of answers, and whether a client has one (RFC 9110 sections 8.8.3 and 13.1.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.site.negotiate import MAX_TAGS, entity_tag, is_known

TAG = '"abc123m"'


@pytest.mark.parametrize(
    "value",
    [
        TAG,
        f"W/{TAG}",
        f" {TAG} ",
        "*",
        " * ",
        f'"x", {TAG}',
        f'{TAG}, "x"',
        f'"x",{TAG},"y"',
        f'W/"x", W/{TAG}',
        f'"a,b", {TAG}',
        f'"\xe9", {TAG}',
        f", {TAG}",
        f'"", {TAG}',
    ],
)
def test_h18_a_client_that_has_it(value: str) -> None:
    """H18. One tag or a list, weak or strong, and `*`."""
    assert is_known(value, TAG)


@pytest.mark.parametrize(
    "value",
    [
        "",
        '""',
        '"abc123"',
        '"abc123j"',
        "abc123m",
        '"ABC123M"',
        '"a,"abc123m',
        '"*"',
        "**",
        '"x", *',
        "w/abc123m",
        '"xabc123m"',
        '"abc123m',
        'abc123m"',
        '" abc123m"',
    ],
)
def test_h18_a_client_that_has_another(value: str) -> None:
    """H18. Part of a tag, another case, and what is no tag are not known."""
    assert not is_known(value, TAG)


def test_h18_a_long_list_is_read_as_far_as_the_bound() -> None:
    """H18."""
    assert not is_known('"x",' * MAX_TAGS + TAG, TAG)
    assert is_known(TAG + ',"x"' * MAX_TAGS, TAG)


@given(st.binary(max_size=20), st.binary(max_size=20))
def test_h18_hw2_one_tag_for_the_same_bytes_in_the_same_form_and_no_others(one: bytes, other: bytes) -> None:
    """H18, HW2."""
    assert (entity_tag(one) == entity_tag(other)) == (one == other)
    assert len({entity_tag(one, kind) for kind in ("m", "j", "h", "")}) == 4
    assert is_known(entity_tag(one), entity_tag(one))


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_h18_any_value_is_answered(value: str) -> None:
    """H18."""
    assert is_known(value, TAG) in (True, False)
