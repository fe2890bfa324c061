// The map: pages and hosts as a graph, a slider that replays the crawl, and a list that shares the selection.
import { apiOf, attempt, call, onAction, el, pageOf } from "./desk.js";
import { Drawing } from "./map_drawing.js";
import { layout } from "./map_layout.js";

const root = document.getElementById("crawl");
const name = root.dataset.name;
const byId = (id) => document.getElementById(id);
const count = new Intl.NumberFormat("en");
const canvas = byId("map"), time = byId("map-time"), least = byId("map-relevance"), list = byId("map-list");
const drawing = new Drawing(canvas);
const STEP = 40; // pixels that an arrow key moves the map
const SECONDS = 12; // duration of a replay
let pages = [], discs = [], links = null, playing = null;

async function load() {
  const answer = await attempt(() => call(apiOf(name, "/map")));
  if (!answer) return;
  pages = answer.pages;
  const byNumber = new Map(pages.map((page) => [page.n, page]));
  for (const page of pages) page.children = [];
  for (const page of pages) {
    page.from = byNumber.get(page.parent) ?? null;
    page.from?.children.push(page);
  }
  discs = layout(pages);
  links = null;
  time.max = String(pages.length);
  time.value = time.max;
  drawing.show(pages, discs, pages.filter((page) => page.from).map((page) => [page.from, page]));
  canvas.dataset.pages = String(pages.length);
  byId("map-new").hidden = true;
  showTime();
  showHosts();
  listen(answer.total);
}

// ---- filters

function showTime() {
  const last = pages[Number(time.value) - 1];
  drawing.until = last ? last.n : 0;
  const text = last ? `page ${count.format(last.n)}, ${new Date(last.time * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}` : "nothing yet";
  byId("map-time-words").textContent = text;
  time.setAttribute("aria-valuetext", text);
  drawing.redraw();
}

least.addEventListener("input", () => {
  drawing.least = Number(least.value);
  byId("map-relevance-words").textContent = Number(least.value).toFixed(2);
  drawing.redraw();
});
time.addEventListener("input", () => { stop(); showTime(); });
byId("map-links").addEventListener("change", (event) => { drawing.withLinks = event.target.value !== "none"; useLinks(event.target.value === "all"); });

async function useLinks(all) {
  if (all && !links) {
    const answer = await attempt(() => call(apiOf(name, "/map?links=yes")));
    const byNumber = new Map(pages.map((page) => [page.n, page]));
    links = (answer?.links ?? []).map(([from, to]) => [byNumber.get(from), byNumber.get(to)]).filter(([from, to]) => from && to);
  }
  drawing.links = all ? links : pages.filter((page) => page.from).map((page) => [page.from, page]);
  drawing.redraw();
}

// ---- replay

function stop() {
  clearInterval(playing);
  playing = null;
  drawing.isReplaying = false;
  drawing.redraw();
  byId("map-play").textContent = "Replay";
}

onAction("map-play", () => {
  if (playing) { stop(); return; }
  if (Number(time.value) >= pages.length) time.value = "0";
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const interval = reducedMotion ? 1000 : 50, step = Math.max(1, Math.round(pages.length * interval / 1000 / SECONDS));
  byId("map-play").textContent = "Stop";
  drawing.isReplaying = true;
  playing = setInterval(() => {
    time.value = String(Math.min(pages.length, Number(time.value) + step));
    showTime();
    if (Number(time.value) >= pages.length) stop();
  }, interval);
});
onAction("map-fit", () => drawing.fit());
onAction("map-in", () => drawing.zoom(1.5));
onAction("map-out", () => drawing.zoom(1 / 1.5));
onAction("map-new", () => load());

// ---- the list, with the same selection

const cell = (...children) => el("td", {}, ...children);
const number = (value) => el("td", { class: "number" }, value);
const rowOf = (label, action, ...cells) => {
  const button = el("button", { type: "button", class: "link" }, label);
  button.addEventListener("click", action);
  return el("tr", {}, cell(button), ...cells);
};

