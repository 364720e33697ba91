"""Which key goes where (X7): a table of environments, base URLs and named variables."""

from __future__ import annotations

import pytest

from prosa.adapters.providers.endpoint import choose_key, same_origin
from prosa.runtime.errors import ProviderError

MINE = {"OPENAI_API_KEY": "sk-mine"}
GATEWAY = {**MINE, "OPENAI_BASE_URL": "https://gateway.example/v1", "OTHER": "sk-other\n"}


@pytest.mark.parametrize(
    ("environ", "base_url", "named", "key", "told"),
    [
        (MINE, None, None, "sk-mine", False),
        (MINE, "https://api.openai.com/v1", None, "sk-mine", False),
        (MINE, "https://api.openai.com:443/other", None, "sk-mine", False),
        (MINE, "http://api.openai.com/v1", None, None, True),
        (MINE, "https://api.openai.com.evil.example/v1", None, None, True),
        (MINE, "https://api.openai.com@evil.example/v1", None, None, True),
        (MINE, "http://x:99999", None, None, True),
        (MINE, "http://[", None, None, True),
        (GATEWAY, "https://gateway.example/v1", None, "sk-mine", False),
        (GATEWAY, "https://gateway.example/other/", None, "sk-mine", False),
        (GATEWAY, "https://api.openai.com/v1", None, None, True),
        (GATEWAY, "https://elsewhere.example", "OTHER", "sk-other", False),
        (GATEWAY, "https://gateway.example/v1", "OTHER", "sk-other", False),
        ({"OPENAI_API_KEY": "  "}, "https://elsewhere.example", None, None, False),
        ({}, "https://elsewhere.example", None, None, False),
        ({}, None, None, None, False),
        ({"OPENAI_API_KEY": " sk-mine\r\n"}, None, None, "sk-mine", False),
    ],
    ids=range(17),
)
def test_x7_a_key_goes_only_where_the_user_configured_it(
    environ: dict[str, str], base_url: str | None, named: str | None, key: str | None, told: bool
):
    notices: list[str] = []
    assert choose_key(environ, base_url, named=named, notice=notices.append) == key
    assert bool(notices) == told
    assert not any("sk-" in each for each in notices)


@pytest.mark.parametrize(("named", "value"), [("GONE", None), ("EMPTY", " \n"), ("ODD", "sk\u2028x"), ("TWO", "a\nb")])
def test_x7_a_key_that_is_none_is_an_error_that_names_its_variable(named: str, value: str | None):
    environ = MINE | ({named: value} if value is not None else {})
    with pytest.raises(ProviderError, match=named) as caught:
        choose_key(environ, None, named=named, notice=print)
    assert caught.value.kind == "auth"
    assert "sk" not in caught.value.message


def test_x7_a_notice_does_not_repeat_the_password_of_a_base_url():
    notices: list[str] = []
    choose_key(MINE, "https://me:hunter2@elsewhere.example/v1", named=None, notice=notices.append)
    assert notices == [
        "note: OPENAI_API_KEY is not sent to https://elsewhere.example/v1; to send it: --api-key-env OPENAI_API_KEY"
    ]


def test_origins_are_scheme_host_and_port():
    assert same_origin("https://a.example", "https://a.example:443/v1")
    assert same_origin(None, "https://api.openai.com")
    assert not same_origin("https://a.example", None)
    assert not same_origin("http://a.example:443", "https://a.example")
