"""Credentials in text, known by the forms of their issuers: prefixes, lengths, check sums (X38). In: text. Out: places.

Linear. Nothing is judged by its entropy, and what documentation shows in place of a credential is none.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from zlib import crc32

from msgspec import MsgspecError, Raw, Struct
from msgspec.json import decode

from prosa.regex import regex


class Credential(Struct, frozen=True, order=True):
    """A credential from ``start`` to ``end``. ``kind`` names it, ``shown`` of its characters may be shown, and it is
    ``certain`` unless some of its kind are meant to be public."""

    start: int
    end: int
    kind: str
    shown: int
    certain: bool


class _Form(Struct, frozen=True):
    """What a credential of a kind looks like; ``holds`` judges what ``pattern`` found."""

    kind: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]
    shown: int = 4
    certain: bool = True


_EXAMPLE = regex(
    r"example|placeholder|sample|your|dummy|fake|redact|change|replace|insert|xxx|test|12345|abcdef|a1b2c3|\.\.\.|00000",
    re.IGNORECASE,
)
"""What the examples of documentation hold. Random text hardly ever does."""

_LEAST_VARIETY = 9
"""Different characters in a credential; one with fewer was typed by hand."""

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _is_varied(text: str) -> bool:
    return len(set(text)) >= _LEAST_VARIETY and not _EXAMPLE.search(text)


def _sums_up(text: str) -> bool:
    """Return whether the last six characters are the check sum of the others, as in tokens of GitHub and npm."""
    body = text.partition("_")[2]
    left, digits = crc32(body[:-6].encode()), ""
    for _ in range(6):
        left, digit = divmod(left, 62)
        digits = _BASE62[digit] + digits
    return body[-6:] == digits


def _is_key(text: str) -> bool:
    """Return whether a PEM block holds as many bytes as its first ones say, or a key in the form of OpenSSH."""
    body = "".join(text.split("-----")[2].replace("\\n", " ").split())
    try:
        data = a2b_base64(body, strict_mode=True)
    except ValueError:
        return False
    if data.startswith(b"openssh-key-v1\0"):
        return len(data) > 150
    if data[:1] != b"\x30" or len(data) < 40:
        return False
    if data[1] < 0x80:
        return data[1] == len(data) - 2
    size = data[1] & 0x7F
    return int.from_bytes(data[2 : 2 + size], "big") == len(data) - 2 - size


_PUBLIC = regex(r"1234567890|john ?doe|example|\banon\b", re.IGNORECASE)
"""What the tokens of documentation hold, and those that a service sends to every browser."""


def _is_token(text: str) -> bool:
    """Return whether a JSON Web Token can be read, is signed, and is not a public one."""
    header, claims = (_decoded(part) for part in text.split(".")[:2])
    if bytes(header.get("alg", b'"none"')) == b'"none"' or not claims:
        return False
    return not _PUBLIC.search(b" ".join(map(bytes, claims.values())).decode("utf-8", "replace"))


def _decoded(text: str) -> dict[str, Raw]:
    """Return the JSON of a part of a token, empty for any other text."""
    try:
        return decode(a2b_base64(text.replace("-", "+").replace("_", "/") + "=="), type=dict[str, Raw])
    except (ValueError, MsgspecError, RecursionError):
        return {}


_UNDERSCORE = regex(
    r"_(?=[A-Za-z0-9]{20})(?:(?<=gh[pousr]_)|(?<=_pat_)|(?<=npm_)|(?<=hf_)|(?<=_live_)|(?<=_v1_)|(?<=gsk_)|(?<=r8_)"
    r"|(?<=_api_)|(?<=shp(?:at|ca|pa|ss)_))"
)
_CAPITAL = regex(r"A(?:KIA|SIA|Iza|GE-SEC|TE KEY|gEIcHlw|A(?<=:AA))")


def _has_prefix(text: str) -> bool:
    return _UNDERSCORE.search(text) is not None


def _has_capital(text: str) -> bool:
    return _CAPITAL.search(text) is not None


def _is_near(text: str, rare: str, before: tuple[str, ...], after: str = "") -> bool:
    """Return whether a rare character stands behind one of some texts and in front of another: quicker than a search
    for the whole, which looks at each character."""
    at = text.find(rare)
    while at >= 0:
        if text.startswith(after, at + 1) and text.endswith(before, 0, at):
            return True
        at = text.find(rare, at + 1)
    return False


_FORMS: tuple[tuple[Callable[[str], object], tuple[_Form, ...]], ...] = (
    (
        _has_prefix,
        (
            _Form("GitHub token", regex(r"\bgh[pousr]_[A-Za-z0-9]{36}(?!\w)"), _sums_up),
            _Form("GitHub token", regex(r"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?!\w)"), _is_varied, 11),
            _Form("npm token", regex(r"\bnpm_[A-Za-z0-9]{36}(?!\w)"), _sums_up),
            _Form("Hugging Face token", regex(r"\bhf_[A-Za-z]{34}(?!\w)"), _is_varied, 3),
            _Form("live key of Stripe", regex(r"\b[sr]k_live_[A-Za-z0-9]{24,247}(?!\w)"), _is_varied, 8),
            _Form("DigitalOcean token", regex(r"\bdo[opr]_v1_[a-f0-9]{64}(?!\w)"), _is_varied, 7),
            _Form("Shopify token", regex(r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}(?!\w)"), _is_varied, 6),
            _Form("Groq key", regex(r"\bgsk_[A-Za-z0-9]{52}(?!\w)"), _is_varied),
            _Form("Replicate token", regex(r"\br8_[A-Za-z0-9]{37}(?!\w)"), _is_varied, 3),
            _Form("Linear key", regex(r"\blin_api_[A-Za-z0-9]{40}(?!\w)"), _is_varied, 8),
        ),
    ),
    (
        _has_capital,
        (
            _Form("AWS access key", regex(r"\bA(?:KIA|SIA)[A-Z2-7]{16}(?!\w)"), _is_varied),
            _Form("Google API key", regex(r"\bAIza[\w-]{35}(?![\w-])"), _is_varied, 4, certain=False),
            _Form("age secret key", regex(r"\bAGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}(?!\w)"), _is_varied, 16),
            _Form("token of a package index", regex(r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,1000}"), _is_varied, 5),
            _Form("Telegram bot token", regex(r"\b\d{8,10}:AA[\w-]{33}(?![\w-])"), _is_varied, 4),
            _Form(
                "private key",
                regex(
                    r"-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{40,20000}"
                    r"-----END (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----"
                ),
                _is_key,
                11,
            ),
        ),
    ),
    (
        lambda text: _is_near(text, "J", ("ey", "T3BlbkF")),
        (
            _Form("OpenAI key", regex(r"(?<![\w-])sk-[\w-]{20,120}T3BlbkFJ[\w-]{20,120}"), _is_varied, 3),
            _Form(
                "JSON Web Token",
                regex(r"(?<![\w-])eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{40,}+"),
                _is_token,
                3,
                certain=False,
            ),
        ),
    ),
    (
        lambda text: _is_near(text, "G", ("S",), "."),
        (_Form("SendGrid key", regex(r"\bSG\.[\w-]{22}\.[\w-]{43}(?![\w-])"), _is_varied, 3),),
    ),
    (
        lambda text: _is_near(text, "x", ("xo",)),
        (_Form("Slack token", regex(r"\bxox[abep]-(?:\d{10,13}-){2,3}[A-Za-z0-9]{24,64}(?![\w-])"), _is_varied, 5),),
    ),
    (
        lambda text: "hooks.slack" in text,
        (_Form("Slack webhook", regex(r"hooks\.slack\.com/services/T\w{8,12}/B\w{8,12}/\w{24}"), _is_varied, 26),),
    ),
    (
        lambda text: "sk-ant-" in text,
        (_Form("Anthropic key", regex(r"\bsk-ant-[a-z]{3,5}\d\d-[\w-]{93}AA(?![\w-])"), _is_varied, 7),),
    ),
    (
        lambda text: "glpat-" in text,
        (_Form("GitLab token", regex(r"\bglpat-[\w-]{20}(?![\w-])"), _is_varied, 6),),
    ),
)
"""Forms with what a text must have for them to be looked for: most texts have nothing of it."""


def credentials(text: str) -> list[Credential]:
    """Return the credentials in ``text``, in order."""
    secrets = [
        Credential(*match.span(), form.kind, form.shown, form.certain)
        for form in _possible(text)
        for match in form.pattern.finditer(text)
        if form.holds(match[0])
    ]
    return sorted(secrets) if secrets else secrets


def _possible(text: str) -> Iterator[_Form]:
    """Yield the forms that a text may hold."""
    for may_hold, forms in _FORMS:
        if may_hold(text):
            yield from forms


def masked(text: str) -> str:
    """Return ``text``, as long as it was, without the credentials in it."""
    for credential in credentials(text):
        start = credential.start + credential.shown
        text = f"{text[:start]}{'*' * (credential.end - start)}{text[credential.end :]}"
    return text
