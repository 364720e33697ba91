"""Style and scripts: small, ours, and named after their content."""

from __future__ import annotations

import re
from hashlib import sha256
from urllib.parse import quote

import pytest

from prosa.render.page.model import Frame
from prosa.render.page.templates import ASSETS, asset_url
from tests.render.page.sample import seen
from tests.site.actions import SAILINGS

MOST_STYLE = 20_480
MOST_SCRIPT = 24_576
MOST_VIEWER = 4_096


def test_assets_are_small():
    sizes = {name: len(ASSETS[name][1]) for name in ASSETS}
    assert sizes["page.css"] < MOST_STYLE
    scripts = {name: size for name, size in sizes.items() if name.endswith(".js")}
    viewer = scripts.pop("records.js")  # no page of a site has it
    assert 0 < sum(scripts.values()) < MOST_SCRIPT and 0 < viewer < MOST_VIEWER
    assert len(ASSETS) == len(sizes) == 7


@pytest.mark.parametrize("name", ASSETS)
def test_an_address_changes_with_the_content(name: str):
    media_type, content = ASSETS[name]
    assert media_type.startswith("text/css" if name.endswith(".css") else "text/javascript")
    assert asset_url(Frame("F", prefix="/d"), name) == f"/d/mdh/assets/{name}?v={sha256(content).hexdigest()[:10]}"


def test_an_asset_that_is_not_there_is_no_asset():
    assert "../model.py" not in ASSETS
    with pytest.raises(KeyError):
        asset_url(Frame("F"), "other.js")


@pytest.mark.parametrize("name", [name for name in ASSETS if name.endswith(".js")])
def test_scripts_never_make_code_of_text(name: str):
    script = ASSETS[name][1].decode()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "eval(",
        "Function(",
        "document.write",
        ".style",
        "localStorage",
    ):
        assert word not in script


def test_the_style_loads_nothing():
    style = ASSETS["page.css"][1].decode()
    assert "url(" not in style
    assert "@import" not in style
    for needed in ("prefers-color-scheme: dark", "prefers-reduced-motion", "@media print", ":focus-visible"):
        assert needed in style


def test_scripts_are_loaded_where_they_are_needed():
    assert [each["src"].split("?")[0] for each in seen("x").all("script")] == ["/mdh/assets/page.js"]
    names = [each["src"].split("?")[0] for each in seen("x", actions=(SAILINGS,)).all("script")]
    assert names == ["/mdh/assets/page.js", "/mdh/assets/actions.js"]


def test_the_script_encodes_as_the_request_does():
    """What `encodeURIComponent` leaves and the request of prosa.site does not is what the script replaces."""
    script = ASSETS["actions.js"][1].decode()
    replaced = re.search(r"replace\(/\[(.+?)\]/g", script)
    assert replaced is not None
    left = {char for char in "-_.!~*'()" if quote(char, safe="") != char}
    assert set(replaced[1]) == left


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_read(scheme: str):
    """Text on its ground has the contrast of WCAG 2.2, 1.4.3 (AA)."""
    parts = ASSETS["page.css"][1].decode().split("(prefers-color", 1)
    light, dark = (dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+);", part)) for part in parts)
    colours = light if scheme == "light" else light | dark
    pairs = [(ink, ground) for ink in ("ink", "soft", "accent") for ground in ("paper", "raised")]
    pairs += [("warn", "warn-tint"), ("accent", "tint"), ("paper", "accent"), ("ink", "mark"), ("good", "paper")]
    assert [pair for pair in pairs if _contrast(colours[pair[0]], colours[pair[1]]) < 4.5] == []


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(each * 2 for each in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