function fill(title, heads, rows, back) {
  byId("map-list-title").textContent = title;
  byId("map-hosts").hidden = !back;
  list.tHead.replaceChildren(el("tr", {}, ...heads.map((label, index) => el("th", { scope: "col", class: index ? "number" : null }, label))));
  list.tBodies[0].replaceChildren(...rows);
}

function showHosts() {
  const sorted = [...discs].sort((a, b) => b.pages.length - a.pages.length).slice(0, 200);
  fill(`${count.format(discs.length)} ${discs.length === 1 ? "host" : "hosts"}`, ["host", "pages", "on topic"], sorted.map((disc) =>
    rowOf(disc.host, () => { drawing.fit([disc]); showPages(disc); }, number(count.format(disc.pages.length)), number(count.format(disc.pages.filter((page) => page.on_topic).length)))), false);
}

function showPages(disc) {
  const shown = [...disc.pages].sort((a, b) => b.relevance - a.relevance).slice(0, 200);
  fill(disc.host, ["page", "relevance"], shown.map((page) =>
    rowOf(page.title || page.url, () => { drawing.centre(page); select(page); }, number(`${page.on_topic ? "●" : "○"} ${page.relevance.toFixed(2)}`))), true);
}
onAction("map-hosts", () => { drawing.fit(); showHosts(); });

function select(page) {
  drawing.selected = page;
  drawing.schedule();
  byId("map-selected").replaceChildren(...(page ? details(page) : [el("p", { class: "quiet-text" }, "Select a page on the map or in the list.")]));
}

function details(page) {
  const verdict = page.on_topic ? "● on topic" : "○ off topic";
  const origin = page.from ? `found on ${page.from.title || page.from.url}` : "starting page";
  return [el("h3", {}, el("a", { href: pageOf(name, page.url) }, page.title || "(no title)")), el("p", { class: "url where" }, page.url),
    el("p", { class: "quiet-text" }, `Page ${count.format(page.n)}, ${verdict}, relevance ${page.relevance.toFixed(2)}; ${origin}. ${page.children.length} ${page.children.length === 1 ? "page was" : "pages were"} found on it.`)];
}

// ---- pointer and keyboard

const pointers = new Map();
let wasDragged = false;
const pinchDistance = () => { const [a, b] = [...pointers.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture?.(event.pointerId);
  pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  wasDragged = false;
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const previousDistance = pointers.size === 2 ? pinchDistance() : 0;
  pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  if (pointers.size === 2) drawing.zoom(pinchDistance() / previousDistance, event.offsetX, event.offsetY);
  else drawing.pan(event.offsetX - before.x, event.offsetY - before.y);
  wasDragged ||= Math.hypot(event.offsetX - before.x, event.offsetY - before.y) > 2;
});
canvas.addEventListener("pointerup", (event) => {
  pointers.delete(event.pointerId);
  if (!wasDragged) select(drawing.pageAt(event.offsetX, event.offsetY));
});
canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  drawing.zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY);
}, { passive: false });

function step(by) {
  const shown = pages.filter((page) => drawing.isShown(page));
  const index = shown.indexOf(drawing.selected);
  const next = shown[Math.min(Math.max(index + by, 0), shown.length - 1)];
  if (next) { drawing.centre(next); select(next); }
}
const KEYS = {
  ArrowLeft: () => drawing.pan(STEP, 0), ArrowRight: () => drawing.pan(-STEP, 0), ArrowUp: () => drawing.pan(0, STEP), ArrowDown: () => drawing.pan(0, -STEP),
  "+": () => drawing.zoom(1.5), "-": () => drawing.zoom(1 / 1.5), 0: () => drawing.fit(), ",": () => step(-1), ".": () => step(1),
  Enter: () => { if (drawing.selected) location.href = pageOf(name, drawing.selected.url); },
};
canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  event.stopPropagation();
  KEYS[event.key]();
});

// ---- a running crawl: nothing moves until the user asks for it

let source = null;
function listen(total) {
  source?.close();
  source = new EventSource(apiOf(name, "/events"));
  source.addEventListener("overview", (event) => {
    const newPages = JSON.parse(event.data).pages - total;
    if (newPages > 0) byId("map-new").textContent = `${count.format(newPages)} new: redraw the map`;
    byId("map-new").hidden = newPages <= 0;
  });
}

load();
