// A choice of a filter counts at once, by pointer and by keyboard. The page that answers has the focus where it was.
const key = "countersign-filter";

document.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-submit-on-change]")) return;
  sessionStorage.setItem(key, target.id);
  target.form.requestSubmit();
});

const field = document.getElementById(sessionStorage.getItem(key) ?? "");
sessionStorage.removeItem(key);
if (field) {
  const menu = field.closest("details");
  if (menu) menu.open = true;
  field.focus({ preventScroll: true });
}
