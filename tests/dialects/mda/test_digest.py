"""The canonical form of RFC 8785, digests, and versions in ranges."""

from __future__ import annotations

import struct

import pytest

from prosa.dialects.dialect import FormatOptions
from prosa.dialects.mda.canonical import canonical
from prosa.dialects.mda.digest import normal_body
from prosa.dialects.mda.versions import newest, satisfies
from tests.depth import DEEP
from tests.dialects.mda.reading import GOOD, errors, formatted, found, model, sealed

UNSIGNED = GOOD[: GOOD.index("signatures:")] + GOOD[GOOD.index("---\n\n# Ferry") :]


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_numbers_are_those_of_rfc_8785(bits: str, text: str):
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number).decode() == text


def test_names_are_in_the_order_of_their_utf_16_code_units():
    names = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    order = [line.partition(":")[2] for line in canonical(names).decode()[1:-1].split(",")]
    assert order == ["2", "4", "6", "7", "1", "5", "3"]
    assert canonical({"b": [True, None, '\u0007"\\\n\u00e9'], "a": 1.0}).decode() == (
        '{"a":1,"b":[true,null,"\\u0007\\"\\\\\\n\u00e9"]}'
    )


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\ud800", {"\ud800": 1}])
def test_what_has_no_form_is_refused(value: object):
    with pytest.raises(ValueError):
        canonical(value)


@pytest.mark.parametrize(
    ("body", "normal"),
    [
        ("", ""),
        ("\n\n", ""),
        ("a", "a\n"),
        ("a \t\r\nb\r\rc\n\n\n", "a\nb\n\nc\n"),
        ("\na", "\na\n"),
        ("a\u00a0", "a\u00a0\n"),
    ],
)
def test_a_body_is_hashed_without_what_editors_change(body: str, normal: str):
    assert normal_body(body) == normal


def test_x42_a_forged_digest_is_found_and_written_anew_where_it_is_not_signed():
    """X42. It is a warning for readers, an error for those who are strict; `--rehash` mends it, twice the same."""
    assert ("integrity-mismatch", "warning") in found(UNSIGNED.replace("DIGEST", "0" * 64))
    assert ("integrity-mismatch", "error") in found(UNSIGNED.replace("DIGEST", "0" * 64), strict=True)
    mended = formatted(UNSIGNED.replace("DIGEST", "0" * 64), FormatOptions(rehash=True))
    assert mended == sealed(UNSIGNED) == formatted(mended, FormatOptions(rehash=True))
    signed = GOOD.replace("DIGEST", "0" * 64)
    assert formatted(signed, FormatOptions(rehash=True)) == signed
    assert formatted(UNSIGNED.replace("DIGEST", "0" * 64)) == UNSIGNED.replace("DIGEST", "0" * 64)


def test_x42_formatting_quotes_what_has_to_be_quoted_and_keeps_the_digest():
    """X42."""
    loose = sealed(UNSIGNED).replace('"1.4.0"', "1.4.0").replace('"2026-05-07T00:00:00Z"', "2026-05-07T00:00:00Z")
    assert errors(loose) == ["unquoted-text", "unquoted-text"]
    assert formatted(loose) == sealed(UNSIGNED)
    assert formatted(sealed(GOOD)) == sealed(GOOD)


@pytest.mark.parametrize(
    ("version", "range_", "fits"),
    [
        ("1.2.0", "1.2.0", True),
        ("1.2.1", "1.2.0", False),
        ("1.9.9", "^1.2.0", True),
        ("1.1.9", "^1.2.0", False),
        ("2.0.0", "^1.2.0", False),
        ("0.2.9", "^0.2.3", True),
        ("0.3.0", "^0.2.3", False),
        ("0.0.9", "^0.0.3", True),
        ("1.2.0-rc.1", "^1.2.0", False),
        ("1.3.0-rc.1", "^1.2.0", False),
        ("1.2.0-rc.2", "^1.2.0-rc.1", True),
        ("1.2.0-rc.10", "^1.2.0-rc.9", True),
        ("", "^1.2.0", False),
    ],
)
def test_versions_in_ranges(version: str, range_: str, fits: bool):
    assert satisfies(version, range_) is fits


def test_versions_are_in_the_order_of_semver():
    order = "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1"
    assert sorted(sorted(order.split()), key=newest) == order.split()


def test_x42_large_front_matter_is_found_and_not_read():
    """X42."""
    text = f"---\nname: a\ndescription: {'x' * (5_000_000 if DEEP else 300_000)}\n---\n"
    assert errors(text) == ["front-matter-too-large"]
    assert model(text).fields == {}
