// Searches the portal in the browser: fetches the index files of the query words and ranks the pages.
const BASE = new URL("../search/", import.meta.url);
const PAGE_SIZE = 20;
const MOST_WORDS = 300; // completions considered for one query word
const PREFIX_WEIGHT = 0.6; // weight of a word that only starts with the query word
const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", þ: "th", ł: "l", ħ: "h", ı: "i", ŧ: "t" };

async function read(name) {
  const reply = await fetch(new URL(name, BASE));
  if (reply.status === 404) return {};
  if (!reply.ok) throw new Error(`${name}: ${reply.status}`);
  return reply.json();
}

export function wordsOf(text) {
  const folded = text.toLowerCase().normalize("NFKD").replace(/\p{Mn}/gu, "").replace(/[ßæœøđðþłħıŧ]/g, (c) => LETTERS[c]);
  return [...new Set(folded.split(/[^\p{L}\p{N}]+/u).filter((word) => [...word].length > 1))];
}

export function shardOf(word) {
  const first = [...word].slice(0, 2);
  return /^[a-z0-9]{2}$/.test(first.join("")) ? first.join("") : "u" + first.map((c) => c.codePointAt(0).toString(16)).join("-");
}

// Returns the pages with a word that starts with `word`, as a map from page number to weight.
async function pagesWith(word) {
  const shard = await read(`words-${shardOf(word)}.json`);
  const weights = new Map();
  const completions = Object.keys(shard).filter((completion) => completion.startsWith(word)).slice(0, MOST_WORDS);
  for (const completion of completions) {
    const postings = shard[completion];
    let page = 0;
    for (let i = 0; i < postings.length; i += 2) {
      page += postings[i];
      const weight = (completion === word ? 1 : PREFIX_WEIGHT) * postings[i + 1];
      if (weight > (weights.get(page) ?? 0)) weights.set(page, weight);
    }
  }
  return weights;
}

async function search(query) {
  const about = await read("about.json");
  const stop = new Set(about.stop);
  const words = wordsOf(query).filter((word) => !stop.has(word));
  const lists = await Promise.all(words.map(pagesWith));
  const scores = new Map();
  const matched = new Map();
  for (const list of lists) {
    const idf = Math.log(1 + about.pages / Math.max(1, list.size));
    for (const [page, weight] of list) {
      scores.set(page, (scores.get(page) ?? 0) + weight * idf);
      matched.set(page, (matched.get(page) ?? 0) + 1);
    }
  }
  const most = Math.max(0, ...matched.values());
  const pages = [...scores.keys()].filter((page) => matched.get(page) === most);
  pages.sort((a, b) => scores.get(b) - scores.get(a) || a - b);
  return { pages, words, most, perFile: about.perFile };
}

function item(number, [title, url, category, snippet]) {
  const entry = document.createElement("li");
  const link = document.createElement("a");
  link.href = `p/${Number(number)}.html`;
  link.textContent = title;
  const facts = document.createElement("small");
  facts.textContent = `${category} · ${url}`;
  const text = document.createElement("span");
  text.className = "snippet";
  text.textContent = snippet;
  entry.append(link, document.createElement("br"), text, document.createElement("br"), facts);
  return entry;
}

async function show(query) {
  const status = document.getElementById("said");
  const list = document.getElementById("found");
  const more = document.getElementById("more");
  status.textContent = "Searching…";
  const { pages, words, most, perFile } = await search(query);
  if (!words.length) status.textContent = "Type a word to search for.";
  else if (!pages.length) status.textContent = "No pages match. Try fewer or shorter words.";
  else {
    const all = most === words.length ? "" : ` No page has all ${words.length} words; these have ${most}.`;
    status.textContent = `${pages.length.toLocaleString("en")} ${pages.length === 1 ? "page" : "pages"}.${all}`;
  }
  let shown = 0;
  const files = new Map();
  const showMore = async () => {
    more.disabled = true;
    for (const page of pages.slice(shown, shown + PAGE_SIZE)) {
      const file = Math.floor(page / perFile);
      if (!files.has(file)) files.set(file, await read(`pages-${file}.json`));
      const facts = files.get(file)[page];
      if (facts) list.append(item(page, facts));
    }
    shown += PAGE_SIZE;
    more.disabled = false;
    more.hidden = shown >= pages.length;
  };
  more.addEventListener("click", showMore);
  await showMore();
}

const status = document.getElementById("said");
if (status) {
  const query = new URLSearchParams(location.search).get("q") ?? "";
  document.querySelector("input[name=q]").value = query;
  show(query).catch((error) => {
    status.textContent = `Can't read the search index (${error.message}). Search works only if the portal is on a web server.`;
  });
}
