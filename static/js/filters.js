// A filter that is chosen by pointer counts at once. By keyboard a list changes
// with every arrow: there its button is pressed, as it is without script.
let pointed = null;

document.addEventListener("pointerdown", (event) => { pointed = event.target; });
document.addEventListener("keydown", () => { pointed = null; });
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-submit-on-change]") && pointed === field) field.form?.requestSubmit();
});

// An open filter menu closes when something else is clicked, and with Escape.
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".filter-menu[open], .list-table details[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = event.target.closest?.(".filter-menu[open], .list-table details[open]");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
