// Reports the active page, reading times and new bookmarks to the desk while the extension is on.
import { addExcluded, browser, call, mayReport, remembered } from "./desk.js";

browser.tabs.onUpdated.addListener((id, changed, tab) => {
  if (changed.status === "complete" && tab.active) report(tab);
});
browser.tabs.onActivated.addListener(async ({ tabId }) => report(await browser.tabs.get(tabId)));

browser.runtime.onMessage.addListener((message, sender) => {
  if (sender.id !== browser.runtime.id) return;
  if (message.kind === "read") teach(sender.tab, { kind: "read", url: sender.url, seconds: message.seconds });
  if (message.kind === "switched on") reportActive();
});

// `browser.bookmarks` exists only with the permission, which may be granted later.
let watchesBookmarks = false;
function watchBookmarks() {
  if (watchesBookmarks || !browser.bookmarks) return;
  watchesBookmarks = true;
  browser.bookmarks.onCreated.addListener(async (_, { url }) => {
    const [tab] = await browser.tabs.query({ active: true, lastFocusedWindow: true });
    if (tab?.url === url) teach(tab, { kind: "bookmark", url });
  });
}
watchBookmarks();
browser.permissions.onAdded.addListener(watchBookmarks);

async function reportActive() {
  const [tab] = await browser.tabs.query({ active: true, lastFocusedWindow: true });
  if (tab) report(tab);
}

async function report(tab) {
  if (!mayReport(tab, tab.url, await remembered())) return;
  try {
    const [{ result: page }] = await browser.scripting.executeScript({ target: { tabId: tab.id }, files: ["reader.js"] });
    if (page) await updateExcluded(call("/visits", { ...page, private: tab.incognito }));
  } catch { /* the page can't be read by extensions, or the desk isn't running: the panel says so when it is opened */ }
}

async function teach(tab, lesson) {
  if (!mayReport(tab, lesson.url, await remembered())) return;
  await updateExcluded(call("/lessons", { ...lesson, private: tab.incognito })).catch(() => null);
}

// Every answer of the desk carries its list of excluded sites.
async function updateExcluded(answer) {
  const { excluded } = await answer;
  await addExcluded(excluded);
}

// The toolbar button opens Chromium's side panel or Firefox's sidebar.
if (browser.sidePanel) browser.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
else browser.action.onClicked.addListener(() => browser.sidebarAction.toggle());
