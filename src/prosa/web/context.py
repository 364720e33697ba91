"""What the endpoints of a site share: the live site, what the user chose, who may do what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from prosa.render.page.model import Frame
from prosa.web.run.gate import Attempts
from prosa.web.session import Reader, Sessions

if TYPE_CHECKING:
    from prosa.app.site.live import LiveSite
    from prosa.web.run.runner import Runner


class Web(Struct, frozen=True):
    """One site over HTTP.

    ``prefix`` is its path, without a slash at the end; ``origin`` its `https://host`, empty if unknown. ``closed``
    requires the token for every request. ``runner`` is None if nothing runs (X6); ``attempts`` are wrong tokens.
    """

    site: LiveSite
    sessions: Sessions
    prefix: str = ""
    origin: str = ""
    closed: bool = False
    runner: Runner | None = None
    attempts: Attempts = field(default_factory=Attempts)

    def frame(self, reader: Reader) -> Frame:
        """Return what all pages for a reader share."""
        return Frame(
            name=self.site.options.name,
            prefix=self.prefix,
            origin=self.origin,
            can_run=self.runner is not None,
            signed_in=reader.signed_in,
            csrf=reader.csrf,
        )
