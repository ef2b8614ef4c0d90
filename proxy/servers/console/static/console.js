// The console's only script: fragments, editor, completion. Everything works without it.
"use strict";

// 1. A form with data-into="#id" is sent in the background; the answer replaces the content of #id.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const into = form.dataset.into && document.querySelector(form.dataset.into);
  if (!into) return;
  event.preventDefault();
  const epsilon = form.querySelector(".epsilon"); // what an empty field stands for is shown
  if (epsilon && !epsilon.value.trim()) epsilon.value = epsilon.placeholder;
  form.sending?.abort();
  form.sending = new AbortController();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const slow = setTimeout(() => into.setAttribute("aria-busy", "true"), 400);
  try {
    const answer = await fetch(event.submitter?.formAction || form.action, {
      method: "POST", body, signal: form.sending.signal, headers: { "X-Fragment": "1" }, credentials: "same-origin",
    });
    if (answer.redirected) { location.assign(answer.url); return; } // signed out
    into.innerHTML = await answer.text(); // from our templates, which escape
    remember(body.get("sql"), into);
    const next = answer.headers.get("X-Form"); // a form is sent once
    if (next) document.querySelectorAll("[data-into] [name=form]").forEach((field) => { field.value = next; });
    const left = answer.headers.get("X-Left"), shown = document.querySelector(".me .left span");
    if (left && shown) shown.textContent = `ε ${left}`;
    into.querySelector("h2")?.setAttribute("tabindex", "-1");
    into.querySelector("h2")?.focus();
  } catch (error) {
    if (error.name !== "AbortError") into.textContent = "dpproxy did not answer. What was charged is under Budget.";
  } finally {
    clearTimeout(slow);
    into.removeAttribute("aria-busy");
  }
});

// What was asked in this tab, the latest first. Signing out clears it, and so does the next name that signs in.
const who = document.querySelector(".me .who")?.textContent;
if (who && sessionStorage.getItem("who") !== who) {
  sessionStorage.clear();
  sessionStorage.setItem("who", who);
}
document.querySelector('form[action="/sign-out"]')?.addEventListener("submit", () => sessionStorage.clear());
const asked = () => JSON.parse(sessionStorage.getItem("asked") || "[]");
const place = document.querySelector(".tabs a")?.pathname; // drafts and what was asked are of one database
const draft = `sql of ${place}`;

function remember(sql, into) {
  if (!sql) return;
  const how = into.querySelector(".refusal") ? "refused" : into.querySelector(".price") ? "price" : "answered";
  const others = asked().filter((one) => one.sql !== sql || one.how !== how || one.place !== place);
  try {
    sessionStorage.setItem("asked", JSON.stringify([{ sql, how, place, at: new Date().toISOString() }, ...others].slice(0, 50)));
  } catch { sessionStorage.removeItem("asked"); } // the browser's room for it is full
}

// 2. The editor: a textarea over a layer that shows the same text in colours.
const WORDS = "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT JOIN LEFT ON AS AND OR NOT IN BETWEEN IS NULL DESC ASC WITH" +
  " CASE WHEN THEN ELSE END DISTINCT SET date interval";
const TOKEN = new RegExp(String.raw`(?<c>--[^\n]*)|(?<l>'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b)|(?<k>\b(?:${WORDS.replaceAll(" ", "|")})\b)`, "gi");

function coloured(text) {
  const made = document.createDocumentFragment();
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    made.append(text.slice(at, found.index));
    const span = document.createElement("span");
    span.className = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    span.textContent = found[0];
    made.append(span);
    at = found.index + found[0].length;
  }
  made.append(text.slice(at) + "\n");
  return made;
}

