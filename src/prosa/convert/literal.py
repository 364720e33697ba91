"""Text as a template that renders exactly this text, and headings of messages as plain text (X11, P2).

In: an author's text. Out: a text in the other language, and back. `{{` in a skill stays `{{` when the program made
from it is rendered, and `### @system:` does not become a message.
"""

from __future__ import annotations

from prosa.regex import regex
from prosa.template import Template, TemplateError

_BRACES = regex(r"\{{2,}")
_NOTHING = '{{ "" }}'
_HEADING = regex(r"(?:(?<=[\r\n])|\A)(?P<before>[ ]{0,3}#{3}[ \t]+)(?P<slashes>\\*)(?=(?://[ \t]*)?@)")
_GUARDED = regex(r'(?:(?<=[\r\n])|\A)([ ]{0,3}#{3}[ \t]+)\{\{ "" \}\}(?=(?://[ \t]*)?@)')


def spelled(text: str) -> str:
    """Return a template that always renders as ``text``."""
    return guarded(_BRACES.sub(r'{{ "\g<0>" }}', text)) if "{{" in text else guarded(text)


def spells(template: str) -> str | None:
    """Return the constant text of a template; None if it looks anything up, or is not a template."""
    try:
        parsed = Template(template)
        return None if parsed.uses else parsed.render({})
    except TemplateError:
        return None


def guarded(template: str) -> str:
    """Return a template in which no line is the heading of a message."""
    return _HEADING.sub(lambda found: f"{found['before']}{_NOTHING}{found['slashes']}", template)


def unguarded(template: str) -> str:
    """Return the original template of `guarded`."""
    return _GUARDED.sub(lambda found: found[1], template)


def has_headings(text: str) -> bool:
    """Return whether a line of it may be the heading of a message."""
    return any(not found["slashes"] for found in _HEADING.finditer(text))


def escaped_headings(text: str) -> str:
    """Return a Markdown text in which no line is the heading of a message; n backslashes become 2n + 1."""
    return _HEADING.sub(lambda found: found["before"] + "\\" * (2 * len(found["slashes"]) + 1), text)


def unescaped_headings(text: str) -> str:
    """Return the original text of `escaped_headings`."""
    return _HEADING.sub(lambda found: found["before"] + "\\" * (len(found["slashes"]) // 2), text)
