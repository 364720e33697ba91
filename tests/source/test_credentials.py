"""X38: credentials are known by the forms of their issuers, and what documentation shows in their place is none.

Each is put together here, so that no file holds one."""

from __future__ import annotations

import base64
import json
import random
import string
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.source.credentials import credentials, masked
from tests.work import is_linear

CHARS = string.ascii_letters + string.digits
BASE32, BASE64 = string.ascii_uppercase + "234567", CHARS + "-_"
HEX = "0123456789abcdef"


def some(count: int, alphabet: str = CHARS, seed: int = 2) -> str:
    return "".join(random.Random(seed * 1_000 + count).choices(alphabet, k=count))


def summed(prefix: str, body: str) -> str:
    left, digits = crc32(body.encode()), ""
    for _ in range(6):
        left, digit = divmod(left, 62)
        digits = f"{(string.digits + string.ascii_uppercase + string.ascii_lowercase)[digit]}{digits}"
    return f"{prefix}{body}{digits}"


def jwt(**claims: object) -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, claims)
    encoded = (base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts)
    return ".".join((*encoded, some(43, BASE64)))


HEAD, TAIL = (f"-----{each} {''}PRIVATE KEY-----" for each in ("BEGIN", "END"))


def pem(kind: str, data: bytes) -> str:
    body = base64.encodebytes(data).decode()
    return f"-----BEGIN {kind}PRIVATE KEY-----\n{body}-----END {kind}PRIVATE KEY-----"


DER = b"\x30\x82" + (600).to_bytes(2, "big") + random.Random(1).randbytes(600)

REAL = {
    "GitHub token": summed("ghp_", some(30)),
    "npm token": summed("npm_", some(30)),
    "GitHub token, fine-grained": f"github_pat_{some(22)}_{some(59)}",
    "Hugging Face token": f"hf_{some(34, string.ascii_letters)}",
    "live key of Stripe": f"sk_live_{some(24)}",
    "DigitalOcean token": f"dop_v1_{some(64, HEX)}",
    "Shopify token": f"shpat_{some(32, HEX)}",
    "Groq key": f"gsk_{some(52)}",
    "Replicate token": f"r8_{some(37)}",
    "Linear key": f"lin_api_{some(40)}",
    "AWS access key": f"AKIA{some(16, BASE32)}",
    "AWS access key, temporary": f"ASIA{some(16, BASE32)}",
    "Google API key": f"AIza{some(35, BASE64)}",
    "age secret key": f"AGE-SECRET-KEY-1{some(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L')}",
    "token of a package index": f"pypi-AgEIcHlwaS5vcmc{some(120, BASE64)}",
    "Telegram bot token": f"{some(9, '6789')}:AA{some(33, BASE64)}",
    "private key": pem("", DER),
    "private key, RSA": pem("RSA ", DER),
    "private key, OpenSSH": pem("OPENSSH ", b"openssh-key-v1\0" + random.Random(1).randbytes(300)),
    "OpenAI key": f"sk-proj-{some(74, BASE64)}T3BlbkFJ{some(74, BASE64)}",
    "OpenAI key, old": f"sk-{some(20)}T3BlbkFJ{some(20)}",
    "Anthropic key": f"sk-ant-api03-{some(93, BASE64)}AA",
    "JSON Web Token": jwt(sub="9f3c", iss="https://login.ferries.dev"),
    "Slack token": f"xoxb-{some(12, '6789')}-{some(13, '6789')}-{some(24)}",
    "Slack webhook": f"hooks.slack.com/services/T{some(10, BASE32)}/B{some(10, BASE32)}/{some(24)}",
    "SendGrid key": f"SG.{some(22, BASE64)}.{some(43, BASE64)}",
    "GitLab token": f"glpat-{some(20, BASE64)}",
}


@pytest.mark.parametrize("name", REAL)
def test_x38_a_credential_is_found_where_it_stands(name: str):
    for text in (REAL[name], f"KEY={REAL[name]}\n", f'{{"key": "{REAL[name]}"}}', f"see `{REAL[name]}`."):
        (found,) = credentials(text)
        assert text[found.start : found.end] == REAL[name] and found.kind == name.partition(",")[0]
        assert found.certain is (found.kind not in ("JSON Web Token", "Google API key"))


@pytest.mark.parametrize("name", REAL)
def test_x38_what_is_shown_is_the_beginning_alone(name: str):
    shown = masked(f"a {REAL[name]} b")
    (found,) = credentials(REAL[name])
    assert len(shown) == len(REAL[name]) + 4 and shown.count("*") >= len(REAL[name]) - found.shown
    assert credentials(shown) == [] and shown.startswith("a ") and shown.endswith(" b")


EXAMPLES = {
    "the example of AWS": "AKIAIOSFODNN7" + "EXAMPLE",
    "crosses": f"sk-{'x' * 48}, ghp_{'x' * 36}, AKIA{'X' * 16}",
    "words": f"sk_live_your_key_here, glpat-{'your-token-goes-here'}, hf_{'YourTokenGoesHereYourTokenGoesHere'}",
    "a wrong check sum": f"ghp_{some(36)} npm_{some(36)}",
    "a row of digits": f"dop_v1_{'0123456789' * 6}0123",
    "one letter": f"AIza{'a' * 35}",
    "too short": f"AKIA{some(12, BASE32)} ghp_{some(20)}",
    "part of a word": f"xAKIA{some(16, BASE32)} AKIA{some(20, BASE32)}",
    "a key without its bytes": f"{HEAD}\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n{TAIL}",
    "the beginning of a key": f"{HEAD}\n...\n{TAIL}",
    "a public key": pem("", DER).replace("PRIVATE", "PUBLIC"),
    "the token of every tutorial": jwt(sub="1234567890", name="John Doe"),
    "a key for browsers": jwt(role="anon", iss="supabase"),
    "a token without a signature": f"eyJhbGciOiJub25lIn0.{jwt(a=1).split('.')[1]}.{some(43, BASE64)}",
    "a token that is none": f"eyJ{some(30)}.eyJ{some(30)}.{some(43)}",
    "a test key of Stripe": f"sk_test_{some(24)}",
    "random text": f"{some(64, HEX)} {some(40)} {some(88, CHARS + '+/')}==",
    "names": "_live_, ghp_, AKIA, AIza, eyJ, T3BlbkFJ, xoxb-, SG., sk-ant-, glpat-, hooks.slack.com/services/T0/B0/x",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_x38_what_documentation_shows_is_no_credential(name: str):
    assert credentials(EXAMPLES[name]) == []


PIECES = (
    *REAL.values(),
    *EXAMPLES.values(),
    "eyJ",
    "eyJa.",
    "-----BEGIN " + "PRIVATE KEY-----",
    "sk-",
    "_",
    "-",
    ":AA",
    "\ud800",
    "ä",
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_x38_any_text_is_read_and_masked(text: str):
    found = credentials(text)
    assert found == sorted(found) and all(0 <= each.start < each.end <= len(text) for each in found)
    assert len(masked(text)) == len(text)


@pytest.mark.parametrize("piece", [*PIECES, "eyJaaaaaaaaaaaaa.", "sk-aT3BlbkFJ", HEAD + "a" * 100])
def test_x38_the_search_takes_linear_time(piece: str):
    assert is_linear(lambda size: credentials(piece * (size // len(piece) + 1)), 8_000, 64_000)
