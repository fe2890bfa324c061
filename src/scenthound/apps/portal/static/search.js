// Searches the portal in the browser: fetches the files of the words that are asked for, and ranks the pages.
const BASE = new URL("../search/", import.meta.url);
const PER_TURN = 20;
const MOST_WORDS = 300; // words that one begun word may stand for
const BEGUN = 0.6; // what a word counts that only begins as asked
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

// The pages that have a word, or one that begins with it: a map from page number to weight.
async function pagesWith(word) {
  const shard = await read(`words-${shardOf(word)}.json`);
  const found = new Map();
  const begun = Object.keys(shard).filter((other) => other.startsWith(word)).slice(0, MOST_WORDS);
  for (const other of begun) {
    const list = shard[other];
    let page = 0;
    for (let i = 0; i < list.length; i += 2) {
      page += list[i];
      const weight = (other === word ? 1 : BEGUN) * list[i + 1];
      if (weight > (found.get(page) ?? 0)) found.set(page, weight);
    }
  }
  return found;
}

async function search(query) {
  const about = await read("about.json");
  const stop = new Set(about.stop);
  const words = wordsOf(query).filter((word) => !stop.has(word));
  const lists = await Promise.all(words.map(pagesWith));
  const scores = new Map();
  const matched = new Map();
  for (const list of lists) {
    const rarity = Math.log(1 + about.pages / Math.max(1, list.size));
    for (const [page, weight] of list) {
      scores.set(page, (scores.get(page) ?? 0) + weight * rarity);
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
  const said = document.getElementById("said");
  const list = document.getElementById("found");
  const more = document.getElementById("more");
  said.textContent = "Searching …";
  const { pages, words, most, perFile } = await search(query);
  if (!words.length) said.textContent = "Write a word to search for.";
  else if (!pages.length) said.textContent = "No page has these words. Shorter words find more.";
  else {
    const all = most === words.length ? "" : ` None has all ${words.length} words; these have ${most}.`;
    said.textContent = `${pages.length.toLocaleString("en")} ${pages.length === 1 ? "page" : "pages"}.${all}`;
  }
  let shown = 0;
  const files = new Map();
  const turn = async () => {
    more.disabled = true;
    for (const page of pages.slice(shown, shown + PER_TURN)) {
      const file = Math.floor(page / perFile);
      if (!files.has(file)) files.set(file, await read(`pages-${file}.json`));
      const facts = files.get(file)[page];
      if (facts) list.append(item(page, facts));
    }
    shown += PER_TURN;
    more.disabled = false;
    more.hidden = shown >= pages.length;
  };
  more.addEventListener("click", turn);
  await turn();
}

const said = document.getElementById("said");
if (said) {
  const query = new URLSearchParams(location.search).get("q") ?? "";
  document.querySelector("input[name=q]").value = query;
  show(query).catch((error) => {
    said.textContent = `The search index can't be read (${error.message}). Is this page opened from a web server?`;
  });
}
