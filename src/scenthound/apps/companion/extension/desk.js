// Shared by all parts of the extension: stored settings, calls to the desk, and helpers.
export const browser = globalThis.browser ?? globalThis.chrome;
export const PAGES = { origins: ["http://*/*", "https://*/*"] };
export const DESK = { origins: ["http://127.0.0.1/*"] };
export const BOOKMARKS = { permissions: ["bookmarks"] };
const DEFAULTS = { on: false, port: 0, token: "", excluded: [] };

/** The stored settings. Nothing about pages is stored, and no address except excluded sites. */
export const remembered = async () => ({ ...DEFAULTS, ...(await browser.storage.local.get(Object.keys(DEFAULTS))) });
export const remember = (values) => browser.storage.local.set(values);

/** Calls the desk. Throws an Error with the desk's message and the HTTP status, or status 0 if the desk does not respond. */
export async function call(path, body, pairing = null) {
  const { port, token } = pairing ?? (await remembered());
  if (!port) throw problem("Not paired yet. Open the options and enter the code shown by `scenthound companion`.", 401);
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
    throw problem(`The desk isn't running on port ${port}. Start it with: scenthound companion`, 0);
  }
  if (!answer.ok) throw problem(data.hint ? `${data.error}: ${data.hint}` : data.error, answer.status);
  return data;
}

function problem(message, status) {
  return Object.assign(new Error(message), { status });
}

/** Exchanges a code such as 8770-abcd-efgh for a token. */
export async function pair(text) {
  const [, port, code] = text.trim().toLowerCase().match(/^(\d{1,5})[\s-]+([a-z0-9]{4}[\s-]?[a-z0-9]{4})$/) ?? [];
  if (!code) throw problem("A code looks like 8770-abcd-efgh. Run `scenthound companion` to get one.", 400);
  const answer = await call("/pairings", { code }, { port: Number(port), token: "" });
  await remember({ port: Number(port), token: answer.token, excluded: answer.excluded });
}

/** Whether the site of an address, or a parent domain, is in the list. */
export function isExcluded(address, excluded) {
  const host = new URL(address).hostname;
  return excluded.some((site) => host === site || host.endsWith(`.${site}`));
}

/** Whether a page may be reported: the extension is on, and the page is neither private nor excluded nor the desk itself. */
export function mayReport(tab, address, state) {
  if (!state.on || !state.token || !tab || tab.incognito || !/^https?:/.test(address ?? "")) return false;
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
