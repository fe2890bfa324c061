// The portal's page: makes the portal, or brings it up to date, and opens it.
import { apiOf, call, collection, does } from "./desk.js";

does("build", async (button) => {
  const said = document.getElementById("build-said");
  button.disabled = true;
  said.textContent = "Working …";
  try {
    const made = await call(apiOf(collection(), "/portal"), {});
    said.textContent = `${made.pages} pages in ${made.categories.length} categories.`;
    location.href = `/c/${encodeURIComponent(collection())}/portal/index.html`;
  } catch (error) {
    said.textContent = error.message;
    button.disabled = false;
  }
});
