// The site map grows while the crawl runs: the page is fetched again, and closed branches stay closed.
import { apiOf, attempt, onAction, el, followPages } from "./desk.js";

const name = document.getElementById("crawl").dataset.name;
const SCALE = 2, LONGEST_SIDE = 8192; // PNG pixels per SVG pixel, and the limit for each side

// The PNG file is rendered in the browser: the desk itself has no graphics library.
async function savePng() {
  const image = new Image();
  image.src = apiOf(name, "/site-map/map.svg");
  await image.decode();
  const scale = Math.min(SCALE, LONGEST_SIDE / image.naturalWidth, LONGEST_SIDE / image.naturalHeight);
  const canvas = el("canvas", { width: Math.round(scale * image.naturalWidth), height: Math.round(scale * image.naturalHeight) });
  const context = canvas.getContext("2d");
  context.fillStyle = "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const file = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  const link = el("a", { href: URL.createObjectURL(file), download: "map.png" });
  link.click();
  URL.revokeObjectURL(link.href);
}
onAction("png", (button) => attempt(savePng, button));

async function load() {
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const old = document.getElementById("site-map"), fresh = page.getElementById("site-map");
  if (!old || !fresh) return;
  const closed = new Set([...old.querySelectorAll("details:not([open])")].map((details) => details.parentElement.dataset.url));
  for (const details of fresh.querySelectorAll("details")) details.open = !closed.has(details.parentElement.dataset.url);
  const focused = document.activeElement?.closest("li")?.dataset.url;
  old.replaceWith(document.adoptNode(fresh));
  const head = page.getElementById("crawl");
  if (head) document.getElementById("crawl").replaceWith(document.adoptNode(head));
  if (focused) [...document.querySelectorAll("#site-map li")].find((item) => item.dataset.url === focused)?.querySelector("a")?.focus();
}

followPages(name, load);
