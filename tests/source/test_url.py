"""URLs as text: what is escaped, what is one spelling, which hosts are this machine."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.source.url import (
    PATH_SAFE,
    SEGMENT_SAFE,
    address_key,
    http_origin,
    is_loopback,
    normal_url,
    quoted_path,
    quoted_relative,
    requoted_path,
)
from tests.house.tree import modules, named


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_a_quoted_path_is_the_path_again_and_holds_nothing_that_ends_it(path: str):
    for quoted in (quoted_path(path), quoted_relative(path)):
        assert unquote(quoted) == path
        assert quoted.isascii() and not {"?", "#", " ", '"', "<", "\\"} & set(quoted)


@given(st.text())
def test_what_was_escaped_stays_as_it_is(path: str):
    assert requoted_path(quoted_path(path)) == quoted_path(path)


def test_a_relative_path_begins_no_scheme():
    assert quoted_relative("note: one & two.md") == "note%3A%20one%20%26%20two.md"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "::1%lo", "::ffff:127.0.0.1"])
def test_a_host_of_this_machine(host: str):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "::", "10.0.0.1", "localhost.example", "127.0.0.1.example", "::ffff:10.0.0.1"]
)
def test_a_host_of_another_machine(host: str):
    assert not is_loopback(host)


def test_one_spelling_of_a_url():
    assert normal_url("HTTPS://Ferries.example:443/a/../bé?q=ü#top") == "https://ferries.example/b%C3%A9?q=%C3%BC"
    assert normal_url("http://ferries.example") == "http://ferries.example/"
    assert normal_url(normal_url("http://ferries.example/%7eann?a=*")) == "http://ferries.example/~ann?a=*"


def test_addresses_of_one_document_have_one_key():
    assert address_key("//Ferries.example/a/#top") == address_key("https://ferries.example/a") != ""
    assert address_key("mailto:ann@ferries.example") == http_origin("mailto:ann@ferries.example") == ""


def test_what_may_stand_in_a_path_is_written_once():
    written = [named(each) for each in modules() if "!$&'()*+,;=" in each.read_text("utf-8")]
    assert written == ["src/prosa/source/url.py"]
    assert set(PATH_SAFE) == {"/", *SEGMENT_SAFE}
