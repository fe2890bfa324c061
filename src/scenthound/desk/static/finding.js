// Pages to start from, found by a source: the choice of a source, and the button that asks it.
import { call } from "./desk.js";

/** Makes the choice in a form work; `fail(words, field)` says what is wrong. Gives a function: the source to ask, or "". */
export function seedFinding(form, fail) {
  const { topic, seeds, source } = form.elements;
  const address = document.getElementById("address");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const needsAddress = () => source.selectedOptions[0]?.dataset.asks === "true";
  const sourceAsked = () => {
    if (!needsAddress()) return source.value;
    return address.value.trim() ? source.value + address.value.trim() : "";
  };

  source.addEventListener("change", () => { address.hidden = !needsAddress(); found.textContent = ""; });
  find.addEventListener("click", async () => {
    fail("", null);
    if (!topic.value.trim()) return fail("Say what you are looking for.", topic);
    if (!sourceAsked()) return fail("Choose where to look for pages.", needsAddress() ? address : source);
    find.disabled = true;
    found.textContent = "Asking …";
    try {
      const answer = await call("/api/seeds", { topic: topic.value, source: sourceAsked() });
      const given = seeds.value.split("\n").map((line) => line.trim()).filter(Boolean);
      seeds.value = [...new Set([...given, ...answer.seeds])].join("\n");
      const count = answer.seeds.length;
      found.textContent = count === 1 ? "1 page found" : `${count} pages found`;
    } catch (error) {
      found.textContent = "";
      fail(error.message, topic);
    } finally {
      find.disabled = false;
    }
  });
  return sourceAsked;
}
