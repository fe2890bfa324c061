// The companion's page: all that it knows of its reader, to change and to forget.
import { attempt, call, el, say } from "./desk.js";

const API = "/api/companion";
const at = (id) => document.getElementById(id);
let isOn = true;

const link = ({ url, title }) => el("a", { href: url, rel: "noreferrer noopener", target: "_blank", title: url }, title || url);

function show(state) {
  isOn = state.on;
  at("switch").textContent = isOn ? "Switch off" : "Switch on";
  const { profile } = state;
  const read = `${profile.pages} page${profile.pages === 1 ? "" : "s"} read, ${profile.words.length} words`;
  at("companion-state").textContent = isOn ? `On. ${read}.` : `Off: nothing is taken in. ${read}.`;
  const heaviest = profile.words[0]?.weight ?? 1;
  at("words").replaceChildren(...profile.words.map((one) => word(one, heaviest)));
  if (!profile.words.length) at("words").replaceChildren(el("li", { class: "quiet-text" }, "None yet: they come with the pages that you read."));
  at("removed").textContent = profile.removed.length ? `Never learned: ${profile.removed.join(", ")}` : "";
  at("front").replaceChildren(state.front ? "From " : "No page was read yet.", ...(state.front ? [link(state.front), state.looking ? " …" : ""] : []));
  at("looked-at").replaceChildren(...state.looked_at.map((page) => el("li", {}, link(page))));
  if (document.activeElement !== at("excluded")) at("excluded").value = state.excluded.join("\n");
  at("paired").replaceChildren(...state.paired.map(paired));
  if (!state.paired.length) at("paired").replaceChildren(el("li", { class: "quiet-text" }, "None is paired."));
}

function word({ word: name, weight }, heaviest) {
  const bar = el("meter", { min: 0, max: heaviest, value: weight, "aria-hidden": true });
  const button = el("button", { type: "button", class: "quiet", title: "Remove, and never learn it again", "aria-label": `Remove ${name}` }, "×");
  button.addEventListener("click", () => change("/words", { word: name, weight: 0 }, button));
  return el("li", {}, el("span", {}, name), bar, el("span", { class: "number" }, weight.toFixed(2)), button);
}

function paired(origin) {
  const button = el("button", { type: "button", class: "quiet", "aria-label": `Unpair ${origin}` }, "×");
  button.addEventListener("click", () => change("/unpair", { origin }, button));
  return el("li", {}, origin, " ", button);
}

async function change(path, body, target, done = "") {
  const state = await attempt(() => call(API + path, body), target);
  if (state) show(state);
  if (state && done) say(done);
}

at("switch").addEventListener("click", () => change("/switch", { on: !isOn }, at("switch")));
at("forget").addEventListener("click", () => change("/forget", {}, at("forget"), "All is forgotten."));
at("add-word").addEventListener("submit", (event) => {
  event.preventDefault();
  change("/words", { word: at("word").value, weight: Number(at("weight").value) });
  at("word").value = "";
});
at("excluding").addEventListener("submit", (event) => {
  event.preventDefault();
  change("/excluded", { sites: at("excluded").value.split(/\s+/).filter(Boolean) }, null, "Saved.");
});
at("new-code").addEventListener("click", async () => {
  const made = await attempt(() => call(`${API}/codes`, {}), at("new-code"));
  if (made) at("code").textContent = made.code;
});

async function refresh() {
  if (document.visibilityState !== "visible") return;
  try {
    show(await call(API));
  } catch (error) {
    at("companion-state").textContent = error.message;
  }
}
setInterval(refresh, 3000);
document.addEventListener("visibilitychange", refresh);
refresh();
