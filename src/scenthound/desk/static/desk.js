// Shared by all pages: the token, API calls, messages, keyboard shortcuts, labels and orders.
const TOKEN_KEY = "scenthound-token";
const match = location.hash.match(/^#token=([\w-]+)$/);
if (match) {
  sessionStorage.setItem(TOKEN_KEY, match[1]);
  history.replaceState(null, "", location.pathname + location.search);
}
// A tab opened without the token requests it from the other tabs of this desk.
const tabs = new BroadcastChannel(TOKEN_KEY);
tabs.addEventListener("message", ({ data }) => {
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (data.asks && token) tabs.postMessage({ token });
  else if (data.token && !token) sessionStorage.setItem(TOKEN_KEY, data.token);
});
if (!sessionStorage.getItem(TOKEN_KEY)) tabs.postMessage({ asks: true });

/** Creates an element. Strings among the children become text nodes, never HTML. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Calls the API. Throws an Error with the desk's error message. */
export async function call(path, body) {
  const token = sessionStorage.getItem(TOKEN_KEY);
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(path, body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) });
  } catch {
    throw new Error("The desk is not responding. Is it still running?");
  }
  const data = await response.json();
  if (!response.ok) throw new Error(data.hint ? `${data.error}. ${data.hint}` : data.error);
  return data;
}

/** Shows a message for a few seconds. */
export function say(message, isError = false) {
  const line = el("p", { class: isError ? "bad" : null }, message);
  document.getElementById("messages").append(line);
  setTimeout(() => line.remove(), isError ? 8000 : 4000);
}

export const collection = () => document.getElementById("crawl")?.dataset.name
  ?? decodeURIComponent(location.pathname.split("/")[2] ?? "");
export const apiOf = (name, rest = "") => `/api/collections/${encodeURIComponent(name)}${rest}`;

export const pageOf = (name, url) => `/c/${encodeURIComponent(name)}/page?${new URLSearchParams({ url })}`;

/** Runs an action and shows its error, if any; `target` is disabled meanwhile. Resolves to null after an error. */
export async function attempt(action, target = null) {
  if (target) target.disabled = true;
  try {
    return await action();
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
  for (const other of button.parentElement.querySelectorAll("[data-do=label]")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  say(onTopic ? "Labelled on topic." : "Labelled off topic.");
}

const CONFIRMATIONS = { pause: "Pausing.", continue: "Continuing.", stop: "Stopping.", seed: "It will be fetched next.", block: "Blocked.", unblock: "Unblocked.", budget: "Budget set.", delay: "Delay set." };

export async function order(action, value, target) {
  const sent = await attempt(() => call(apiOf(collection(), "/orders"), { action, value: value ?? "" }), target);
  if (sent) say(sent.is_running ? CONFIRMATIONS[action] ?? "Done." : "Noted. It takes effect when the crawl is resumed.");
  return sent;
}

const ACTIONS = {
  label,
  order: (button) => order(button.dataset.action, button.dataset.value, button),
  help: () => document.getElementById("help").showModal(),
  "copy-text": async (button) => {
    await attempt(() => navigator.clipboard.writeText(button.dataset.text));
    say("Copied.");
  },
};
/** Registers the function for clicks on elements with `data-do=name`. */
export const onAction = (name, action) => { ACTIONS[name] = action; };

document.addEventListener("click", (event) => {
  const target = event.target.closest("[data-do]");
  if (target && ACTIONS[target.dataset.do]) ACTIONS[target.dataset.do](target, event);
});

/** Calls `load` now and whenever the number of pages of a crawl changes; one call at a time, and no change is missed. */
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
  const index = all.indexOf(current());
  const next = all[Math.min(Math.max(index + step, 0), all.length - 1)];
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
  const isTyping = event.target.closest("input, textarea, select, dialog");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  if (event.key !== "Enter") event.preventDefault();
  KEYS[event.key]();
});

// ---- sortable tables

const NUMBER = /^-?[\d,]*\.?\d+(e-?\d+)?$/;
const valueOf = (row, column) => {
  const text = row.cells[column].textContent.trim();
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : text.toLowerCase();
};
const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : Number(a > b)) : typeof a === "number" ? -1 : 1);

function sortBy(table, head, column) {
  const order = head.getAttribute("aria-sort");
  const isDescending = order === null ? head.classList.contains("number") : order === "ascending"; // largest numbers first
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column), row]);
  rows.sort(([a], [b]) => (isDescending ? compare(b, a) : compare(a, b)));
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.textContent.trim()) return;
    const button = el("button", { type: "button", title: "Sort by this column" });
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head, column));
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
