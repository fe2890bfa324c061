// The side panel: what is worth following from the page in front. Asks only while it can be seen.
import { browser, call, el, mayReport, PAGES, remember, remembered } from "./desk.js";

const EVERY = 2000;
const list = document.getElementById("suggestions");
const further = document.getElementById("further");
const about = document.getElementById("about");
const toggle = document.getElementById("switch");
let shown = "";

/** The tab in front; if this panel is opened as a tab itself, the one that was in front before. */
async function tabInFront() {
  const own = await browser.tabs.getCurrent();
  const tabs = await browser.tabs.query(own ? { windowId: own.windowId } : { active: true, currentWindow: true });
  return tabs.filter((tab) => tab.id !== own?.id).sort((a, b) => b.lastAccessed - a.lastAccessed)[0];
}

async function refresh() {
  const state = await remembered();
  toggle.setAttribute("aria-checked", String(state.on));
  toggle.textContent = state.on ? "On" : "Off";
  if (!state.token) return tell("Not paired yet. Open the options and type the code that `scenthound companion` shows.");
  if (!state.on) return tell("Off: nothing is read and nothing is sent.");
  const tab = await tabInFront();
  if (tab?.incognito) return tell("Private windows are never read.");
  if (!mayReport(tab, tab?.url, state)) return tell("This page is not read: it is excluded, or no page of the web.");
  try {
    show(await call(`/suggestions?${new URLSearchParams({ url: tab.url })}`));
  } catch (error) {
    tell(error.message);
  }
}

function tell(words) {
  show({ about: words, suggestions: [] });
}

function show(answer) {
  about.textContent = answer.about;
  const now = JSON.stringify(answer.suggestions);
  if (now === shown) return;
  shown = now;
  const [near, beyond] = [1, 2].map((clicks) => answer.suggestions.filter((one) => one.clicks === clicks));
  list.replaceChildren(...near.map(suggestion));
  further.replaceChildren(...beyond.map(suggestion));
  document.getElementById("beyond").hidden = !beyond.length;
}

function suggestion(one) {
  const link = el("a", { href: one.url }, one.title);
  link.addEventListener("click", (event) => follow(event, one));
  const way = one.clicks === 2 ? [el("p", { class: "reason" }, `through “${one.through}”`)] : [];
  const host = el("p", { class: "host", title: one.url }, one.shown);
  return el("li", {}, link, host, ...way, ...one.reasons.map((reason) => el("p", { class: "reason" }, reason)));
}

async function follow(event, one) {
  event.preventDefault();
  const tab = await tabInFront();
  if (!/^https?:/.test(one.url)) return;
  call("/lessons", { kind: "follow", url: one.url, private: tab.incognito }).catch(() => null);
  await browser.tabs.update(tab.id, { url: one.url, active: true });
}

toggle.addEventListener("click", async () => {
  const on = toggle.getAttribute("aria-checked") === "true";  // Firefox lets only the very click ask for a permission
  if (!on && !(await browser.permissions.request(PAGES))) return tell("Without the permission to read pages it stays off.");
  await remember({ on: !on });
  if (!on) browser.runtime.sendMessage({ kind: "switched on" }).catch(() => null);
  await refresh();
});

document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && refresh());
setInterval(() => document.visibilityState === "visible" && refresh(), EVERY);
refresh();
