// The Companion page: shows everything it knows about its reader, to change or to forget.
import { attempt, call, el, say } from "./desk.js";

const API = "/api/companion";
const byId = (id) => document.getElementById(id);
let isOn = true;

const link = ({ url, title }) => el("a", { href: url, rel: "noreferrer noopener", target: "_blank", title: url }, title || url);

function show(state) {
  isOn = state.on;
  byId("switch").textContent = isOn ? "Turn off" : "Turn on";
  const { profile } = state;
  const read = `${profile.pages} page${profile.pages === 1 ? "" : "s"} read, ${profile.words.length} words`;
  byId("companion-state").textContent = isOn ? `On. ${read}.` : `Off. Nothing is read. ${read}.`;
  const heaviest = profile.words[0]?.weight ?? 1;
  byId("words").replaceChildren(...profile.words.map((entry) => wordItem(entry, heaviest)));
  if (!profile.words.length) byId("words").replaceChildren(el("li", { class: "quiet-text" }, "None yet. The companion learns them from the pages you read."));
  byId("removed").textContent = profile.removed.length ? `Never learned: ${profile.removed.join(", ")}` : "";
  byId("front").replaceChildren(state.front ? "Looking ahead from " : "No page has been read yet.", ...(state.front ? [link(state.front), state.looking ? "…" : ""] : []));
  byId("looked-at").replaceChildren(...state.looked_at.map((page) => el("li", {}, link(page))));
  if (document.activeElement !== byId("excluded")) byId("excluded").value = state.excluded.join("\n");
  byId("paired").replaceChildren(...state.paired.map(pairedItem));
  if (!state.paired.length) byId("paired").replaceChildren(el("li", { class: "quiet-text" }, "No browser is paired."));
}

function wordItem({ word: name, weight }, heaviest) {
  const bar = el("meter", { min: 0, max: heaviest, value: weight, "aria-hidden": true });
  const button = el("button", { type: "button", class: "quiet", title: "Remove and never learn again", "aria-label": `Remove ${name}` }, "×");
  button.addEventListener("click", () => change("/words", { word: name, weight: 0 }, button));
  return el("li", {}, el("span", {}, name), bar, el("span", { class: "number" }, weight.toFixed(2)), button);
}

function pairedItem(origin) {
  const button = el("button", { type: "button", class: "quiet", "aria-label": `Unpair ${origin}` }, "×");
  button.addEventListener("click", () => change("/unpair", { origin }, button));
  return el("li", {}, origin, " ", button);
}

async function change(path, body, target, message = "") {
  const state = await attempt(() => call(API + path, body), target);
  if (state) show(state);
  if (state && message) say(message);
}

byId("switch").addEventListener("click", () => change("/switch", { on: !isOn }, byId("switch")));
byId("forget").addEventListener("click", () => change("/forget", {}, byId("forget"), "Everything was forgotten."));
byId("add-word").addEventListener("submit", (event) => {
  event.preventDefault();
  if (byId("weight").value === "") return say("Enter a weight from 0 to 100; 0 removes the word for good.", true);
  change("/words", { word: byId("word").value, weight: Number(byId("weight").value) });
  byId("word").value = "";
  return null;
});
byId("excluding").addEventListener("submit", (event) => {
  event.preventDefault();
  change("/excluded", { sites: byId("excluded").value.split(/\s+/).filter(Boolean) }, null, "Saved.");
});
byId("new-code").addEventListener("click", async () => {
  const pairing = await attempt(() => call(`${API}/codes`, {}), byId("new-code"));
  if (pairing) byId("code").textContent = pairing.code;
});

async function refresh() {
  if (document.visibilityState !== "visible") return;
  try {
    show(await call(API));
  } catch (error) {
    byId("companion-state").textContent = error.message;
  }
}
setInterval(refresh, 3000);
document.addEventListener("visibilitychange", refresh);
refresh();
