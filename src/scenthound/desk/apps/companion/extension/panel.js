// The side panel: links worth following from the active page. Polls the desk only while it is visible.
import { browser, call, el, mayReport, PAGES, remember, remembered } from "./desk.js";

const POLL_INTERVAL = 2000; // milliseconds
const list = document.getElementById("suggestions");
const further = document.getElementById("further");
const about = document.getElementById("about");
const toggle = document.getElementById("switch");
let shown = "";

/** The active tab; if the panel itself is open as a tab, the tab that was active before it. */
async function activeTab() {
  const own = await browser.tabs.getCurrent();
  const tabs = await browser.tabs.query(own ? { windowId: own.windowId } : { active: true, currentWindow: true });
  return tabs.filter((tab) => tab.id !== own?.id).sort((a, b) => b.lastAccessed - a.lastAccessed)[0];
}

async function refresh() {
  const state = await remembered();
  toggle.setAttribute("aria-checked", String(state.on));
  toggle.textContent = state.on ? "On" : "Off";
  if (!state.key) return showMessage("Not paired yet. Open the options and enter the code shown by `scenthound companion`.");
  if (!state.on) return showMessage("The companion is off. Nothing is read or sent.");
  const tab = await activeTab();
  if (tab?.incognito) return showMessage("Private windows are never read.");
  if (!mayReport(tab, tab?.url, state)) return showMessage("The companion doesn't read this page: it is excluded, or it isn't a web page.");
  try {
    show(await call(`/suggestions?${new URLSearchParams({ url: tab.url })}`));
  } catch (error) {
    showMessage(error.message);
  }
}

function showMessage(message) {
  show({ about: message, suggestions: [] });
}

function show(answer) {
  about.textContent = answer.about;
  const received = JSON.stringify(answer.suggestions);
  if (received === shown) return;
  shown = received;
  const [near, beyond] = [1, 2].map((clicks) => answer.suggestions.filter((suggestion) => suggestion.clicks === clicks));
  list.replaceChildren(...near.map(item));
  further.replaceChildren(...beyond.map(item));
  document.getElementById("beyond").hidden = !beyond.length;
}

function item(suggestion) {
  const link = el("a", { href: suggestion.url }, suggestion.title);
  link.addEventListener("click", (event) => follow(event, suggestion));
  const path = suggestion.clicks === 2 ? [el("p", { class: "reason" }, `through “${suggestion.through}”`)] : [];
  const host = el("p", { class: "host", title: suggestion.url }, suggestion.shown);
  return el("li", {}, link, host, ...path, ...suggestion.reasons.map((reason) => el("p", { class: "reason" }, reason)));
}

async function follow(event, suggestion) {
  event.preventDefault();
  const tab = await activeTab();
  if (!/^https?:/.test(suggestion.url)) return;
  call("/lessons", { kind: "follow", url: suggestion.url, private: tab.incognito }).catch(() => null);
  await browser.tabs.update(tab.id, { url: suggestion.url, active: true });
}

toggle.addEventListener("click", async () => {
  const on = toggle.getAttribute("aria-checked") === "true";  // read synchronously: Firefox allows permission requests only directly in a click handler
  if (!on && !(await browser.permissions.request(PAGES))) return showMessage("The companion stays off: it needs permission to read pages.");
  await remember({ on: !on });
  if (!on) browser.runtime.sendMessage({ kind: "switched on" }).catch(() => null);
  await refresh();
});

document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh());
setInterval(() => document.visibilityState === "visible" && refresh(), POLL_INTERVAL);
refresh();
