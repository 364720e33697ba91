// Scripts that a reader starts: what the model says appears as it comes, then the finished answer takes its place.
// The server sanitises that answer; it is parsed in a document that runs nothing, and its nodes are moved here.
"use strict";
(() => {
  const MOST = 1_000_000; // characters of one answer

  for (const form of document.querySelectorAll("form.script")) prepare(form);

  function prepare(form) {
    const send = form.querySelector("[type=submit]");
    const cancel = form.querySelector(".cancel");
    const answer = form.querySelector(".answer");
    let running = null;

    cancel.addEventListener("click", () => running && running.abort());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (running) return;
      running = new AbortController();
      send.disabled = true;
      cancel.hidden = answer.hidden = false;
      answer.classList.add("growing");
      answer.setAttribute("aria-busy", "true");
      answer.textContent = "…";
      try {
        const body = new URLSearchParams(new FormData(form));
        const headers = { Accept: "text/event-stream" };
        const got = await fetch(form.action, { method: "POST", headers, body, signal: running.signal });
        const streams = (got.headers.get("Content-Type") || "").startsWith("text/event-stream");
        if (!got.body || !streams) throw new Error(await reason(got));
        await listen(got.body, answer);
      } catch (error) {
        say(answer, error.name === "AbortError" ? "Cancelled." : error.message, "problem");
      }
      running = null;
      send.disabled = false;
      cancel.hidden = true;
      answer.removeAttribute("aria-busy");
    });
  }

  async function reason(got) {
    const problem = await got.json().catch(() => ({}));
    return problem.detail || `The site answered ${got.status}. Load the page again.`;
  }

  async function listen(stream, answer) {
    const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    let left = "";
    for (;;) {
      const { value, done } = await reader.read();
      left += value ?? "";
      const events = left.split(/\r?\n\r?\n/);
      left = events.pop();
      for (const each of events) {
        const { name, data } = parsed(each);
        if (name === "text") {
          text = (text + data.text).slice(0, MOST);
          answer.textContent = text;
        } else if (name === "again") text = "";
        else if (name === "done") return finish(answer, data);
        else if (name === "failed") return say(answer, data.message, "problem");
      }
      if (done || left.length > MOST) throw new Error("The answer ended too early.");
    }
  }

  function parsed(block) {
    let name = "message";
    let data = "";
    for (const line of block.split(/\r?\n/)) {
      if (line.startsWith("event:")) name = line.slice(6).trim();
      else if (line.startsWith("data:")) data += line.slice(5);
    }
    return { name, data: data ? JSON.parse(data) : {} };
  }

  function finish(answer, data) {
    const nodes = new DOMParser().parseFromString(data.html, "text/html").body.childNodes;
    answer.classList.remove("growing");
    answer.replaceChildren(...nodes);
    if (typeof data.seconds === "number") answer.append(line(`Took ${data.seconds.toFixed(1)} s`, "took"));
  }

  function say(answer, text, name) {
    answer.classList.remove("growing");
    answer.replaceChildren(line(text, name));
  }

  function line(text, name) {
    const made = document.createElement("p");
    made.className = name;
    made.textContent = text;
    return made;
  }
})();
