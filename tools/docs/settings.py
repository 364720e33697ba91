"""Every setting below a heading of its own, out of the table of settings."""

from __future__ import annotations

from prosa.settings import PROJECT_FILE, SETTINGS, USER_FILE, Setting
from prosa.settings.read import KINDS
from tools.docs.writing import Made, page, prose, sentence


def setting_page() -> Made:
    """Return those of the user, then those of a project."""
    about = "[Settings](../settings.md) describes the two files and their precedence."
    parts = [
        f"{about} A `*` stands for a name that you choose.",
        f"## {USER_FILE}",
        *(_setting(each) for each in SETTINGS if each.level == "user"),
        f"## {PROJECT_FILE}",
        *(_setting(each) for each in SETTINGS if each.level == "project"),
    ]
    return Made("settings.md", page("Every setting", *parts))


def _setting(each: Setting) -> str:
    default = each.default if each.default.startswith("`") else prose(each.default)
    kind = sentence(KINDS[each.kind][0]).rstrip(".")
    return f"### {prose(each.key)}\n\n{sentence(each.doc)}\n\n{kind}; default: {default}."
