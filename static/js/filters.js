// A filter that is chosen by pointer counts at once. By keyboard a list changes
// with every arrow: there its button is pressed, as it is without script.
let pointed = null;

document.addEventListener("pointerdown", (event) => { pointed = event.target; });
document.addEventListener("keydown", () => { pointed = null; });
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field.matches("[data-submit-on-change]") && pointed === field) field.form?.requestSubmit();
});
