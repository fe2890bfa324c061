// Finds starting pages with a seed source: the choice of a source, and the button that searches it.
import { call } from "./desk.js";

/** Sets up the choice in a form; `fail(message, field)` shows errors. Returns a function that returns the chosen source, or "". */
export function seedFinding(form, fail) {
  const { topic, seeds, source } = form.elements;
  const address = document.getElementById("address");
  const find = document.getElementById("find");
  const status = document.getElementById("found");
  const needsAddress = () => source.selectedOptions[0]?.dataset.asks === "true";
  const chosenSource = () => {
    if (!needsAddress()) return source.value;
    return address.value.trim() ? source.value + address.value.trim() : "";
  };

  source.addEventListener("change", () => { address.hidden = !needsAddress(); status.textContent = ""; });
  find.addEventListener("click", async () => {
    fail("", null);
    if (!topic.value.trim()) return fail("Enter what you are looking for.", topic);
    if (!chosenSource()) return fail("Choose a source.", needsAddress() ? address : source);
    find.disabled = true;
    status.textContent = "Searching…";
    try {
      const answer = await call("/api/seeds", { topic: topic.value, source: chosenSource() });
      const entered = seeds.value.split("\n").map((line) => line.trim()).filter(Boolean);
      seeds.value = [...new Set([...entered, ...answer.seeds])].join("\n");
      const count = answer.seeds.length;
      status.textContent = count === 1 ? "1 page found" : `${count} pages found`;
    } catch (error) {
      status.textContent = "";
      fail(error.message, topic);
    } finally {
      find.disabled = false;
    }
  });
  return chosenSource;
}
