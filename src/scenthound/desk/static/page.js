// The page of one URL. Labels and orders are handled by desk.js; `o` shows the stored copy.
import { does } from "./desk.js";

does("copy", (link, event) => {
  event.preventDefault();
  document.getElementById("copy")?.scrollIntoView({ block: "start" });
});
