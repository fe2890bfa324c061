// Runs in the page in front. Returns its address, title, text and links; null for a page that asks for a password.
// Sends the seconds for which it was looked at when it is left.
(() => {
  const TEXT = 50_000;
  const LINKS = 500;
  const short = (text) => text.replace(/\s+/g, " ").trim().slice(0, 200);
  if (document.contentType !== "text/html" || document.querySelector("input[type=password]")) return null;
  if (!globalThis.scenthoundReads) {
    globalThis.scenthoundReads = true;
    let since = document.visibilityState === "visible" ? Date.now() : 0;
    document.addEventListener("visibilitychange", () => {
      const seconds = since ? (Date.now() - since) / 1000 : 0;
      since = document.visibilityState === "visible" ? Date.now() : 0;
      if (seconds >= 1) (globalThis.browser ?? chrome).runtime.sendMessage({ kind: "read", seconds }).catch(() => null);
    });
  }
  const links = [...document.links]
    .filter((link) => /^https?:/.test(link.protocol) && !/\b(nofollow|ugc|sponsored)\b/.test(link.rel))
    .slice(0, LINKS)
    .map((link) => ({ url: link.href, text: short(link.innerText || link.querySelector("img")?.alt || link.title || "") }));
  return { url: location.href, title: short(document.title), text: (document.body?.innerText ?? "").slice(0, TEXT), links };
})();
