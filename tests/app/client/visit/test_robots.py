"""RFC 9309, read: groups, the longest pattern, wildcards, and whatever else stands in such files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.site.robots import ALL, MAX_RULES, read_robots

GROUPS = """\
\ufeffUser-Agent: googlebot # another
Disallow: /
Crawl-delay: 99

user-agent: other
User-agent: prosa/2.0
Sitemap: https://x.example/sitemap.xml
Disallow: /private   # not for us
Allow: /private/open
Disallow: /*.pdf$
Disallow: /q?*x=
Disallow:
Crawl-delay: 1.5
nonsense

User-agent: *
Disallow: /

User-agent: PROSA
Disallow: /later
"""


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", True),
        ("/private", False),
        ("/privately", False),
        ("/private/open/x", True),
        ("/%70rivate", False),
        ("/a.pdf", False),
        ("/a.pdf?x", True),
        ("/a.pdf.pdf", False),
        ("/q?a=1&x=2", False),
        ("/q?a=1", True),
        ("/later", False),
        ("/robots.txt", True),
    ],
)
def test_the_groups_for_us_count(path: str, allowed: bool):
    assert read_robots(GROUPS).allows(path) is allowed


def test_the_others_where_there_is_none_for_us():
    assert read_robots(GROUPS).delay == 1.5
    assert not read_robots("User-agent: *\nDisallow: /\n").allows("/x")
    assert read_robots("User-agent: *\nDisallow: /\n\nUser-agent: prosa\n").allows("/x")
    assert read_robots("Disallow: /\n") == ALL == read_robots("")


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("Disallow: /a\nAllow: /a", "/a", True),
        ("Allow: /a/b\nDisallow: /a", "/a/b", True),
        ("Disallow: /$", "/", False),
        ("Disallow: /$", "/a", True),
        ("Disallow: /a*b*c$", "/axbxc", False),
        ("Disallow: /a*b*c$", "/axbxcx", True),
        ("Disallow: /a*a$", "/a", True),
        ("Disallow: /ö", "/%C3%B6", False),
        ("Disallow: *x", "/zx", False),
        ("Disallow: x", "/x", True),
    ],
)
def test_patterns(rules: str, path: str, allowed: bool):
    assert read_robots(f"User-agent: *\n{rules}\n").allows(path) is allowed


def test_hostile_files_end():
    wild = "User-agent: *\n" + "Disallow: /" + "*a" * 20_000 + "$\n"
    assert read_robots(wild).allows("/" + "a" * 10_000)
    many = read_robots("User-agent: *\n" + "Disallow: /x\n" * 100_000)
    assert len(many.rules) == MAX_RULES
    assert read_robots("User-agent: *\nCrawl-delay: 999999999\n").delay == 3_600
    assert read_robots("User-agent: *\nCrawl-delay: -1\nCrawl-delay: 1e9\nCrawl-delay: inf\n").delay == 0


@given(st.text(alphabet="User-agent:*prosaDisllw/$%#\n\r \t.0", max_size=200), st.text(max_size=20))
def test_no_file_makes_reading_fail(text: str, path: str):
    assert read_robots(text).allows(f"/{path}") in (True, False)
