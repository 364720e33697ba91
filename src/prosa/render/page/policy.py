"""What the browser may do with a page: nothing but read this site's own style, scripts and pictures.

No page has a style attribute, an inline script or an event handler, so that the policy needs no exception.
"""

from __future__ import annotations

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "script-src 'self'",
        "img-src 'self' data:",
        "media-src 'self'",
        "font-src 'none'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The value of `Content-Security-Policy` for every page."""

META_POLICY = POLICY.replace("; frame-ancestors 'none'", "")
"""The same inside a page that lies on a host which sends no policy; frames can only be refused by a header."""
