// The start page: the form that starts a crawl, and the form that opens a folder.
import { call } from "./desk.js";
import { seedFinding } from "./finding.js";

const form = document.getElementById("start");
const seeds = document.getElementById("seeds");
const errorLine = document.getElementById("start-error");
const chosenSource = seedFinding(form, fail);

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  errorLine.textContent = "";
  const { topic, pages, scope } = form.elements;
  if (!topic.value.trim()) {
    return fail(seeds.value.trim() ? "Enter what you are looking for, or derive keywords from these pages." : "Enter what you are looking for.", topic);
  }
  const seedSource = chosenSource();
  if (!seeds.value.trim() && !seedSource) return fail("Enter at least one starting page, or find some.", seeds);
  const number = Number(pages.value); // 0 for an empty field and for what is not a number
  if (!Number.isInteger(number) || number < 1 || number > Number(pages.max)) {
    return fail(`Enter how many pages to fetch: a whole number from 1 to ${Number(pages.max).toLocaleString("en")}.`, pages);
  }
  const button = form.querySelector("button");
  button.disabled = true;
  button.textContent = "Starting…";
  try {
    const crawl = await call("/api/crawls", {
      topic: topic.value, seeds: seeds.value, source: seeds.value.trim() ? "" : seedSource, pages: number, scope: scope.value,
      looking_for: form.elements.looking_for.value, topic_file: topicFile,
    });
    location.href = `/c/${encodeURIComponent(crawl.name)}`;
  } catch (error) {
    fail(error.message, topic);
    button.disabled = false;
    button.textContent = "Start";
  }
});

// ---- topics from a file or from example pages

let topicFile = "";
const topicStatus = document.getElementById("topic-said");

async function fillTopic(request, button, file = "") {
  fail("", null);
  topicStatus.textContent = "Reading…";
  if (button) button.disabled = true;
  try {
    const topic = await call("/api/topics", request);
    form.elements.topic.value = topic.keywords;
    if (!seeds.value.trim()) seeds.value = topic.examples.join("\n");
    if (file) form.elements.looking_for.value = topic.looking_for;
    topicFile = file;
    topicStatus.textContent = file ? "Using the topic file." : "";
  } catch (error) {
    topicStatus.textContent = "";
    fail(error.message, form.elements.topic);
  } finally {
    if (button) button.disabled = false;
  }
}

const looksLikeTopic = (file, text) => /\.toml$/i.test(file.name) || /^\s*keywords\s*=/m.test(text);

/** Reads a file that was chosen or dropped: a topic file, or starting pages. */
async function readFile(file, isTopicFile) {
  const text = await file.text();
  if (isTopicFile || looksLikeTopic(file, text)) return fillTopic({ file: text }, null, text);
  seeds.value = addressesIn(text).join("\n") || text;
  return null;
}

function onFileChosen(id, isTopicFile) {
  document.getElementById(id).addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await readFile(file, isTopicFile);
    event.target.value = ""; // allows choosing the same file again
  });
}
onFileChosen("topic-file", true);
onFileChosen("file", false);
document.getElementById("find-words").addEventListener("click", (event) => {
  if (!seeds.value.trim()) return fail("Enter example pages below.", seeds);
  fillTopic({ examples: seeds.value }, event.target);
});

function fail(message, field) {
  errorLine.textContent = message;
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
  await readFile(file, false);
});

/** The addresses in a browser's bookmarks file, HTML or JSON; none for other files. */
function addressesIn(text) {
  const isWeb = (address) => /^https?:/i.test(address);
  if (/^\s*<!doctype netscape-bookmark/i.test(text)) {
    const links = new DOMParser().parseFromString(text, "text/html").querySelectorAll("a[href]");
    return [...links].map((link) => link.getAttribute("href")).filter(isWeb);
  }
  try {
    const addresses = [];
    JSON.parse(text, (key, value) => { if (["uri", "url"].includes(key) && isWeb(value)) addresses.push(value); return value; });
    return addresses;
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
