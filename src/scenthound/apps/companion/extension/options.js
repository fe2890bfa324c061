// The options: pairing, excluded sites, bookmarks, the words of the profile.
import { BOOKMARKS, browser, call, DESK, el, pair, remember, remembered } from "./desk.js";

const said = document.getElementById("said");
const words = document.getElementById("words");

async function attempt(work, done) {
  said.textContent = "";
  try {
    await work();
    said.textContent = done;
  } catch (error) {
    said.textContent = error.message;
  }
}

async function refresh() {
  const { port, token } = await remembered();
  const paired = document.getElementById("paired");
  paired.textContent = token ? `Paired with the desk on port ${port}.` : "Not paired yet.";
  if (!token) return;
  const { profile, excluded } = await call("");
  await remember({ excluded });
  document.getElementById("excluded").value = excluded.join("\n");
  words.replaceChildren(...profile.words.slice(0, 50).map(word));
  if (!profile.words.length) words.replaceChildren(el("li", {}, "Nothing yet."));
}

function word({ word: name, weight }) {
  const button = el("button", { type: "button", title: "Never learn this word again" }, "×");
  button.setAttribute("aria-label", `Remove ${name}`);
  button.addEventListener("click", () => attempt(() => change("/words", { word: name, weight: 0 }), `“${name}” is removed.`));
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
    if (!(await browser.permissions.request(DESK))) throw new Error("The desk can't be reached without this permission.");
    await pair(code.value);
    code.value = "";
    await refresh();
  }, "Paired. Open the panel and switch it on.");
});

document.getElementById("excluding").addEventListener("submit", (event) => {
  event.preventDefault();
  const sites = document.getElementById("excluded").value.split(/\s+/).filter(Boolean);
  attempt(() => change("/excluded", { sites }), "Saved.");
});

document.getElementById("bookmarks").addEventListener("click", () => attempt(async () => {
  if (!(await browser.permissions.request(BOOKMARKS))) throw new Error("Bookmarks do not teach.");
}, "New bookmarks of the page in front teach from now on."));

document.getElementById("forget").addEventListener("click", () => attempt(() => change("/forget", {}), "All is forgotten."));
refresh().catch((error) => { said.textContent = error.message; });
