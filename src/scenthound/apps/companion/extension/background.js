// Reports the page in front to the desk, if the extension is on, and what teaches: reading time and bookmarks.
import { browser, call, mayReport, remember, remembered } from "./desk.js";

browser.tabs.onUpdated.addListener((id, changed, tab) => {
  if (changed.status === "complete" && tab.active) report(tab);
});
browser.tabs.onActivated.addListener(async ({ tabId }) => report(await browser.tabs.get(tabId)));

browser.runtime.onMessage.addListener((message, sender) => {
  if (sender.id !== browser.runtime.id) return;
  if (message.kind === "read") teach(sender.tab, { kind: "read", url: sender.url, seconds: message.seconds });
  if (message.kind === "switched on") reportFront();
});

// Without the permission there is no `bookmarks`; it may be granted later.
let hearsBookmarks = false;
function hearBookmarks() {
  if (hearsBookmarks || !browser.bookmarks) return;
  hearsBookmarks = true;
  browser.bookmarks.onCreated.addListener(async (_, { url }) => {
    const [tab] = await browser.tabs.query({ active: true, lastFocusedWindow: true });
    if (tab?.url === url) teach(tab, { kind: "bookmark", url });
  });
}
hearBookmarks();
browser.permissions.onAdded.addListener(hearBookmarks);

async function reportFront() {
  const [tab] = await browser.tabs.query({ active: true, lastFocusedWindow: true });
  if (tab) report(tab);
}

async function report(tab) {
  if (!mayReport(tab, tab.url, await remembered())) return;
  try {
    const [{ result: page }] = await browser.scripting.executeScript({ target: { tabId: tab.id }, files: ["reader.js"] });
    if (page) await heard(call("/visits", { ...page, private: tab.incognito }));
  } catch { /* a page that no extension may read, or no desk: the panel says so when it is opened */ }
}

async function teach(tab, lesson) {
  if (!mayReport(tab, lesson.url, await remembered())) return;
  await heard(call("/lessons", { ...lesson, private: tab.incognito })).catch(() => null);
}

async function heard(answer) {
  const { excluded } = await answer;
  await remember({ excluded });
}

// The button opens the panel: Chromium's side panel, Firefox's sidebar.
if (browser.sidePanel) browser.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
else browser.action.onClicked.addListener(() => browser.sidebarAction.toggle());
