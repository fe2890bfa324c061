// The page of a crawl: live figures, results that never move under the pointer, and steering.
import { apiOf, attempt, call, onAction, el, order, pageOf, say } from "./desk.js";

const root = document.getElementById("crawl");
const name = root.dataset.name;
const byId = (id) => document.getElementById(id);
const percent = (share) => `${Math.round(100 * share)}%`;
const count = new Intl.NumberFormat("en");
const WIDTH = 480, HEIGHT = 96, MARGIN = 4;
let shownPages = null; // number of pages when the list was loaded
let facts = null;

// ---- figures

function line(curve, column) {
  const last = curve.length ? curve[curve.length - 1][0] : 1;
  const height = HEIGHT - 2 * MARGIN;
  return curve.map((row) => `${(WIDTH * row[0] / last).toFixed(1)},${(HEIGHT - MARGIN - height * row[column]).toFixed(1)}`).join(" ");
}

function nowSentence({ hosts, is_running: isRunning, state, why }) {
  if (!isRunning) return `${why[0].toUpperCase()}${why.slice(1)}.`;
  if (state === "paused") return "Paused. No pages are requested until you continue.";
  const wait = hosts.next_in === null ? "" : ` The next resting host is available in ${hosts.next_in.toFixed(1)} s.`;
  return `Fetching pages.${wait}`;
}

const SHAPES = { running: "▶", paused: "❚❚" };

function show(data) {
  facts = data;
  const { state } = data;
  root.dataset.state = state;
  byId("state").replaceChildren(el("span", { class: `chip ${state.replaceAll(" ", "-")}` },
    el("span", { "aria-hidden": "true" }, SHAPES[state] ?? "■"), ` ${data.state_in_words}`));
  byId("pages").textContent = count.format(data.pages);
  byId("budget").textContent = count.format(data.budget);
  byId("on-topic").textContent = count.format(data.on_topic);
  byId("share").textContent = data.pages ? percent(data.share) : "–";
  byId("share-recent").textContent = data.pages ? percent(data.share_recent) : "–";
  byId("speed").textContent = data.pages_per_second.toFixed(1);
  byId("looking-for").textContent = data.looking_for_in_words;
  const other = data.looking_for === "pages" ? "sites" : "pages";
  byId("look-for-other").dataset.value = other;
  byId("look-for-other").textContent = `Look for ${other} instead`;
  byId("progress").max = Math.max(1, data.budget);
  byId("progress").value = data.pages;
  byId("now").textContent = nowSentence(data);
  byId("waiting").textContent = count.format(data.waiting);
  byId("hosts-working").textContent = count.format(data.hosts.working);
  byId("hosts-resting").textContent = count.format(data.hosts.resting);
  byId("hosts-pages").textContent = count.format(data.hosts.with_pages);
  byId("hosts-asleep").textContent = count.format(data.hosts.asleep);
  byId("outlook").textContent = data.pages < data.budget ? `Estimate for the remaining pages: ${data.outlook}.` : "";
  if (data.exploration !== null && byId("exploration")) byId("exploration").textContent = percent(data.exploration);
  byId("curve-all").setAttribute("points", line(data.curve, 1));
  byId("curve-recent").setAttribute("points", line(data.curve, 2));
  const step = Math.max(1, Math.floor(data.curve.length / 12));
  byId("curve-table").replaceChildren(...data.curve.filter((_, index) => index % step === 0).map(([n, all, recent]) =>
    el("tr", {}, el("td", {}, count.format(n)), el("td", {}, percent(all)), el("td", {}, percent(recent)))));
  byId("blocked").replaceChildren(...data.blocked.map((host) => el("li", {},
    el("a", { href: listOf("not-followed", { host }) }, host), " is blocked ",
    el("button", { type: "button", "data-do": "order", "data-action": "unblock", "data-value": host }, "Unblock"))));
  counts("failed", data.failed, data.in_words);
  counts("not-followed", data.not_followed, data.in_words);
  byId("links").textContent = data.links_in_words;
  const hide = (selector, isHidden) => { root.querySelector(selector).hidden = isHidden; };
  hide("[data-action=pause]", state !== "running");
  hide("[data-action=continue]", state !== "paused");
  hide("[data-action=stop]", !data.is_running);
  hide("[data-do=resume]", data.is_running);
  showNew(data.pages);
}

const listOf = (kind, query) => `/c/${encodeURIComponent(name)}/${kind}?${new URLSearchParams(query)}`;

function counts(id, reasons, inWords) {
  const entries = Object.entries(reasons);
  if (!entries.length) return;
  const list = el("ul", { class: "counts" }, ...entries.map(([reason, times]) =>
    el("li", {}, el("span", { title: reason }, inWords[reason]),
      el("b", {}, el("a", { href: listOf(id, { reason }), "aria-label": `Show all ${count.format(times)}` }, count.format(times))))));
  const shown = byId(id).querySelector("ul, p");
  if (shown.textContent !== list.textContent) shown.replaceWith(list); // otherwise keep it, with the focus
}

