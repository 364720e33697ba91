"""Text as a template that spells exactly this text, and headings of messages as text that is none (X11, P2).

In: a text that somebody wrote. Out: a text in the other language, and back. `{{` in a skill stays `{{` when the program
that was made of it is rendered, and `### @system:` does not become a message.
"""

from __future__ import annotations

from prosa.regex import regex
from prosa.template import Template, TemplateError

_BRACES = regex(r"\{{2,}")
_NOTHING = '{{ "" }}'
_HEADING = regex(r"(?:(?<=[\r\n])|\A)(?P<before>[ ]{0,3}#{3}[ \t]+)(?P<slashes>\\*)(?=(?://[ \t]*)?@)")
_GUARDED = regex(r'(?:(?<=[\r\n])|\A)([ ]{0,3}#{3}[ \t]+)\{\{ "" \}\}(?=(?://[ \t]*)?@)')


def spelled(text: str) -> str:
    """Return a template that renders as ``text``, whatever data it is given."""
    return guarded(_BRACES.sub(r'{{ "\g<0>" }}', text)) if "{{" in text else guarded(text)


def spells(template: str) -> str | None:
    """Return the text that a template spells; None where it looks anything up, or is none."""
    try:
        parsed = Template(template)
        return None if parsed.uses else parsed.render({})
    except TemplateError:
        return None


def guarded(template: str) -> str:
    """Return a template in which no line is the heading of a message."""
    return _HEADING.sub(lambda found: f"{found['before']}{_NOTHING}{found['slashes']}", template)


def unguarded(template: str) -> str:
    """Return the template that `guarded` was given."""
    return _GUARDED.sub(lambda found: found[1], template)


def has_headings(text: str) -> bool:
    """Return whether a line of it may be the heading of a message."""
    return any(not found["slashes"] for found in _HEADING.finditer(text))


def escaped_headings(text: str) -> str:
    """Return a Markdown text in which no line is the heading of a message; n backslashes become 2n + 1."""
    return _HEADING.sub(lambda found: found["before"] + "\\" * (2 * len(found["slashes"]) + 1), text)


def unescaped_headings(text: str) -> str:
    """Return the text that `escaped_headings` was given."""
    return _HEADING.sub(lambda found: found["before"] + "\\" * (len(found["slashes"]) // 2), text)
