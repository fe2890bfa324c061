// A question: results are added at the end as they are found, and never move.
import { apiOf, attempt, call, el, say } from "./desk.js";
import { seedFinding } from "./finding.js";

const byId = (id) => document.getElementById(id);
const form = byId("asking");
const failed = byId("ask-error");
const sourceAsked = seedFinding(form, fail);
let asked = null; // the collection that answers
let isKept = false;
let source = null;

function fail(words, field) {
  failed.textContent = words;
  field?.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});

// Once there is an answer, another algorithm or number of pages is one click: the question is asked again with it.
form.addEventListener("change", (event) => {
  if (asked && ["radio", "checkbox"].includes(event.target.type)) ask();
});

async function ask() {
  fail("", null);
  const { topic, seeds, strategy, pages, per_seed } = form.elements;
  if (!topic.value.trim()) return fail("Say what you are looking for.", topic);
  if (!seeds.value.trim() && !sourceAsked()) return fail("Name a page to start from, or find some.", seeds);
  const button = form.querySelector("button.primary");
  button.disabled = true;
  try {
    const begun = await call("/api/questions", {
      query: topic.value, seeds: seeds.value, source: seeds.value.trim() ? "" : sourceAsked(),
      strategy: strategy.value, pages: Number(pages.value), per_seed: per_seed.checked && !per_seed.disabled,
    });
    if (asked && !isKept) call(apiOf(asked, "/discard"), {}).catch((error) => say(error.message, true));
    history.replaceState(null, "", `/ask?${new URLSearchParams({ c: begun.name })}`); // so that “back” finds it again
    follow(begun.name, topic.value, strategy.value);
  } catch (error) {
    fail(error.message, topic);
  } finally {
    button.disabled = false;
  }
}

/** Show an answer that there is: after “back”, or a reload. */
async function find(name) {
  const [found, answer] = await Promise.all([call(apiOf(name)), call(apiOf(name, "/hits"))]).catch(() => []);
  if (!answer) return history.replaceState(null, "", "/ask");
  form.elements.topic.value ||= found.topic;
  follow(name, found.topic, found.strategy);
  if (answer.kept) keep();
  return null;
}

const noFrontiers = () => { form.elements.per_seed.disabled = form.elements.strategy.value === "infospiders"; };
form.addEventListener("change", noFrontiers); // spiders have a list each anyway

function follow(name, words, strategy) {
  source?.close();
  asked = name;
  isKept = false;
  byId("asked").textContent = words;
  byId("hits").replaceChildren();
  byId("progress-words").textContent = "Starting …";
  byId("ranking").hidden = true;
  byId("answer").hidden = false;
  for (const id of ["stop", "keep", "discard"]) Object.assign(byId(id), { hidden: false, disabled: false });
  byId("spiders").hidden = strategy !== "infospiders";
  byId("spiders").setAttribute("href", `/c/${encodeURIComponent(name)}/agents`);
  let waiting = Promise.resolve();
  source = new EventSource(apiOf(name, "/events"));
  source.addEventListener("overview", (event) => {
    const facts = JSON.parse(event.data);
    if (!facts.is_running) end(name);
    waiting = waiting.then(() => add(name, facts.is_running)).then(() => tell(name, facts))
      .catch((error) => say(error.message, true));
  });
}

function tell(name, facts) {
  if (name !== asked) return;
  const found = byId("hits").querySelectorAll("li.new").length;
  const relevant = `${facts.on_topic} relevant, ${found} of them not among the pages to start from`;
  byId("progress-words").textContent = facts.is_running
    ? `${facts.pages} of ${facts.budget} pages fetched; ${relevant} …`
    : `${facts.pages} pages fetched; ${relevant}; ${facts.why}.`;
}

async function add(name, isRunning) {
  if (name !== asked) return;
  const list = byId("hits");
  const answer = await call(apiOf(name, `/hits?after=${list.children.length}`));
  if (name !== asked) return;
  list.append(...answer.hits.map((hit) => row(name, hit)));
  if (isRunning || answer.is_running) return;
  byId("ranked").replaceChildren(...answer.ranked.map((hit) => row(name, hit)));
  byId("ranking").hidden = !answer.ranked.length;
}

function end(name) {
  if (name !== asked) return;
  source.close();
  byId("stop").hidden = true;
}

function row(name, hit) {
  const from = hit.is_seed ? "one of the pages to start from"
    : `found ${hit.anchor.trim() ? `by “${hit.anchor.slice(0, 60)}” ` : ""}on ${hit.parent_title || hit.parent}`;
  const collection = `/c/${encodeURIComponent(name)}`;
  const agents = byId("spiders").hidden ? null : `${collection}/agents/${hit.spider}`;
  const spider = hit.spider === null ? []
    : ["; ", agents ? el("a", { href: agents }, `spider ${hit.spider}`) : `frontier ${hit.spider}`, " brought it"];
  const href = /^https?:/.test(hit.url) ? hit.url : null;
  return el("li", { class: hit.is_seed ? null : "new" },
    el("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, hit.title || hit.url),
    el("span", { class: "score on", title: "relevance" }, ` ${hit.relevance.toFixed(2)} `),
    el("span", { class: "url quiet-text" }, hit.url.slice(0, 120)),
    el("br"), el("span", { class: "quiet-text" }, from, ...spider, " · "),
    el("a", { class: "quiet-text", href: `${collection}/page?${new URLSearchParams({ url: hit.url })}` }, "why"));
}

byId("stop").addEventListener("click", (event) =>
  attempt(() => call(apiOf(asked, "/orders"), { action: "stop", value: "" }), event.currentTarget));
byId("keep").addEventListener("click", async (event) => {
  const kept = await attempt(() => call(apiOf(asked, "/keep"), {}), event.currentTarget);
  if (!kept) return;
  keep();
  say(`Kept in ${kept.folder}.`);
});
byId("discard").addEventListener("click", async (event) => {
  const name = asked;
  source?.close();
  const gone = await attempt(() => call(apiOf(name, "/discard"), {}), event.currentTarget);
  if (!gone) return;
  asked = null;
  history.replaceState(null, "", "/ask");
  byId("answer").hidden = true;
  say("Thrown away.");
});

function keep() {
  isKept = true;
  byId("keep").hidden = byId("discard").hidden = true;
}

const shown = new URLSearchParams(location.search).get("c");
if (shown) find(shown);
