// The map of a site grows while the crawl runs: the page is asked again, and what was closed stays closed.
import { apiOf, attempt, does, el, followPages } from "./desk.js";

const name = document.getElementById("crawl").dataset.name;
const SHARP = 2, MOST = 8192; // picture points for one of the drawing, and the longest side

// A PNG file is drawn here: no library of the desk draws.
async function savePng() {
  const image = new Image();
  image.src = apiOf(name, "/site-map/map.svg");
  await image.decode();
  const scale = Math.min(SHARP, MOST / image.naturalWidth, MOST / image.naturalHeight);
  const canvas = el("canvas", { width: Math.round(scale * image.naturalWidth), height: Math.round(scale * image.naturalHeight) });
  const brush = canvas.getContext("2d");
  brush.fillStyle = "white";
  brush.fillRect(0, 0, canvas.width, canvas.height);
  brush.drawImage(image, 0, 0, canvas.width, canvas.height);
  const file = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  const link = el("a", { href: URL.createObjectURL(file), download: "map.png" });
  link.click();
  URL.revokeObjectURL(link.href);
}
does("png", (button) => attempt(savePng, button));

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

followPages(name, load);
