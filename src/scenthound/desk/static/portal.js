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

does("build", () => attempt(call(apiOf(collection(), "/portal"), {}).then(follow)));
attempt(call(apiOf(collection(), "/portal")).then((job) => (job.state === "working" ? follow(job) : null)));
