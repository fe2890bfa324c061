// The first page: one question, and a crawl begins.
import { call } from "./desk.js";
import { seedFinding } from "./finding.js";

const form = document.getElementById("start");
const seeds = document.getElementById("seeds");
const failed = document.getElementById("start-error");
const sourceAsked = seedFinding(form, fail);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  failed.textContent = "";
  const { topic, pages, scope } = form.elements;
  if (!topic.value.trim()) {
    return fail(seeds.value.trim() ? "Say what you are looking for, or find the words of these pages." : "Say what you are looking for.", topic);
  }
  const asked = sourceAsked();
  if (!seeds.value.trim() && !asked) return fail("Name a page to start from, or find some.", seeds);
  const button = form.querySelector("button");
  button.disabled = true;
  button.textContent = "Starting …";
  try {
    const begun = await call("/api/crawls", {
      topic: topic.value, seeds: seeds.value, source: seeds.value.trim() ? "" : asked, pages: Number(pages.value) || 500, scope: scope.value,
      looking_for: form.elements.looking_for.value, topic_file: topicFile,
    });
    location.href = `/c/${encodeURIComponent(begun.name)}`;
  } catch (error) {
    fail(error.message, topic);
    button.disabled = false;
    button.textContent = "Look";
  }
});

// ---- a topic that is not typed

let topicFile = "";
const said = document.getElementById("topic-said");

async function fillTopic(asked, button, file = "") {
  fail("", null);
  said.textContent = "Reading …";
  if (button) button.disabled = true;
  try {
    const found = await call("/api/topics", asked);
    form.elements.topic.value = found.keywords;
    if (!seeds.value.trim()) seeds.value = found.examples.join("\n");
    topicFile = file;
    said.textContent = file ? "The topic file is used." : "";
  } catch (error) {
    said.textContent = "";
    fail(error.message, form.elements.topic);
  } finally {
    if (button) button.disabled = false;
  }
}

document.getElementById("topic-file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const text = await file.text();
  await fillTopic({ file: text }, null, text);
});
document.getElementById("find-words").addEventListener("click", (event) => {
  if (!seeds.value.trim()) return fail("Name example pages below.", seeds);
  fillTopic({ examples: seeds.value }, event.target);
});

function fail(words, field) {
  failed.textContent = words;
  field?.focus();
}

for (const kind of ["dragenter", "dragover"]) {
  seeds.addEventListener(kind, (event) => { event.preventDefault(); seeds.classList.add("dropping"); });
}
for (const kind of ["dragleave", "drop"]) seeds.addEventListener(kind, () => seeds.classList.remove("dropping"));
seeds.addEventListener("drop", async (event) => {
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  seeds.value = await file.text();
});

document.getElementById("file").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) seeds.value = await file.text();
});

const open = document.getElementById("open");
open.addEventListener("submit", async (event) => {
  event.preventDefault();
  const error = document.getElementById("open-error");
  error.textContent = "";
  try {
    const opened = await call("/api/collections", { folder: open.elements.folder.value });
    const { names, experiments } = opened;
    if (names.length + experiments.length !== 1) location.href = "/";
    else location.href = names.length ? `/c/${encodeURIComponent(names[0])}` : `/lab/${encodeURIComponent(experiments[0])}`;
  } catch (problem) {
    error.textContent = problem.message;
  }
});
