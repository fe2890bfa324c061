// The options page: pairing, excluded sites, bookmarks, and the words of the profile.
import { addExcluded, BOOKMARKS, browser, call, DESK, el, pair, remember, remembered, siteOf } from "./desk.js";

const status = document.getElementById("said");
const words = document.getElementById("words");
const excludedSites = document.getElementById("excluded");

// Runs an action and shows `message`, or the error.
async function attempt(action, message) {
  status.textContent = "";
  try {
    await action();
    status.textContent = message;
  } catch (error) {
    status.textContent = error.message;
  }
}

async function refresh() {
  const { port, key } = await remembered();
  const paired = document.getElementById("paired");
  paired.textContent = key ? `Paired with the desk on port ${port}.` : "Not paired yet.";
  await showExcluded();
  if (!key) return;
  const { profile, excluded } = await call("");
  await addExcluded(excluded);
  await showExcluded();
  words.replaceChildren(...profile.words.slice(0, 50).map(wordItem));
  if (!profile.words.length) words.replaceChildren(el("li", {}, "Nothing learned yet."));
}

/** Shows the list, but keeps what a person is typing: the desk answers late. */
async function showExcluded() {
  const list = (await remembered()).excluded.join("\n");
  if (excludedSites.value === excludedSites.defaultValue) excludedSites.value = list;
  excludedSites.defaultValue = list;
}

/** Stores the list of excluded sites. New ones count at once; sites are removed only if the desk removes them, too. */
async function exclude(sites) {
  const before = (await remembered()).excluded;
  await remember({ excluded: [...new Set([...before, ...sites])].sort() });
  if ((await remembered()).key) {
    try {
      await call("/excluded", { sites });
    } catch (error) {
      throw new Error(`New sites are excluded in this browser; no site was removed, and the desk does not have the list yet. ${error.message}`);
    }
  }
  await remember({ excluded: sites, added: [] });
}

function wordItem({ word: name, weight }) {
  const button = el("button", { type: "button", title: "Never learn this word again" }, "×");
  button.setAttribute("aria-label", `Remove ${name}`);
  button.addEventListener("click", () => attempt(() => change("/words", { word: name, weight: 0 }), `Removed “${name}”.`));
  return el("li", {}, `${name} `, el("small", {}, weight.toFixed(2)), " ", button);
}

async function change(path, body) {
  await call(path, body);
  await refresh();
}

document.getElementById("pairing").addEventListener("submit", (event) => {
  event.preventDefault();
  const code = document.getElementById("code");
  attempt(async () => {
    if (!(await browser.permissions.request(DESK))) throw new Error("The extension needs this permission to reach the desk.");
    await pair(code.value);
    code.value = "";
    await refresh();
  }, "Paired. Open the side panel and turn the companion on.");
});

document.getElementById("excluding").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(async () => {
    await exclude(excludedSites.value.split(/\s+/).filter(Boolean).map(siteOf));
    excludedSites.value = excludedSites.defaultValue;
    await showExcluded();
  }, "Saved.");
});

document.getElementById("bookmarks").addEventListener("click", () => attempt(async () => {
  if (!(await browser.permissions.request(BOOKMARKS))) throw new Error("The companion won't learn from bookmarks without this permission.");
}, "The companion now learns when you bookmark the page you are reading."));

document.getElementById("forget").addEventListener("click", () => attempt(() => change("/forget", {}), "Everything was forgotten."));
refresh().catch((error) => { status.textContent = error.message; });