const source = new EventSource(apiOf(name, "/events"));
source.addEventListener("overview", (event) => show(JSON.parse(event.data)));
source.addEventListener("error", () => { byId("now").textContent = "The desk is not responding. Is it still running?"; });

// ---- results

const list = byId("results");
const filters = { host: byId("filter-host"), relevance: byId("filter-relevance"), label: byId("filter-label") };
let sortOrder = document.querySelector(".tabs [aria-current]")?.dataset.orderBy ?? "new";

function query(offset) {
  const parameters = new URLSearchParams({ order: sortOrder, offset, limit: 30 });
  if (filters.host.value.trim()) parameters.set("host", filters.host.value.trim());
  if (filters.label.value) parameters.set("label", filters.label.value);
  if (filters.relevance.value) parameters.set("on_topic", filters.relevance.value);
  return apiOf(name, `/pages?${parameters}`);
}

async function load(offset = 0) {
  const answer = await attempt(() => call(query(offset)));
  if (!answer) return;
  const rows = answer.pages.map(result);
  if (offset) list.append(...rows);
  else list.replaceChildren(...rows);
  document.querySelector(".found .empty")?.remove();
  if (!offset && !rows.length) list.before(el("div", { class: "empty" }, el("p", { class: "empty-title" }, "No pages match these filters")));
  byId("more-results").hidden = rows.length < 30;
  byId("new-bar").hidden = true;
  shownPages = facts ? facts.pages : shownPages;
}

function showNew(pages) {
  if (shownPages === null) shownPages = list.children.length ? pages : 0;
  const fresh = pages - shownPages;
  if (fresh > 0 && !list.children.length) { shownPages = pages; load(); return; }
  const bar = byId("new-bar");
  if (fresh > 0) bar.textContent = `${count.format(fresh)} new`;
  bar.hidden = fresh <= 0;
}

const short = (url, most = 72) => {
  const bare = url.replace(/^\w+:\/\//, "");
  if (bare.length <= most) return bare;
  const end = bare.replace(/\/$/, "").split("/").pop().slice(-most / 2);
  return `${bare.slice(0, most - end.length - 4).replace(/\/$/, "")}/…/${end}`;
};
const shownUrl = (url, most) => el("span", { class: "url", title: url }, short(url, most));

function result(row) {
  const verdict = row.on_topic ? "on topic" : "off topic";
  const score = el("span", { class: `score ${row.on_topic ? "on" : "off"}`, title: `${verdict}: relevance ${row.relevance.toFixed(3)} of 1`, "aria-label": `${verdict}, relevance ${row.relevance.toFixed(2)}` },
    el("span", { class: "shape", "aria-hidden": "true" }, row.on_topic ? "●" : "○"), row.relevance.toFixed(2));
  const origin = row.parent === null ? el("span", { class: "from" }, "starting page")
    : el("span", { class: "from" }, row.anchor ? `found through “${row.anchor.slice(0, 80)}” on ` : "found on ", shownUrl(row.parent, 48));
  const snippet = row.snippet.map((part) => (part.marked ? el("mark", {}, part.text) : part.text));
  const body = el("div", { class: "body" },
    el("h3", {}, el("a", { href: pageOf(name, row.url) }, row.title || "(no title)")),
    el("p", { class: "where" }, shownUrl(row.url)),
    snippet.length ? el("p", { class: "snippet" }, ...snippet) : null,
    el("p", { class: "facts" }, origin, row.why.length ? ` · why: ${row.why.join("; ")}` : null));
  const button = (label, isOn) => el("button", { type: "button", "data-do": "label", "data-url": row.url, "data-on-topic": String(isOn), "aria-pressed": String(row.label === label) },
    el("span", { "aria-hidden": "true" }, isOn ? "●" : "○"), ` ${label}`);
  const labels = el("div", { class: "labels" }, button("on topic", true), button("off topic", false),
    el("a", { class: "button", href: `${pageOf(name, row.url)}#copy`, "data-do": "copy" }, "stored copy"));
  return el("li", { class: "result", "data-url": row.url, tabindex: -1 }, score, body, labels);
}

for (const tab of document.querySelectorAll("[data-order-by]")) {
  tab.addEventListener("click", (event) => {
    event.preventDefault();
    sortOrder = tab.dataset.orderBy;
    for (const other of document.querySelectorAll("[data-order-by]")) other.toggleAttribute("aria-current", other === tab);
    load();
  });
}
for (const field of Object.values(filters)) field.addEventListener("change", () => load());
onAction("show-new", async () => {
  await load();
  list.firstElementChild?.focus(); // the bar is hidden now: move the focus to the first new page
});
onAction("more-results", () => load(list.children.length));

// ---- steering

onAction("resume", async (button) => {
  const resumed = await attempt(() => call(apiOf(name, "/resume"), {}), button);
  if (resumed) say(resumed.note || "Resuming.");
});
onAction("more", (button) => {
  const more = byId("more");
  more.hidden = !more.hidden;
  button.setAttribute("aria-expanded", String(!more.hidden));
});
for (const form of document.querySelectorAll("[data-order]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { value } = form.elements;
    if (value.value.trim() && await order(form.dataset.order, value.value.trim(), form.querySelector("button"))) form.reset();
  });
}
