"""What a user or a project may set (X7, X9, X16): one table, two readers, one value. The caller brings the text."""

from prosa.settings.model import GlobSettings, Price, Settings, merge
from prosa.settings.read import read_project_settings, read_user_settings
from prosa.settings.table import PROJECT_FILE, SETTINGS, USER_FILE, Setting

__all__ = [
    "PROJECT_FILE",
    "SETTINGS",
    "USER_FILE",
    "GlobSettings",
    "Price",
    "Setting",
    "Settings",
    "merge",
    "read_project_settings",
    "read_user_settings",
]
