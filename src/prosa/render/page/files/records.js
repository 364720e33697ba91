// The list while it changes: the server sends the lines that are other ones now. Without this script a reload shows them.
"use strict";
(() => {
  const list = document.getElementById("page:records");
  if (!list || !list.dataset.live) return;
  const PAUSE = 10_000; // milliseconds before a server that was away is asked again
  const live = document.getElementById("page:live");
  const total = document.getElementById("page:total");
  const none = document.getElementById("page:none");
  const news = document.getElementById("page:news");
  let seen = list.dataset.mark;
  let stream = null;

  function say(text, lost) {
    if (!live || live.textContent === text) return;
    live.textContent = text;
    live.classList.toggle("lost", Boolean(lost));
  }

  // A line is parsed in a document that runs nothing, and its nodes are moved here.
  function line(html) {
    return document.adoptNode(new DOMParser().parseFromString(`<ol>${html}</ol>`, "text/html").querySelector("li"));
  }

  function update(data) {
    const known = new Map([...list.children].map((each) => [each.dataset.key, each]));
    const focused = document.activeElement && document.activeElement.closest("[data-key]");
    const key = focused && list.contains(focused) ? focused.dataset.key : null;
    const wanted = data.order.map((each) => {
      if (!(each in data.rows)) return known.get(each);
      const made = line(data.rows[each]);
      if (known.size) made.classList.add("fresh");
      return made;
    }).filter(Boolean);
    if (wanted.some((each, at) => each !== list.children[at]) || wanted.length !== list.children.length) {
      list.replaceChildren(...wanted);
      const again = key && wanted.find((each) => each.dataset.key === key);
      if (again) again.querySelector("a").focus();
    }
    if (total) total.textContent = data.total;
    if (none) none.hidden = wanted.length > 0;
    if (news && Object.keys(data.rows).length) news.hidden = false;
  }

  function listen() {
    const mark = encodeURIComponent(seen);
    stream = new EventSource(`${list.dataset.live}${list.dataset.live.includes("?") ? "&" : "?"}mark=${mark}`);
    stream.addEventListener("open", () => say("live"));
    stream.addEventListener("rows", (event) => {
      seen = "";
      say("live");
      update(JSON.parse(event.data));
    });
    stream.addEventListener("problem", (event) => say(JSON.parse(event.data).text, true));
    stream.addEventListener("error", () => {
      stream.close();
      say("not live: the viewer does not answer", true);
      seen = "";
      setTimeout(listen, PAUSE);
    });
  }

  addEventListener("pagehide", () => stream && stream.close());
  addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  listen();
})();
