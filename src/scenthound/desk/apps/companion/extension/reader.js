// Runs in the active page. Returns its URL, title, text and links, or null if the page asks for a password.
// Reports the seconds for which the page was visible each time it is hidden or left.
(() => {
  const MOST_TEXT = 50_000;
  const MOST_LINKS = 500;
  const shorten = (text) => text.replace(/\s+/g, " ").trim().slice(0, 200).toWellFormed(); // a cut may halve a character
  if (document.contentType !== "text/html" || document.querySelector("input[type=password]")) return null;
  if (!globalThis.scenthoundReads) {
    globalThis.scenthoundReads = true;
    let visibleSince = document.visibilityState === "visible" ? Date.now() : 0;
    document.addEventListener("visibilitychange", () => {
      const seconds = visibleSince ? (Date.now() - visibleSince) / 1000 : 0;
      visibleSince = document.visibilityState === "visible" ? Date.now() : 0;
      if (seconds >= 1) (globalThis.browser ?? chrome).runtime.sendMessage({ kind: "read", seconds }).catch(() => null);
    });
  }
  const links = [...document.links]
    .filter((link) => /^https?:/.test(link.protocol) && !/\b(nofollow|ugc|sponsored)\b/.test(link.rel))
    .slice(0, MOST_LINKS)
    .map((link) => ({ url: link.href, text: shorten(link.innerText || link.querySelector("img")?.alt || link.title || "") }));
  return { url: location.href, title: shorten(document.title), text: (document.body?.innerText ?? "").slice(0, MOST_TEXT).toWellFormed(), links };
})();
