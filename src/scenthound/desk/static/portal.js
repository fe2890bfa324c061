// The Portal page: builds or updates the portal in the background, shows the progress, and opens the portal.
import { apiOf, call, collection, onAction } from "./desk.js";

const POLL_INTERVAL = 1000; // milliseconds
const status = document.getElementById("build-said");
const button = document.getElementById("build");

async function follow(job) {
  button.disabled = true;
  while (job.state === "working") {
    status.textContent = job.said || "Working…";
    await new Promise((done) => setTimeout(done, POLL_INTERVAL));
    job = await call(apiOf(collection(), "/portal"));
  }
  button.disabled = false;
  status.textContent = job.said;
  if (job.state !== "done") return;
  status.textContent = `${job.answer.pages} pages in ${job.answer.categories.length} categories.`;
  location.href = `/c/${encodeURIComponent(collection())}/portal/index.html`;
}

const attempt = (promise) => promise.catch((error) => {
  status.textContent = error.message;
  button.disabled = false;
});

document.getElementById("names")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const changed = [...event.target.querySelectorAll("input")].filter((field) => field.value.trim() !== field.defaultValue);
  const save = async () => {
    for (const field of changed) {
      await call(apiOf(collection(), "/portal/names"), { category: field.dataset.category, name: field.value });
    }
    if (changed.length) await call(apiOf(collection(), "/portal"), {}).then(follow);
  };
  attempt(save());
});

onAction("build", () => attempt(call(apiOf(collection(), "/portal"), {}).then(follow)));
attempt(call(apiOf(collection(), "/portal")).then((job) => (job.state === "working" ? follow(job) : null)));
