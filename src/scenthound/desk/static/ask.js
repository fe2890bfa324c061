// The Ask page: results are appended as they are found, and never move.
import { apiOf, attempt, call, el, say } from "./desk.js";
import { seedFinding } from "./finding.js";

const byId = (id) => document.getElementById(id);
const form = byId("asking");
const errorLine = byId("ask-error");
const chosenSource = seedFinding(form, fail);
let collection = null; // name of the crawl that answers the question
let isKept = false;
let source = null;

function fail(message, field) {
  errorLine.textContent = message;
  field?.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});

// Once there are results, changing the strategy or the number of pages asks the question again.
form.addEventListener("change", (event) => {
  if (collection && ["radio", "checkbox"].includes(event.target.type)) ask();
});

async function ask() {
  fail("", null);
  const { topic, seeds, strategy, pages, per_seed } = form.elements;
  if (!topic.value.trim()) return fail("Enter what you are looking for.", topic);
  if (!seeds.value.trim() && !chosenSource()) return fail("Enter at least one starting page, or find some.", seeds);
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    const crawl = await call("/api/questions", {
      query: topic.value, seeds: seeds.value, source: seeds.value.trim() ? "" : chosenSource(),
      strategy: strategy.value, pages: Number(pages.value), per_seed: per_seed.checked && !per_seed.disabled,
    });
    if (collection && !isKept) call(apiOf(collection, "/discard"), {}).catch((error) => say(error.message, true));
    history.replaceState(null, "", `/ask?${new URLSearchParams({ c: crawl.name })}`); // so that the Back button returns to it
    follow(crawl.name, topic.value, strategy.value);
  } catch (error) {
    fail(error.message, topic);
  } finally {
    button.disabled = false;
  }
}

/** Shows existing results, after going back or reloading. */
async function restore(name) {
  const [facts, answer] = await Promise.all([call(apiOf(name)), call(apiOf(name, "/hits"))]).catch(() => []);
  if (!answer) return history.replaceState(null, "", "/ask");
  form.elements.topic.value ||= facts.topic;
  follow(name, facts.topic, facts.strategy);
  if (answer.kept) markKept();
  return null;
}

const updatePerSeed = () => { form.elements.per_seed.disabled = form.elements.strategy.value === "infospiders"; };
form.addEventListener("change", updatePerSeed); // each spider has its own list anyway

function follow(name, question, strategy) {
  source?.close();
  collection = name;
  isKept = false;
  byId("asked").textContent = question;
  byId("hits").replaceChildren();
  byId("progress-words").textContent = "Starting…";
  byId("ranking").hidden = true;
  byId("answer").hidden = false;
  for (const id of ["stop", "keep", "discard"]) Object.assign(byId(id), { hidden: false, disabled: false });
  byId("spiders").hidden = strategy !== "infospiders";
  byId("spiders").setAttribute("href", `/c/${encodeURIComponent(name)}/agents`);
  let queue = Promise.resolve();
  source = new EventSource(apiOf(name, "/events"));
  source.addEventListener("overview", (event) => {
    const facts = JSON.parse(event.data);
    if (!facts.is_running) end(name);
    queue = queue.then(() => add(name, facts.is_running)).then(() => showProgress(name, facts))
      .catch((error) => say(error.message, true));
  });
}

function showProgress(name, facts) {
  if (name !== collection) return;
  const newHits = byId("hits").querySelectorAll("li.new").length;
  const relevant = `${facts.on_topic} relevant, ${newHits} of them not starting pages`;
  byId("progress-words").textContent = facts.is_running
    ? `${facts.pages} of ${facts.budget} pages fetched; ${relevant}…`
    : `${facts.pages} pages fetched; ${relevant}; ${facts.why}.`;
}

async function add(name, isRunning) {
  if (name !== collection) return;
  const list = byId("hits");
  const answer = await call(apiOf(name, `/hits?after=${list.children.length}`));
  if (name !== collection) return;
  list.append(...answer.hits.map((hit) => row(name, hit)));
  if (isRunning || answer.is_running) return;
  byId("ranked").replaceChildren(...answer.ranked.map((hit) => row(name, hit)));
  byId("ranking").hidden = !answer.ranked.length;
}

function end(name) {
  if (name !== collection) return;
  source.close();
  byId("stop").hidden = true;
}

function row(name, hit) {
  const from = hit.is_seed ? "starting page"
    : `found ${hit.anchor.trim() ? `through “${hit.anchor.slice(0, 60)}” ` : ""}on ${hit.parent_title || hit.parent}`;
  const base = `/c/${encodeURIComponent(name)}`;
  const agents = byId("spiders").hidden ? null : `${base}/agents/${hit.spider}`;
  const spider = hit.spider === null ? []
    : [", by ", agents ? el("a", { href: agents }, `spider ${hit.spider}`) : `frontier ${hit.spider}`];
  const href = /^https?:/.test(hit.url) ? hit.url : null;
  return el("li", { class: hit.is_seed ? null : "new" },
    el("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, hit.title || hit.url),
    el("span", { class: "score on", title: "relevance" }, ` ${hit.relevance.toFixed(2)} `),
    el("span", { class: "url quiet-text" }, hit.url.slice(0, 120)),
    el("br"), el("span", { class: "quiet-text" }, from, ...spider, " · "),
    el("a", { class: "quiet-text", href: `${base}/page?${new URLSearchParams({ url: hit.url })}` }, "why"));
}

byId("stop").addEventListener("click", (event) =>
  attempt(() => call(apiOf(collection, "/orders"), { action: "stop", value: "" }), event.currentTarget));
byId("keep").addEventListener("click", async (event) => {
  const kept = await attempt(() => call(apiOf(collection, "/keep"), {}), event.currentTarget);
  if (!kept) return;
  markKept();
  say(`Kept in ${kept.folder}.`);
});
byId("discard").addEventListener("click", async (event) => {
  const name = collection;
  source?.close();
  const deleted = await attempt(() => call(apiOf(name, "/discard"), {}), event.currentTarget);
  if (!deleted) return;
  collection = null;
  history.replaceState(null, "", "/ask");
  byId("answer").hidden = true;
  say("Deleted.");
});

function markKept() {
  isKept = true;
  byId("keep").hidden = byId("discard").hidden = true;
}

const shown = new URLSearchParams(location.search).get("c");
if (shown) restore(shown);
