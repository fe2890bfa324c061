// What all pages share: the token, calls of the API, messages, keyboard, labels, orders.
const STORE = "scenthound-token";
const match = location.hash.match(/^#token=([\w-]+)$/);
if (match) {
  sessionStorage.setItem(STORE, match[1]);
  history.replaceState(null, "", location.pathname + location.search);
}
// A tab that was opened without the token asks the other tabs of this desk for it.
const tabs = new BroadcastChannel(STORE);
tabs.addEventListener("message", ({ data }) => {
  const token = sessionStorage.getItem(STORE);
  if (data.asks && token) tabs.postMessage({ token });
  else if (data.token && !token) sessionStorage.setItem(STORE, data.token);
});
if (!sessionStorage.getItem(STORE)) tabs.postMessage({ asks: true });

/** An element with attributes and children; text is always text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Call the API. Throws an Error with the message of the desk. */
export async function call(path, body) {
  const token = sessionStorage.getItem(STORE);
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The desk does not answer. Is it still running?");
  }
  const data = await answer.json();
  if (!answer.ok) throw new Error(data.hint ? `${data.error}. ${data.hint}` : data.error);
  return data;
}

export function say(words, isBad = false) {
  const line = el("p", { class: isBad ? "bad" : null }, words);
  document.getElementById("messages").append(line);
  setTimeout(() => line.remove(), isBad ? 8000 : 4000);
}

export const collection = () => document.getElementById("crawl")?.dataset.name
  ?? decodeURIComponent(location.pathname.split("/")[2] ?? "");
export const apiOf = (name, rest = "") => `/api/collections/${encodeURIComponent(name)}${rest}`;

export const pageOf = (name, url) => `/c/${encodeURIComponent(name)}/page?${new URLSearchParams({ url })}`;

export async function attempt(work, target = null) {
  if (target) target.disabled = true;
  try {
    return await work();
  } catch (error) {
    say(error.message, true);
    return null;
  } finally {
    if (target) target.disabled = false;
  }
}

async function label(button) {
  const onTopic = button.dataset.onTopic === "true";
  const sent = await attempt(() => call(apiOf(collection(), "/labels"), { url: button.dataset.url, on_topic: onTopic }), button);
  if (!sent) return;
  for (const one of button.parentElement.querySelectorAll("[data-do=label]")) {
    one.setAttribute("aria-pressed", String(one === button));
  }
  say(onTopic ? "Labelled on topic." : "Labelled off topic.");
}

const OBEYED = { pause: "Pausing.", continue: "Going on.", stop: "Stopping.", seed: "It is next.", block: "Blocked.", unblock: "Not blocked any more.", budget: "Budget set.", delay: "Delay set." };

export async function order(action, value, target) {
  const sent = await attempt(() => call(apiOf(collection(), "/orders"), { action, value: value ?? "" }), target);
  if (sent) say(OBEYED[action] ?? "Done.");
  return sent;
}

const DOES = {
  label,
  order: (button) => order(button.dataset.action, button.dataset.value, button),
  help: () => document.getElementById("help").showModal(),
  "copy-text": async (button) => {
    await attempt(() => navigator.clipboard.writeText(button.dataset.text));
    say("Copied.");
  },
};
export const does = (name, work) => { DOES[name] = work; };

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do]");
  if (target && DOES[target.dataset.do]) DOES[target.dataset.do](target, event);
});

/** Call `load` now and whenever a crawl has other pages; one call at a time, and none is missed. */
export function followPages(name, load) {
  let latest = -1, loaded = -1, isLoading = false;
  new EventSource(apiOf(name, "/events")).addEventListener("overview", async (event) => {
    latest = JSON.parse(event.data).pages;
    if (isLoading) return;
    isLoading = true;
    while (loaded !== latest) {
      loaded = latest;
      await attempt(load);
    }
    isLoading = false;
  });
}

// ---- keyboard

function current() {
  return document.activeElement?.closest(".result") ?? null;
}

function move(step) {
  const all = [...document.querySelectorAll(".results .result")];
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const press = (selector) => (current() ?? document.querySelector(".crawl-head.result"))?.querySelector(selector)?.click();
const KEYS = {
  "/": () => document.getElementById("search-box")?.focus(),
  j: () => move(1),
  k: () => move(-1),
  y: () => press("[data-on-topic=true]"),
  n: () => press("[data-on-topic=false]"),
  o: () => press("[data-do=copy]"),
  "?": () => document.getElementById("help").showModal(),
  Enter: () => current() === document.activeElement && press("h3 a"),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  if (event.key !== "Enter") event.preventDefault();
  KEYS[event.key]();
});

// ---- tables that are sorted by a click on a column

const NUMBER = /^-?[\d,]*\.?\d+(e-?\d+)?$/;
const valueOf = (row, at) => {
  const text = row.cells[at].textContent.trim();
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : text.toLowerCase();
};
const compare = (one, other) => (typeof one === typeof other ? (one < other ? -1 : Number(one > other)) : typeof one === "number" ? -1 : 1);

function sortBy(table, head, at) {
  const now = head.getAttribute("aria-sort");
  const isDown = now === null ? head.classList.contains("number") : now === "ascending"; // the largest number first
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, at), row]);
  rows.sort(([one], [other]) => (isDown ? compare(other, one) : compare(one, other)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (!head.textContent.trim()) return;
    const button = el("button", { type: "button", title: "Sort by this column" });
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head, at));
    head.append(button);
  });
}

// ---- plain or technical terms

const technical = document.getElementById("technical");
function showTerms(isTechnical) {
  for (const term of document.querySelectorAll(".term")) {
    const { plain, technical: other } = term.dataset;
    term.textContent = isTechnical ? other : plain;
    term.title = `also called: ${isTechnical ? plain : other}`;
  }
}
technical.checked = localStorage.getItem("technical") === "yes";
if (technical.checked) showTerms(true);
technical.addEventListener("change", () => {
  localStorage.setItem("technical", technical.checked ? "yes" : "no");
  showTerms(technical.checked);
});
