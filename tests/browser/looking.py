"""What a page looks like to eyes and to a screen reader, measured: contrast, focus, names of controls."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

ENOUGH = 4.5
"""The contrast that WCAG AA asks of text."""

CONTROLS = {
    "button", "checkbox", "combobox", "image", "link", "listbox", "radio", "searchbox", "slider", "spinbutton",
    "tab", "textbox",
}  # fmt: skip

FAINT = """
(enough) => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      known.set(colour, [...pen.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const over = (top, alpha, under) => under.map((each, at) => top[at] * alpha + each * (1 - alpha));
  const light = (colour) => {
    const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.map((each) => linear(each / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduce((under, layer) => over(layer, layer[3] / 255, under), dark ? [18, 18, 18] : [255, 255, 255]);
  };
  const opacity = (element) => {
    let part = 1;
    for (let at = element; at; at = at.parentElement) part *= Number(getComputedStyle(at).opacity);
    return part;
  };
  const found = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(":disabled, noscript, script, style, svg, option, .unseen, .skip:not(:focus)")) continue;
    const part = opacity(element);
    if (part === 0) continue;
    const ground = behind(element);
    const ink = rgba(getComputedStyle(element).color);
    const [a, b] = [light(over(ink, (ink[3] / 255) * part, ground)), light(ground)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const told = `${contrast.toFixed(2)} ${text.data.trim().slice(0, 40)}`;
    if (contrast < enough) found.set(`${element.tagName}.${element.className}`, told);
  }
  return Object.fromEntries(found);
}
"""

WIDE = """
() => document.scrollingElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 120))
"""

FOCUS = """
() => {
  const at = document.activeElement;
  const look = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  return {
    name: at.getAttribute("aria-label") || at.textContent.trim() || at.id || at.name,
    classes: at.className,
    outline: look.outlineStyle !== "none" && parseFloat(look.outlineWidth) >= 1,
    seen: box.width > 0 && box.bottom > 0 && box.right > 0 && box.left < innerWidth,
  };
}
"""

SCRIPTS = """
() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const places = ["href", "src", "action", "formaction"];
  const ours = (src) => new URL(src).pathname.startsWith("/mdh/assets/");
  return {
    pwned: window.__pwned,
    handlers: all("*").flatMap((each) => each.getAttributeNames().filter((name) => /^on/i.test(name))),
    scripts: [...document.scripts].map((each) => each.src).filter((src) => src && !ours(src)),
    links: all("[href], [src], [action], [formaction]")
      .flatMap((each) => places.map((name) => (each.getAttribute(name) ?? "").replace(/[\\t\\n\\r]/g, "")))
      .filter((value) => /^\\s*(javascript|vbscript|file|data:text)/i.test(value)),
    foreign: all("base, iframe, object, embed, meta[http-equiv=refresh]").map((each) => each.outerHTML),
  };
}
"""
HARMLESS: dict[str, Any] = {"handlers": [], "scripts": [], "links": [], "foreign": []}
"""What `SCRIPTS` gives for a page on which nothing of a document is alive: `undefined` does not arrive."""


def faint(page: Page) -> dict[str, str]:
    """Visible texts with less contrast than is enough, by element."""
    found: dict[str, str] = page.evaluate(FAINT, ENOUGH)
    return found


def too_wide(page: Page) -> list[str]:
    """What makes the page wider than its window."""
    found: list[str] = page.evaluate(WIDE)
    return found


def alive(page: Page) -> dict[str, Any]:
    """What of a page could run or lead elsewhere; None is left out."""
    found: dict[str, Any] = page.evaluate(SCRIPTS)
    return {name: value for name, value in found.items() if value is not None}


def nameless(page: Page, *, pictures: bool = True) -> list[str]:
    """The controls that a screen reader would announce without a name; with ``pictures``, those of authors too."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    shown = [each for each in nodes if not each["ignored"] and each["role"]["value"].lower() in CONTROLS]
    assert shown
    found = [str(each["role"]["value"]) for each in shown if not str(each.get("name", {}).get("value", "")).strip()]
    return [each for each in found if pictures or each != "image"]


def stops(page: Page, most: int = 60) -> list[dict[str, Any]]:
    """What the key Tab reaches, in order, until it comes round."""
    found: list[dict[str, Any]] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        found.append(page.evaluate(FOCUS))
    return found
