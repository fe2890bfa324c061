// The portal's page: makes the portal in the background, or brings it up to date, says how far it is, and opens it.
import { apiOf, call, collection, does } from "./desk.js";

const WAIT = 1000; // milliseconds between two looks
const said = document.getElementById("build-said");
const button = document.getElementById("build");

async function follow(job) {
  button.disabled = true;
  while (job.state === "working") {
    said.textContent = job.said || "Working …";
    await new Promise((done) => setTimeout(done, WAIT));
    job = await call(apiOf(collection(), "/portal"));
  }
  button.disabled = false;
  said.textContent = job.said;
  if (job.state !== "done") return;
  said.textContent = `${job.answer.pages} pages in ${job.answer.categories.length} categories.`;
  location.href = `/c/${encodeURIComponent(collection())}/portal/index.html`;
}

const attempt = (work) => work.catch((error) => {
  said.textContent = error.message;
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

does("build", () => attempt(call(apiOf(collection(), "/portal"), {}).then(follow)));
attempt(call(apiOf(collection(), "/portal")).then((job) => (job.state === "working" ? follow(job) : null)));
