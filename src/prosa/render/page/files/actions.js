// Forms of actions: shows the exact request as one types, sends it to this site only, shows the answer as text.
// A change asks a second time. Fields belong to a `.call` around the form: their names could hide what a form offers.
// A token stays in its field. The encoding is that of prosa.site.request.
"use strict";
(() => {
  const NAME = /\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g; // a part of the address to fill in
  const MOST_SHOWN = 100_000; // characters of an answer

  for (const each of document.querySelectorAll(".needs-script")) each.hidden = each.disabled = false;
  for (const call of document.querySelectorAll(".call")) prepare(call);

  function encode(text, safe) {
    const coded = encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
    return safe ? coded.replaceAll("%2A", "*") : coded;
  }

  // The request as one types, or a sentence that says what is missing: {method, url, headers, body} or {missing}.
  function request(call, shown) {
    const { method, where, media, accept, auth, authPlace, authName } = call.dataset;
    const path = new Map();
    const query = [];
    const body = Object.create(null); // a field may be called __proto__
    let whole;
    for (const field of call.querySelectorAll("[data-place]")) {
      const values = field.multiple ? [...field.selectedOptions].map((each) => each.value) : [field.value];
      for (const value of field.type === "checkbox" ? (field.checked ? ["true"] : []) : values) {
        if (field.dataset.place === "path") path.set(field.name, value);
        else if (value === "") continue;
        else if (field.dataset.place === "query") query.push([field.name, value, field.type === "hidden"]);
        else if (field.tagName === "TEXTAREA") whole = field.dataset.typed === "json" ? JSON.stringify(JSON.parse(value)) : value;
        else body[field.name] = typed(value, field.dataset.typed);
      }
    }
    for (const pair of query) pair[1] = pair[1].replace(NAME, (whole, name) => (path.has(name) && pair[2] ? path.get(name) : whole));
    const given = call.querySelector("[data-token]")?.value ?? "";
    const token = given && shown ? "***" : given;
    const headers = {};
    if (token && auth === "api_key" && authPlace === "query") query.push([authName, token]);
    else if (token) headers[authName] = auth === "api_key" ? token : `Bearer ${token}`;
    if (accept) headers.Accept = accept;
    const url = address(where, path, query);
    if (method === "GET") return { method, url, headers };
    headers["Content-Type"] = media;
    if (!media) delete headers["Content-Type"];
    if (whole === undefined && media) whole = media.startsWith("application/x-www-form-urlencoded") ? String(new URLSearchParams(body)) : JSON.stringify(body);
    return { method, url, headers, body: whole };
  }

  function address(where, path, query) {
    const filled = where.replace(NAME, (_, name) => {
      const value = path.get(name) ?? "";
      if (value === "." || value === "..") throw new Error(`${name} must not be ${value}, which leads elsewhere`);
      return value ? encode(value) : `{${name}}`;
    });
    const pairs = query.map(([name, value]) => `${encode(name, true)}=${encode(value, true)}`);
    return filled + (pairs.length ? `?${pairs.join("&")}` : "");
  }

  function typed(value, kind) {
    if (kind === "json") return JSON.parse(value);
    if (kind === "number") return Number(value);
    return kind === "boolean" ? value === "true" : value;
  }

  function prepare(call) {
    const preview = call.querySelector("[data-preview]");
    const send = call.querySelector("[type=submit]");
    const cancel = call.querySelector(".cancel");
    const answer = call.querySelector(".answer");
    const changes = call.dataset.method !== "GET";
    const first = send.textContent;
    let sure = false;
    let key = "";
    let running = null;

    function show() {
      sure = false;
      key = "";
      send.textContent = first;
      if (!running) cancel.hidden = true;
      try {
        const made = request(call, true);
        preview.textContent = `${made.method} ${made.url}${made.body === undefined ? "" : `\n${made.body}`}`;
      } catch (error) {
        preview.textContent = String(error.message);
      }
    }

    function tell(...nodes) {
      answer.hidden = false;
      answer.replaceChildren(...nodes);
    }

    function line(text, name) {
      const made = document.createElement("p");
      made.className = name;
      made.textContent = text;
      return made;
    }

    async function go(made) {
      running = new AbortController();
      send.disabled = true;
      cancel.hidden = false;
      const url = new URL(made.url, location.origin);
      try {
        if (url.origin !== location.origin) throw new Error("the address is not on this site");
        if (changes) made.headers["Idempotency-Key"] = key;
        if (call.dataset.csrf) made.headers["X-CSRF-Token"] = call.dataset.csrf;
        const credentials = call.dataset.csrf || call.dataset.auth === "cookie" ? "same-origin" : "omit";
        const got = await fetch(url, { ...made, url: undefined, credentials, redirect: "manual", signal: running.signal });
        if (got.type === "opaqueredirect") throw new Error("the site answered with a redirect, which is not followed");
        tell(line(`${got.status} ${got.statusText}`, `status ${got.ok ? "ok" : "bad"}`), block(await got.text()));
      } catch (error) {
        tell(line(error.name === "AbortError" ? "Cancelled; it is not known whether the site did it" : String(error.message), "problem"));
      }
      running = null;
      send.disabled = false;
      show();
    }

    call.addEventListener("input", show);
    cancel.addEventListener("click", () => (running ? running.abort() : show()));
    call.addEventListener("submit", (event) => {
      event.preventDefault();
      let made;
      try {
        made = request(call);
      } catch (error) {
        return tell(line(String(error.message), "problem"));
      }
      if (changes && !sure) {
        sure = true;
        key = identifier();
        send.textContent = `Yes, send this ${call.dataset.method}`;
        cancel.hidden = false;
        return;
      }
      go(made);
    });
    show();
  }

  // randomUUID is only there on https and loopback.
  function identifier() {
    if (crypto.randomUUID) return crypto.randomUUID();
    return [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, "0")).join("");
  }

  function block(text) {
    let shown = text;
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // no JSON: as it came
    }
    const pre = document.createElement("pre");
    pre.tabIndex = 0;
    pre.textContent = shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN)}\n… cut` : shown || "(empty)";
    return pre;
  }
})();
