// The page of one URL. Labels and orders are handled by desk.js; the shortcut `o` scrolls to the stored copy.
import { onAction } from "./desk.js";

onAction("copy", (link, event) => {
  event.preventDefault();
  document.getElementById("copy")?.scrollIntoView({ block: "start" });
});
