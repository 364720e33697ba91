"""From files to URLs and back, and what no URL of a site is."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.dialects.mdh.url import MAX_PATH, NODE_ROOT, decoded, is_reserved
from prosa.site.layout import asked, folder_twin, id_and_form, twin_of, url_of

PARTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(" %?#&;+=:@()[]<>\"'*~,.-_|^`{}äß漢😀e\u0301"),
        st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="/\\"),
    ),
    min_size=1,
    max_size=12,
).filter(lambda part: not part.startswith("."))
SUFFIX = st.sampled_from([".md", ".markdown", ".MD", ".mda", ".ymj", ".MARKDOWN"])
PATHS = st.builds(lambda parts, suffix: "/".join(parts) + suffix, st.lists(PARTS, min_size=1, max_size=3), SUFFIX)


def wanted(url: str) -> list[tuple[str, str | None]]:
    """What a URL, as it is sent, may mean."""
    path = decoded(url.encode("ascii"))
    assert path is not None, url
    return [(each.path, each.form) for each in asked(path).wanted]


@given(PATHS)
def test_h7_ha2_hw4_the_url_of_a_file_leads_back_to_it(path: str) -> None:
    """H7, HA2, HW4. For every name; only characters that RFC 3986 allows stand in it."""
    url = url_of(path)
    assert url.isascii()
    assert not set(url) & set(' <>"?#[]\\^`{|}')
    assert path in [each for each, _ in wanted(url)]


@given(PATHS, st.sampled_from(["markdown", "json", "html"]))
def test_ha7_the_twins_of_a_url_lead_back_to_the_file(path: str, form: str) -> None:
    """HA7. `/x.md`, `/x.json` and `/x.html` give one form each."""
    assert (path, form) in wanted(twin_of(url_of(path), form))  # type: ignore[arg-type]


IDS = st.one_of(
    PARTS,
    st.text(max_size=20).filter(lambda text: text.encode("utf-8", "replace").decode() == text),
    st.sampled_from([".x", "a/../b", "a//b", "/", "a/", "..", "a\\b", "a\nb", "x" * 3_000, "a/.b", "%2e%2e"]),
)


@given(IDS)
def test_h7_an_id_leads_back_to_itself_or_is_no_part_of_a_url(own_id: str) -> None:
    """H7. With the layout `id`, a document whose id no URL can hold lives at its path."""
    url = url_of("notes/a.md", own_id, "id")
    if url.startswith(NODE_ROOT):
        assert asked(decoded(url.encode("ascii")) or "").id == own_id
        assert id_and_form(unquote(twin_of(url, "json"))) == (own_id, "json")
    else:
        assert url == "/notes/a"


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("index.md", "/"),
        ("a/index.md", "/a/"),
        ("a/b.md", "/a/b"),
        ("a.markdown", "/a"),
        ("a.mda", "/a.mda"),
        ("a.ymj", "/a.ymj"),
        ("a b.md", "/a%20b"),
        ("100%.md", "/100%25"),
        ("what?.md", "/what%3F"),
        ("c#.md", "/c%23"),
        ("ä.md", "/%C3%A4"),
        ("index/a.md", "/index/a"),
        ("reindex.md", "/reindex"),
    ],
)
def test_ha2_urls(path: str, url: str) -> None:
    """HA2."""
    assert url_of(path) == url


@pytest.mark.parametrize(
    ("url", "first"),
    [
        ("/", ("index.md", None)),
        ("/index", ("index.md", None)),
        ("/index.md", ("index.md", "markdown")),
        ("/a", ("a.md", None)),
        ("/a.md", ("a.md", "markdown")),
        ("/a/", ("a/index.md", None)),
        ("/a.mda", ("a.mda", None)),
        ("/a%2Fb", ("a/b.md", None)),
    ],
)
def test_ha2_what_a_url_means_first(url: str, first: tuple[str, str | None]) -> None:
    """HA2."""
    assert wanted(url)[0] == first


REFUSED = [
    b"",
    b"a",
    b"*",
    b"http://elsewhere/a",
    b"/..",
    b"/../a",
    b"/a/../b",
    b"/a/..",
    b"/./a",
    b"/a/.",
    b"/%2e%2e/a",
    b"/%2E%2E/a",
    b"/.%2e/a",
    b"/a/%2e%2e%2fb",
    b"/..%2fetc/passwd",
    b"/..%5cetc",
    b"/a\\b",
    b"/a%5Cb",
    b"/%00",
    b"/a%00.md",
    b"/a%0d%0aSet-Cookie:x",
    b"/a%0A",
    b"/a%7F",
    b"/a%1b[31m",
    b"//",
    b"//a",
    b"//elsewhere.example/",
    b"/a//b",
    b"/a//",
    b"/%2f",
    b"/%2fa",
    b"/a%2f%2fb",
    b"/%c0%ae%c0%ae/a",
    b"/%c0%afetc",
    b"/%e0%80%ae",
    b"/%ff",
    b"/%ed%a0%80",
    b"/%f8%80%80%80%af",
    b"/\xff",
    b"/\x00",
    b"/.env",
    b"/.git/config",
    b"/a/.hidden",
    b"/%2Egit/config",
    b"/a/.well-known/x",
    b"/...",
    b"/" + b"a" * MAX_PATH,
]


@pytest.mark.parametrize("raw", REFUSED)
def test_hw4_x5c_what_is_no_path_of_a_site(raw: bytes) -> None:
    """HW4, X5. However it is written: nothing climbs, nothing is hidden, nothing ends a line or a name."""
    assert decoded(raw) is None


BYTES = st.lists(
    st.sampled_from(
        [b"/", b".", b"..", b"%2e", b"%2F", b"%5c", b"a", b"%61", b"%00", b"%25", b"~", b"%c0%af", b"\xff"]
    ),
    max_size=9,
).map(b"".join)


@given(BYTES)
def test_hw4_no_bytes_lead_out_of_the_root(raw: bytes) -> None:
    """HW4. What is decoded has no part that climbs or is hidden, whatever was sent, and is decoded once."""
    path = decoded(b"/" + raw)
    for each, _ in asked(path).wanted if path is not None else ():
        assert all(part and not part.startswith(".") for part in each.split("/"))
        assert not set(each) & set("\\\0\r\n")


def test_hw4_a_path_is_decoded_once() -> None:
    """HW4."""
    assert decoded(b"/%252e%252e/a") == "/%2e%2e/a"


@pytest.mark.parametrize(
    ("path", "twin"),
    [
        ("/", ("", None)),
        ("/a/", ("a/", None)),
        ("/index", ("", None)),
        ("/a/index.json", ("a/", "json")),
        ("/a/index.html", ("a/", "html")),
        ("/index.md", ("", "markdown")),
        ("/a", None),
        ("/reindex", None),
        ("/a.md", None),
    ],
)
def test_h7_the_twins_of_a_folder(path: str, twin: tuple[str, str | None] | None) -> None:
    """H7, HA7."""
    assert folder_twin(path) == twin


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("/mdh/a", True),
        ("/mdh/", True),
        ("/healthz", True),
        ("/llms.txt", True),
        ("/mdhx", False),
        ("/healthz-a", False),
        ("/", False),
    ],
)
def test_h7_what_belongs_to_the_site_itself(url: str, ours: bool) -> None:
    """H7."""
    assert is_reserved(url) is ours
