"""The settings for one call that stand in the environment. What reads them loads only where there are some."""

from __future__ import annotations

from collections.abc import Mapping

from prosa.settings.model import SET_VARIABLE, Given


def given_here(environ: Mapping[str, str]) -> Given | None:
    """Return the settings that are given for this call, None without any. Raises `prosa.settings.given.BadSetting`."""
    lines = environ.get(SET_VARIABLE, "").splitlines()
    if not any(line.strip() for line in lines):
        return None
    from prosa.settings.given import given_settings

    return given_settings([line.strip() for line in lines if line.strip()])