class Editor {
  constructor(area) {
    this.area = area;
    this.layer = area.parentElement.querySelector("pre");
    this.known = JSON.parse(document.getElementById("known")?.textContent || "{}");
    this.list = Object.assign(document.createElement("ul"), { className: "words", id: "words", hidden: true });
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Completions");
    area.after(this.list);
    area.setAttribute("aria-autocomplete", "list"); // a textarea may not be a combobox: a status tells how many there are
    area.setAttribute("aria-controls", "words");
    this.status = Object.assign(document.createElement("p"), { className: "sr" });
    this.status.setAttribute("role", "status");
    this.list.after(this.status);
    area.addEventListener("input", () => {
      this.draw();
      this.offer(false);
      document.querySelectorAll("[data-stale]").forEach((note) => { note.hidden = false; });
    });
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // the textarea keeps the focus
      const item = event.target.closest("li");
      if (item) this.take(item.dataset.word);
    });
    const kept = sessionStorage.getItem(draft);
    if (kept && !area.value) { area.value = kept; this.draw(); }
  }

  draw() {
    this.layer.replaceChildren(coloured(this.area.value));
    sessionStorage.setItem(draft, this.area.value);
  }

  key(event) {
    const isOpen = !this.list.hidden;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      this.close();
      this.area.form.requestSubmit(this.area.form.querySelector(event.shiftKey ? "[value=price]" : ".go"));
    } else if (event.key === " " && event.ctrlKey) this.offer(true);
    else if (!isOpen) return;
    else if (event.key === "ArrowDown") this.move(1);
    else if (event.key === "ArrowUp") this.move(-1);
    else if (event.key === "Enter" || event.key === "Tab") this.take(this.list.children[this.at].dataset.word);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
  }

  // 3. Completion: columns of the tables that the text names first, then tables, functions, words.
  offer(isAsked) {
    const before = this.area.value.slice(0, this.area.selectionStart);
    this.part = /[\w.]*$/.exec(before)[0];
    const word = this.part.split(".").pop().toLowerCase();
    const inText = /'[^']*$/.test(before.replaceAll(/'[^']*'/g, ""));
    if (inText || (!isAsked && this.part.length < 2)) return this.close();
    const named = (this.known.tables || []).filter((table) => this.area.value.includes(table.name));
    const all = [
      ...named.flatMap((table) => table.columns.map((column) => ({ word: column.name, note: column.short || table.name }))),
      ...(this.known.tables || []).map((table) => ({ word: table.name, note: table.about })),
      ...["count(*)", "sum()", "avg()", "min()", "max()", "dp.error()", "dp.low()", "dp.high()"].map((word) => ({ word, note: "" })),
      ...WORDS.split(" ").map((word) => ({ word, note: "" })),
    ];
    const fits = (one) => one.word.toLowerCase().startsWith(this.part.toLowerCase()) ||
      (word && one.word.toLowerCase().split(".").pop().startsWith(word));
    const isWhole = all.some((one) => [one.word, one.word.split(".").pop()].some((name) => name.toLowerCase() === word));
    if (isWhole && !isAsked) return this.close(); // typed to its end
    const seen = new Set();
    const found = all.filter((one) => fits(one) && one.word !== this.part && !seen.has(one.word) && seen.add(one.word)).slice(0, 8);
    if (!found.length) return this.close();
    this.list.replaceChildren(...found.map((one, number) => {
      const item = Object.assign(document.createElement("li"), { id: `word-${number}` });
      item.setAttribute("role", "option");
      item.dataset.word = one.word;
      const note = Object.assign(document.createElement("span"), { textContent: one.note });
      item.append(one.word, note);
      return item;
    }));
    this.list.hidden = false;
    this.place();
    this.status.textContent = `${found.length} completions, arrow keys and Enter`;
    this.at = 0;
    this.move(0);
  }

  // Below the caret: the layer behind the textarea has the same text at the same place.
  place() {
    const walker = document.createTreeWalker(this.layer, NodeFilter.SHOW_TEXT), range = document.createRange();
    let left = this.area.selectionStart - this.part.length, node = walker.nextNode();
    while (node && left > node.length) { left -= node.length; node = walker.nextNode(); }
    if (!node) return;
    range.setStart(node, left);
    range.setEnd(node, left);
    const at = range.getBoundingClientRect(), box = this.area.getBoundingClientRect();
    if (!at.height) return;
    this.list.style.top = `${at.bottom - box.top + 4}px`;
    this.list.style.left = `${Math.max(8, Math.min(at.left - box.left, box.width - this.list.offsetWidth - 8))}px`;
  }

  move(step) {
    this.at = (this.at + step + this.list.children.length) % this.list.children.length;
    [...this.list.children].forEach((item, number) => item.setAttribute("aria-selected", String(number === this.at)));
    this.area.setAttribute("aria-activedescendant", `word-${this.at}`);
  }

  take(word) {
    const end = this.area.selectionStart;
    const start = end - (this.part.includes(".") && !word.startsWith(this.part.split(".")[0]) ? this.part.split(".").pop() : this.part).length;
    this.area.setRangeText(word, start, end, "end");
    if (word.endsWith("()")) this.area.selectionStart = this.area.selectionEnd = start + word.length - 1;
    this.draw();
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.status.textContent = "";
    this.area.removeAttribute("aria-activedescendant");
  }
}

document.querySelectorAll(".code textarea").forEach((area) => new Editor(area));
document.querySelectorAll("[data-insert]").forEach((button) => button.addEventListener("click", () => {
  const area = document.querySelector(".code textarea"), word = button.dataset.insert;
  const before = area.value.slice(0, area.selectionStart);
  area.setRangeText(/[\w.]$/.test(before) ? ` ${word}` : word, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input"));
  area.focus();
}));
document.querySelectorAll("[data-use]").forEach((button) => button.addEventListener("click", () => {
  const area = document.querySelector(".code textarea");
  area.value = button.dataset.use;
  area.dispatchEvent(new Event("input"));
  area.focus();
}));

// 4. Tables: what is typed leaves the rows that have it, at once.
document.querySelectorAll("[data-filter]").forEach((field) => field.addEventListener("input", () => {
  const word = field.value.trim().toLowerCase();
  document.querySelectorAll("main section[id]").forEach((section) => {
    const isAll = section.id.toLowerCase().includes(word);
    const rows = [...section.querySelectorAll("tbody tr")];
    rows.forEach((row) => { row.hidden = !isAll && !row.querySelector("th").textContent.toLowerCase().includes(word); });
    section.hidden = rows.every((row) => row.hidden);
  });
}));

// 5. Statements of this tab, under Budget.
document.querySelectorAll("#session").forEach((section) => {
  const here = asked().filter((one) => one.place === place);
  section.hidden = !here.length;
  section.querySelector("ol").replaceChildren(...here.map((one) => {
    const item = document.createElement("li"), again = document.createElement("button");
    const when = Object.assign(document.createElement("span"), { className: "soft small" });
    when.textContent = `${new Date(one.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}, ${one.how}`;
    Object.assign(again, { type: "button", className: "plain", textContent: "Use again" });
    again.addEventListener("click", () => {
      sessionStorage.setItem(draft, one.sql);
      location.assign(document.querySelector(".tabs a").href);
    });
    item.append(Object.assign(document.createElement("code"), { textContent: one.sql }), " ", when, " ", again);
    return item;
  }));
});

// 6. A form that takes a while says so.
document.querySelectorAll("form[data-wait]").forEach((form) => form.addEventListener("submit", () => {
  const button = form.querySelector("button");
  button.textContent = form.dataset.wait;
  button.setAttribute("aria-busy", "true");
}));
