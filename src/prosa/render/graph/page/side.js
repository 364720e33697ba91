// The panel of a document, and the search. What comes from documents becomes text, never markup.

const side = document.getElementById("side");
const MOST_ROWS = 200;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function select(node, { move = true, open = true } = {}) {
  state.selected = node;
  if (node && open) show(node);
  else if (!node) side.hidden = true;
  document.getElementById("said").textContent = node ? spoken(node) : "";
  if (node && move) centre(node);
  redraw();
}

const spoken = (node) => `${node.name}, ${data.dialects[node.dialect][0]}, ${counted(node.out.length, "link")} out, ${counted(node.back.length, "link")} in`;
const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

function show(node) {
  const [title] = data.dialects[node.dialect];
  const close = element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => leave() }, "×");
  const kind = node.path === undefined ? "No such document" : node.type ? `${title} · ${node.type}` : title;
  const parts = [close, element("h2", {}, node.name), element("p", { class: "kind" }, kind)];
  if (node.path !== undefined) {
    parts.push(element("p", { class: "path" }, node.path));
    if (node.id !== node.path) parts.push(element("p", { class: "path quiet" }, node.id));
    parts.push(element("a", { class: "open", href: node.href, rel: "noopener noreferrer" }, "Open"));
  }
  parts.push(...rows("Points at", node.out, (edge) => edge.target), ...rows("Pointed at by", node.back, (edge) => edge.source));
  side.replaceChildren(...parts);
  side.hidden = false;
  side.scrollTop = 0;
}

function rows(title, list, other) {
  if (!list.length) return [];
  const items = list.slice(0, MOST_ROWS).map((edge) => {
    const go = () => { select(other(edge)); side.querySelector(".close").focus(); };
    const words = element("small", {}, data.rels[edge.rel][0]);
    return element("li", {}, element("button", { type: "button", onclick: go }, element("span", {}, other(edge).name), words));
  });
  const more = list.length > MOST_ROWS ? [element("li", { class: "quiet" }, `and ${list.length - MOST_ROWS} more`)] : [];
  return [element("h3", {}, `${title} (${list.length})`), element("ul", {}, ...items, ...more)];
}

function leave() {
  select(null);
  canvas.focus();
}

const query = document.getElementById("query");
const hits = document.getElementById("hits");
const MOST_HITS = 12;
let found = [];
let chosen = -1;

function search() {
  found = matches(query.value);
  chosen = found.length ? 0 : -1;
  state.found = query.value.trim() ? new Set(found) : null;
  state.hovered = null;
  list();
  redraw();
}

function list() {
  const asked = query.value.trim() !== "";
  const items = found.slice(0, MOST_HITS).map((node, at) => element(
    "li",
    { role: "option", id: `hit-${at}`, "aria-selected": String(at === chosen), onmousedown: (event) => { event.preventDefault(); take(node); } },
    node.name, ...(node.path === undefined ? [] : [element("small", {}, node.path)]),
  ));
  if (asked && !found.length) items.push(element("li", { class: "none" }, "No document has all these words."));
  if (found.length > MOST_HITS) items.push(element("li", { class: "none" }, `and ${found.length - MOST_HITS} more, marked in the graph`));
  hits.replaceChildren(...items);
  hits.hidden = !asked;
  query.setAttribute("aria-expanded", String(asked));
  if (chosen >= 0) query.setAttribute("aria-activedescendant", `hit-${chosen}`);
  else query.removeAttribute("aria-activedescendant");
}

function take(node) {
  hits.hidden = true;
  query.setAttribute("aria-expanded", "false");
  state.found = null;
  select(node);
  canvas.focus();
}

function clear() {
  query.value = "";
  search();
}

query.addEventListener("input", search);
query.addEventListener("focus", () => { if (query.value.trim()) search(); });
query.addEventListener("blur", () => { hits.hidden = true; });
query.addEventListener("keydown", (event) => {
  const last = Math.min(found.length, MOST_HITS) - 1;
  if (event.key === "ArrowDown") chosen = Math.min(chosen + 1, last);
  else if (event.key === "ArrowUp") chosen = Math.max(chosen - 1, Math.min(0, last));
  else if (event.key === "Enter" && found[chosen]) return take(found[chosen]);
  else if (event.key === "Escape") { clear(); return canvas.focus(); }
  else return undefined;
  event.preventDefault();
  return list();
});
