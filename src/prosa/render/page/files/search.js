// Search in a static site: an index is loaded once, and asked here. Nothing of it becomes anything but text.
"use strict";
(() => {
  const MOST = 8; // hits in the list under the field
  const PAGE = 40; // hits on the page of results
  const form = document.querySelector("form.find");
  if (!form) return;
  const home = new URL("../", form.action);
  let loading = null;

  globalThis.prosaFind = async (query) => {
    const hits = found(await index(), query);
    const shown = hits.slice(0, MOST).map(option);
    if (!hits.length) return [said("p", "none", "Nothing found")];
    if (hits.length > MOST) shown.push(everything(query));
    return shown;
  };
  results();

  function index() {
    loading ??= load().then(decoded);
    loading.catch(() => { loading = null; });
    return loading;
  }

  // A page that was opened from a disk may not fetch; there the same data comes as a script.
  async function load() {
    if (location.protocol !== "file:") return (await fetch(new URL("search.json", form.action))).json();
    const script = document.createElement("script");
    script.src = new URL("search-index.js", form.action).href;
    await new Promise((done, failed) => { script.onload = done; script.onerror = failed; document.head.append(script); });
    return globalThis.prosaIndex;
  }

  function decoded(data) {
    const words = [];
    let before = "";
    for (const each of data.words ? data.words.split(" ") : []) words.push(before = before.slice(0, parseInt(each[0], 36)) + each.slice(1));
    const places = data.places.split(" ").map((each) => { let at = 0; return each.split(",").map((step) => at += parseInt(step, 36)); });
    const pages = data.pages.map(([title, path], at) => ({ title, path, words: parts(title), file: parts(path.split("/").pop().replace(/\.html$/, "")), heads: data.heads[at].map(head) }));
    return { words, places, pages, common: new Set(data.common.split(" ")) };
  }

  function head(each) {
    const [text, anchor] = typeof each === "string" ? [each, each.toLowerCase().replace(/[^a-z0-9_ -]/g, "").replace(/ /g, "-")] : each;
    return { text, anchor, words: parts(text) };
  }

  function parts(text) {
    const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").normalize("NFC").toLowerCase();
    return (plain.match(/[\p{L}\p{N}]+/gu) || []).flatMap((word) => {
      const run = word.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/);
      return !run ? [word] : run[0].length < 2 ? [run[0]] : [...run[0]].slice(1).map((_, at) => run[0].slice(at, at + 2));
    });
  }

  // Singular and plural are one word: who asks for "recording" wants the page "Runs and recordings".
  function has(words, word) {
    return words.some((each) => each === word || each === `${word}s` || word === `${each}s`);
  }

  // How well a text is named by what was asked: every word of it, a beginning counting less than the whole.
  function named(words, asked, whole, part) {
    let sum = 0;
    for (const word of asked) {
      if (has(words, word)) sum += whole;
      else if (words.some((each) => each.startsWith(word))) sum += part;
      else return 0;
    }
    return sum;
  }

  // `-word` and `NOT word` leave out the pages that have the word, as every other search does.
  const WITHOUT = /(^|\s)(?:-|NOT\s+)(?=[\p{L}\p{N}"])("[^"]*"?|\S+)/gu;

  function found({ words, places, pages, common }, query) {
    const unwanted = [...query.matchAll(WITHOUT)].flatMap(([, , word]) => parts(word));
    const asked = [...new Set(parts(query.replace(WITHOUT, "$1")))].slice(0, 12);
    const left = new Set(words.flatMap((each, at) => unwanted.includes(each) ? places[at] : []));
    const telling = asked.filter((word) => !common.has(word));
    if (!asked.length) return [];
    const points = new Map();
    const matched = new Map();
    for (const word of telling) {
      const best = new Map();
      words.forEach((each, at) => {
        if (!each.startsWith(word)) return;
        const worth = (each === word ? 3 : 1) * Math.log(1 + pages.length / places[at].length);
        for (const page of places[at]) best.set(page, Math.max(best.get(page) || 0, worth));
      });
      for (const [page, worth] of best) {
        points.set(page, (points.get(page) || 0) + worth);
        matched.set(page, (matched.get(page) || 0) + 1);
      }
    }
    const hits = [];
    pages.forEach((page, at) => {
      if (left.has(at) || unwanted.some((word) => page.words.includes(word) || page.heads.some((each) => each.words.includes(word)))) return;
      const heads = page.heads.map((each) => [named(each.words, asked, 12, 6) / Math.sqrt(1 + each.words.length / 4), each]);
      const [worth, place] = heads.reduce((one, other) => other[0] > one[0] ? other : one, [0, null]);
      const title = named(page.words, asked, 30, 15) / Math.sqrt(1 + page.words.length / 4);
      const exact = page.words.join(" ") === asked.join(" ") ? 60 : 0;
      if (title || worth || (telling.length && matched.get(at) === telling.length)) {
        const near = asked.reduce((sum, word) => sum + (has(page.words, word) || has(page.file, word) ? 8 : 0)
          + (page.heads.some((each) => has(each.words, word)) ? 2 : 0), 0);
        hits.push({ page, place: worth > 0 && !exact ? place : null, score: title + worth + exact + near + (points.get(at) || 0) });
      }
    });
    return hits.sort((one, other) => other.score - one.score || (one.page.path < other.page.path ? -1 : 1));
  }

  function address({ page, place }) {
    const url = new URL(page.path, home);
    if (place) url.hash = place.anchor;
    return url.href;
  }

  function said(tag, name, text) {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.textContent = text;
    return made;
  }

  function option(hit, at) {
    const link = document.createElement("a");
    link.href = address(hit);
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.tabIndex = -1;
    link.id = `page:hit:${at + 1}`;
    link.append(said("b", "", hit.page.title));
    if (hit.place) link.append(" ", said("i", "", hit.place.text));
    return link;
  }

  function everything(query) {
    const link = said("a", "all", "Everything found");
    link.href = `${form.action}?q=${encodeURIComponent(query)}`;
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.tabIndex = -1;
    link.id = "page:hit:all";
    return link;
  }

  // The page of results says what was found for the query in its address, in place of the list of all pages.
  async function results() {
    const list = document.getElementById("page:results");
    document.getElementById("page:plain")?.remove();
    const query = (new URLSearchParams(location.search).get("q") || "").trim().slice(0, 200);
    if (!list || !query) return;
    document.getElementById("page:query").value = query;
    const count = document.getElementById("page:count");
    try {
      const hits = found(await index(), query);
      list.replaceChildren(...hits.slice(0, PAGE).map((hit) => {
        const item = document.createElement("li");
        const title = document.createElement("h2");
        const link = said("a", "", hit.page.title);
        link.href = address(hit);
        title.append(link);
        item.append(title);
        if (hit.place) item.append(said("p", "heading", hit.place.text));
        return item;
      }));
      count.textContent = hits.length === 1 ? `1 page for “${query}”` : hits.length ? `${hits.length} pages for “${query}”` : `Nothing was found for “${query}”.`;
      document.getElementById("page:all").hidden = hits.length > 0;
    } catch (error) {
      count.textContent = "The search index cannot be loaded.";
    }
  }
})();
