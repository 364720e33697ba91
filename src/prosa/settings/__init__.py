"""What a user or a project may set (X7, X9, X16): one table, one value; `prosa.settings.read` reads it from a text."""

from prosa.settings.model import (
    DOCUMENTATION,
    PROJECT_FILE,
    PROJECT_FILES,
    SETTINGS,
    USER_FILE,
    GlobSettings,
    ModelSettings,
    Price,
    ProviderSettings,
    Setting,
    Settings,
    is_about_prosa,
    merge,
)

__all__ = [
    "DOCUMENTATION",
    "PROJECT_FILE",
    "PROJECT_FILES",
    "SETTINGS",
    "USER_FILE",
    "GlobSettings",
    "ModelSettings",
    "Price",
    "ProviderSettings",
    "Setting",
    "Settings",
    "is_about_prosa",
    "merge",
]
