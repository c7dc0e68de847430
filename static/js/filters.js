// A filter that is chosen by pointer counts at once. By keyboard a list changes
// with every arrow: there its button is pressed, as it is without script.
let pointed = null;

document.addEventListener("pointerdown", (event) => { pointed = event.target; });
document.addEventListener("keydown", () => { pointed = null; });
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-submit-on-change]") && pointed === field) field.form?.requestSubmit();
});

// The menu of filters closes by a click beside it, and by Escape.
const menu = () => document.querySelector(".filter-menu[open]");
document.addEventListener("pointerdown", (event) => {
  if (menu() && !menu().contains(event.target)) menu().open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu()?.contains(document.activeElement)) return;
  const summary = menu().querySelector("summary");
  menu().open = false;
  summary.focus();
});
