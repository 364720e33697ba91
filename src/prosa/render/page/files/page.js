// Every page: search as one types, keys, buttons that copy code. Without it the page works as well.
"use strict";
(() => {
  const WAITS = [500, 1000, 2000, 4000, 8000, 15000, 30000]; // milliseconds before the connections are asked for again
  const PAUSE = 120; // milliseconds without a key before anything is asked
  const MOST = 200; // characters of a query

  const input = document.getElementById("page:query");
  const box = document.getElementById("page:hits");
  if (input && box) search(input, box);
  if (document.querySelector("[data-building]")) fill(0);
  for (const code of document.querySelectorAll("pre > code")) copyable(code.parentElement);

  // What stands beside the text comes when the site has read its documents; the text itself is not touched.
  function fill(tries) {
    if (tries >= WAITS.length) return;
    setTimeout(async () => {
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
        const side = parsed.querySelector("aside.side");
        if (answer.ok && side && !parsed.querySelector("[data-building]")) {
          return document.querySelector("aside.side").replaceWith(document.adoptNode(side));
        }
      } catch (error) { /* the server may be away for a moment */ }
      fill(tries + 1);
    }, WAITS[tries]);
  }

  function search(input, box) {
    const known = new Map();
    let timer = 0;
    let asking = null;
    let at = -1;
    const options = () => [...box.querySelectorAll("[role=option]")];

    function show(found) {
      box.replaceChildren(...found);
      open(true);
    }

    // What a server says of a query; a static site has a script of its own that finds it.
    async function answered(query) {
      if (globalThis.prosaFind) return globalThis.prosaFind(query);
      asking = new AbortController();
      const url = `${input.form.action}?q=${encodeURIComponent(query)}`;
      const answer = await fetch(url, { headers: { "Prosa-Fragment": "hits", Accept: "text/html" }, signal: asking.signal });
      if (!answer.ok) throw new Error(answer.statusText);
      return [...new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes];
    }

    function open(yes) {
      box.hidden = !yes;
      input.setAttribute("aria-expanded", String(yes));
      choose(-1);
    }

    function choose(place) {
      const found = options();
      at = found.length ? (place + found.length + 1) % (found.length + 1) : -1;
      if (at === found.length) at = -1;
      found.forEach((each, index) => each.setAttribute("aria-selected", String(index === at)));
      if (at < 0) return input.removeAttribute("aria-activedescendant");
      input.setAttribute("aria-activedescendant", found[at].id);
      found[at].scrollIntoView({ block: "nearest" });
    }

    async function ask() {
      const query = input.value.trim().slice(0, MOST);
      if (asking) asking.abort();
      if (!query) return open(false);
      if (known.has(query)) return show(known.get(query));
      try {
        const found = await answered(query);
        if (known.size < 100) known.set(query, found);
        if (input.value.trim().slice(0, MOST) === query && document.activeElement === input) show(found);
      } catch (error) {
        if (error.name !== "AbortError") open(false);
      }
    }

    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(ask, PAUSE);
    });
    input.addEventListener("focus", () => { if (box.childElementCount && input.value.trim()) open(true); });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        if (box.hidden) input.blur();
        open(false);
      } else if (box.hidden || event.isComposing) {
        return;
      } else if (event.key === "ArrowDown") choose(at + 1);
      else if (event.key === "ArrowUp") choose(at < 0 ? options().length - 1 : at - 1);
      else if (event.key === "Enter" && at >= 0) options()[at].click();
      else return;
      event.preventDefault();
    });
    input.form.addEventListener("focusout", (event) => {
      if (!input.form.contains(event.relatedTarget)) open(false);
    });
    document.addEventListener("keydown", (event) => {
      const writing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable]");
      if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  function copyable(pre) {
    if (!navigator.clipboard) return;
    const around = document.createElement("div");
    const button = document.createElement("button");
    around.className = "held";
    button.className = "copy";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(pre.textContent.trimEnd());
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    pre.replaceWith(around);
    around.append(pre, button);
  }
})();
