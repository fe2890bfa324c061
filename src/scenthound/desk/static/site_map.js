// The map of a site grows while the crawl runs: the page is asked again, and what was closed stays closed.
import { apiOf } from "./desk.js";

const name = document.getElementById("crawl").dataset.name;
let shown = -1, isLoading = false;

async function load() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const old = document.getElementById("site-map"), fresh = page.getElementById("site-map");
  if (!old || !fresh) return;
  const closed = new Set([...old.querySelectorAll("details:not([open])")].map((one) => one.parentElement.dataset.url));
  for (const one of fresh.querySelectorAll("details")) one.open = !closed.has(one.parentElement.dataset.url);
  const focused = document.activeElement?.closest("li")?.dataset.url;
  old.replaceWith(document.adoptNode(fresh));
  const head = page.getElementById("crawl");
  if (head) document.getElementById("crawl").replaceWith(document.adoptNode(head));
  if (focused) [...document.querySelectorAll("#site-map li")].find((one) => one.dataset.url === focused)?.querySelector("a")?.focus();
}

const source = new EventSource(apiOf(name, "/events"));
source.addEventListener("overview", async (event) => {
  const { pages } = JSON.parse(event.data);
  if (shown < 0) shown = document.querySelector("#site-map li") ? pages : 0;
  if (isLoading || pages === shown) return;
  isLoading = true;
  shown = pages;
  await load();
  isLoading = false;
});
