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

const isTopic = (file, text) => /\.toml$/i.test(file.name) || /^\s*keywords\s*=/m.test(text);

/** A file that was chosen or dropped: a topic file, or pages to start from. */
async function take(file, isTopicFile) {
  const text = await file.text();
  if (isTopicFile || isTopic(file, text)) return fillTopic({ file: text }, null, text);
  seeds.value = addressesIn(text).join("\n") || text;
  return null;
}

function takeChosen(id, isTopicFile) {
  document.getElementById(id).addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await take(file, isTopicFile);
    event.target.value = ""; // the same file can be chosen again
  });
}
takeChosen("topic-file", true);
takeChosen("file", false);
document.getElementById("find-words").addEventListener("click", (event) => {
  if (!seeds.value.trim()) return fail("Name example pages below.", seeds);
  fillTopic({ examples: seeds.value }, event.target);
});

function fail(words, field) {
  failed.textContent = words;
  field?.focus();
}

// A file can be dropped anywhere on the form.
for (const kind of ["dragenter", "dragover"]) {
  form.addEventListener(kind, (event) => { event.preventDefault(); form.classList.add("dropping"); });
}
for (const kind of ["dragleave", "drop"]) form.addEventListener(kind, () => form.classList.remove("dropping"));
form.addEventListener("drop", async (event) => {
  const [file] = event.dataTransfer.files;
  if (!file) return;
  event.preventDefault();
  await take(file, false);
});

/** The addresses in a browser's bookmarks, HTML or JSON; none if it is another file, which is taken as it is. */
function addressesIn(text) {
  const isWeb = (address) => /^https?:/i.test(address);
  if (/^\s*<!doctype netscape-bookmark/i.test(text)) {
    const links = new DOMParser().parseFromString(text, "text/html").querySelectorAll("a[href]");
    return [...links].map((link) => link.getAttribute("href")).filter(isWeb);
  }
  try {
    const found = [];
    JSON.parse(text, (key, value) => { if (["uri", "url"].includes(key) && isWeb(value)) found.push(value); return value; });
    return found;
  } catch {
    return [];
  }
}

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
