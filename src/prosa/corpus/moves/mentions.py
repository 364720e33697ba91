"""Where a document may be named without being referred to: in images, attributes of HTML, link definitions that nobody
uses. They are no edges, and lead astray all the same when a file moves.

In: the path of a document. Out: whether a text may name it so. The answer may be yes too often, and is only there to
leave most texts unread.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from urllib.parse import quote

_REACH = 300
"""Characters of a destination in front of the name of the file; a bound that keeps the search linear."""


def mentions(path: str) -> Callable[[str], bool]:
    """Tells whether a text has the stem of ``path``, bare or percent-encoded, in a destination."""
    stem = posixpath.splitext(posixpath.basename(path))[0]
    if stem.lower() in ("index", "readme", "_index"):
        stem = posixpath.basename(posixpath.dirname(path)) or stem  # a page may be named by its folder alone
    names = {stem, quote(stem), quote(stem, safe="/!$&'()*+,;=:@~")}
    before = r"(?:\b(?:[Hh][Rr][Ee][Ff]|[Ss][Rr][Cc])\s{0,9}=\s{0,9}[\"']|\]\(\s{0,9}<?|\]:\s{0,9}<?)"
    pattern = re.compile(rf"{before}[^\"'<>\n]{{0,{_REACH}}}?(?:{'|'.join(map(re.escape, names))})(?![\w-])")
    return lambda text: any(name in text for name in names) and pattern.search(text) is not None
