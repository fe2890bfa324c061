// Shared by all parts of the extension: stored settings, calls to the desk, and helpers.
export const browser = globalThis.browser ?? globalThis.chrome;
export const PAGES = { origins: ["http://*/*", "https://*/*"] };
export const DESK = { origins: ["http://127.0.0.1/*"] };
export const BOOKMARKS = { permissions: ["bookmarks"] };
const DEFAULTS = { on: false, port: 0, key: "", excluded: [], added: [] };
const EXAMPLE = "8770-abcde-fghjk-mnpqr-stuvw-xyz23";
const SITE = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/;
const MOST_SITES = 1000;

/**
 * The stored settings. Nothing about pages is stored, and no address except excluded sites: `excluded` are those of this
 * person, `added` those of the desk; both together are returned as `excluded`.
 */
export async function remembered() {
  const stored = { ...DEFAULTS, ...(await browser.storage.local.get(Object.keys(DEFAULTS))) };
  return { ...stored, excluded: union(stored.excluded, stored.added) };
}
export const remember = (values) => browser.storage.local.set(values);
const union = (...lists) => [...new Set(lists.flat())].sort();

/** Adds the desk's excluded sites. No answer can shorten the list: only a person does, on the options page. */
export async function addExcluded(sites) {
  if (!Array.isArray(sites)) return;
  const { added } = { ...DEFAULTS, ...(await browser.storage.local.get("added")) };
  const valid = sites.slice(0, MOST_SITES).filter((site) => typeof site === "string" && SITE.test(site));
  const all = union(added, valid);
  if (all.length > added.length) await remember({ added: all });
}

/** The name of a site as a person may write it: `https://www.example.org/page` is `example.org`. */
export function siteOf(text) {
  const name = text.toLowerCase().replace(/^.*?:\/\//, "").replace(/\/.*$/, "").replace(/^www\./, "").replace(/^\.+|\.+$/g, "");
  if (!SITE.test(name)) throw problem(`“${text.slice(0, 80)}” is not the name of a site. Write it like example.org.`, 400);
  return name;
}

// ---- calls to the desk: it has to prove that it knows the key before anything is sent, and the key itself never is

const encoder = new TextEncoder();
const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const digest = async (text) => hex(await crypto.subtle.digest("SHA-256", encoder.encode(text)));

async function mac(key, ...parts) {
  const imported = await crypto.subtle.importKey("raw", encoder.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", imported, encoder.encode(parts.join("\n"))));
}

const addressOf = (port, path) => new URL(`http://127.0.0.1:${port}/api/companion${path}`);
const OPTIONS = { credentials: "omit", cache: "no-store", redirect: "error" };
const JSON_TYPE = { "Content-Type": "application/json" };
const TIMEOUT = 20_000; // milliseconds

/** Sends a request and returns [answer, data]. Throws if there is no answer in JSON. */
async function send(address, options) {
  try {
    const answer = await fetch(address, { ...OPTIONS, signal: AbortSignal.timeout(TIMEOUT), ...options });
    return [answer, await answer.json()];
  } catch {
    throw problem(`The desk isn't running on port ${address.port}. Start it with: scenthound companion`, 0);
  }
}

/** Lets the desk prove that it knows the key; returns its nonce for one request. What it says otherwise is not shown. */
async function challenge(port, key, isPairing) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)));
  const body = JSON.stringify({ nonce, pairing: isPairing });
  const [, data] = await send(addressOf(port, "/challenges"), { method: "POST", headers: JSON_TYPE, body });
  const given = typeof data?.nonce === "string" ? data.nonce : "";
  if (/^[0-9a-f]{64}$/.test(given) && data.proof === (await mac(key, "desk", port, nonce, given))) return given;
  const what = isPairing ? "does not know this code: it may be mistyped, used or older than ten minutes" : "is not the desk that this browser is paired with";
  throw problem(`What listens on port ${port} ${what}. Nothing was sent to it. Run \`scenthound companion\`, and enter the code it shows in the options.`, 401);
}

/** Calls the desk. Throws an Error with the desk's message and the HTTP status, or status 0 if the desk does not respond. */
export async function call(path, body, pairing = null) {
  const { port, key } = pairing ?? (await remembered());
  if (!port || !key) throw problem("Not paired yet. Open the options and enter the code shown by `scenthound companion`.", 401);
  const address = addressOf(port, path);
  const method = body === undefined ? "GET" : "POST";
  const content = body === undefined ? "" : JSON.stringify(body);
  const nonce = await challenge(port, key, pairing !== null);
  const proof = await mac(key, "request", port, nonce, method, address.pathname + address.search, await digest(content));
  const headers = { Authorization: `Scenthound nonce=${nonce}, mac=${proof}`, ...(content ? JSON_TYPE : {}) };
  const [answer, data] = await send(address, { method, headers, ...(content ? { body: content } : {}) });
  if (!answer.ok) throw problem(data.hint ? `${data.error}: ${data.hint}` : data.error, answer.status);
  return data;
}

function problem(message, status) {
  return Object.assign(new Error(message), { status });
}

/** Derives the key from a code such as 8770-abcde-…, and lets the desk keep it. Neither is sent. */
export async function pair(text) {
  const [, port, code] = text.trim().toLowerCase().match(/^(\d{1,5})[\s-]+([a-z0-9](?:[\s-]*[a-z0-9]){24})$/) ?? [];
  if (!code) throw problem(`A code looks like ${EXAMPLE}. Run \`scenthound companion\` to get one.`, 400);
  const key = await mac(code.replace(/[\s-]/g, ""), "key", browser.runtime.getURL("").replace(/\/$/, ""));
  const { excluded } = await call("/pairings", {}, { port: Number(port), key });
  await remember({ port: Number(port), key });
  await addExcluded(excluded);
}

/** Whether the site of an address, or a parent domain, is in the list. */
export function isExcluded(address, excluded) {
  const host = new URL(address).hostname;
  return excluded.some((site) => host === site || host.endsWith(`.${site}`));
}

/** Whether a page may be reported: the extension is on, and the page is neither private nor excluded nor the desk itself. */
export function mayReport(tab, address, state) {
  if (!state.on || !state.key || !tab || tab.incognito || !/^https?:/.test(address ?? "")) return false;
  if (new URL(address).origin === `http://127.0.0.1:${state.port}`) return false;
  return !isExcluded(address, state.excluded);
}

/** Creates an element. Strings among the children become text nodes, never HTML. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
