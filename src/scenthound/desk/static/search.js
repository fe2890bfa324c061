// The search page: moving the slider between topic and text repeats the search; empty fields are not submitted.
const form = document.querySelector("form[role=search]");
form.elements.weight.addEventListener("change", () => { if (form.elements.q.value.trim() || form.elements.like) form.submit(); });
form.addEventListener("submit", () => {
  for (const field of form.elements) if (field.name && !field.value) field.disabled = true;
});
