// What all parts of the extension share: what it remembers, and how it calls the desk.
export const browser = globalThis.browser ?? globalThis.chrome;
export const PAGES = { origins: ["http://*/*", "https://*/*"] };
export const DESK = { origins: ["http://127.0.0.1/*"] };
export const BOOKMARKS = { permissions: ["bookmarks"] };
const FRESH = { on: false, port: 0, token: "", excluded: [] };

/** What the extension remembers: nothing of pages, and no address but those that are excluded. */
export const remembered = async () => ({ ...FRESH, ...(await browser.storage.local.get(Object.keys(FRESH))) });
export const remember = (values) => browser.storage.local.set(values);

/** Call the desk. Throws an Error with its message, and with the status if there was an answer. */
export async function call(path, body, pairing = null) {
  const { port, token } = pairing ?? (await remembered());
  if (!port) throw problem("Not paired yet. Open the options and type the code that `scenthound companion` shows.", 401);
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const options = { method: body === undefined ? "GET" : "POST", headers, credentials: "omit", cache: "no-store" };
  if (body !== undefined) options.body = JSON.stringify(body);
  let answer, data;
  try {
    answer = await fetch(`http://127.0.0.1:${port}/api/companion${path}`, options);
    data = await answer.json();
  } catch {
    throw problem(`No desk answers on port ${port}. Start it: scenthound companion`, 0);
  }
  if (!answer.ok) throw problem(data.hint ? `${data.error}: ${data.hint}` : data.error, answer.status);
  return data;
}

function problem(words, status) {
  return Object.assign(new Error(words), { status });
}

/** Exchange the code, as 8770-abcd-efgh, for a token. */
export async function pair(text) {
  const [, port, code] = text.trim().toLowerCase().match(/^(\d{1,5})[\s-]+([a-z0-9]{4}[\s-]?[a-z0-9]{4})$/) ?? [];
  if (!code) throw problem("A code looks like 8770-abcd-efgh. `scenthound companion` shows it.", 400);
  const answer = await call("/pairings", { code }, { port: Number(port), token: "" });
  await remember({ port: Number(port), token: answer.token, excluded: answer.excluded });
}

/** Whether a site, or one that it belongs to, is in the list. */
export function isExcluded(address, excluded) {
  const host = new URL(address).hostname;
  return excluded.some((site) => host === site || host.endsWith(`.${site}`));
}

/** Whether a page may be reported at all: the extension is on, and the page is a public one that is not excluded. */
export function mayReport(tab, address, state) {
  if (!state.on || !state.token || !tab || tab.incognito || !/^https?:/.test(address ?? "")) return false;
  if (new URL(address).origin === `http://127.0.0.1:${state.port}`) return false;
  return !isExcluded(address, state.excluded);
}

/** An element with attributes and children; text is always text. */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
