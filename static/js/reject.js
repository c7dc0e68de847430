// Reasons to reject open with Reject, and belong to it: one that is chosen is
// cleared by choosing it again, by Escape or by Clear, and is never passed over.
const hint = (text) => document.dispatchEvent(new CustomEvent("countersign:hint", { detail: text }));
const chosen = (from) => from.querySelector("[name=preset]:checked:not([data-preset-none])");
const rejects = (form) => form.querySelector("[data-act=reject]");
const before = new WeakMap(); // a group of reasons to the one that is chosen

function draw(form) {
  const group = form?.querySelector("[data-presets]");
  if (!group) return;
  const one = chosen(group);
  before.set(group, one);
  group.querySelector("[data-preset-clear]").hidden = !one;
  for (const approve of form.querySelectorAll("[data-act=approve], [data-act=approve-edited]")) approve.dataset.variant = one ? "outline" : "primary";
  rejects(form).dataset.variant = one ? "primary" : "outline";
}

function clear(form) {
  const none = form.querySelector("[data-preset-none]");
  if (none) none.checked = true;
  draw(form);
}

document.addEventListener("click", (event) => {
  const radio = event.target.closest?.("[data-presets] [name=preset]");
  if (radio) {
    if (before.get(radio.closest("[data-presets]")) === radio) clear(radio.form);
    else draw(radio.form);
  } else if (event.target.closest?.("[data-preset-clear]")) {
    clear(event.target.form ?? event.target.closest("form"));
  }
});
document.addEventListener("change", (event) => { if (event.target.name === "preset" && event.target !== before.get(event.target.closest("[data-presets]"))) draw(event.target.form); });

// Closing the menu clears the choice made in it.
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("[data-reject]")) return;
  if (menu.open) menu.querySelector("[data-presets]").focus({ preventScroll: true });
  else clear(menu.closest("form"));
}, true);

window.addEventListener("keydown", (event) => {
  const group = event.target.closest?.("[data-presets]");
  if (event.key === "Escape") {
    if (event.target.matches?.("textarea, input:not([type=radio]), select")) return; // the field is left first
    const menu = document.querySelector("[data-reject][open]") ?? event.target.closest?.("details:has([data-presets])[open]");
    const form = menu?.checkVisibility() && (menu.closest("form") ?? menu.querySelector("form"));
    if (!form || form.matches("[data-asking]")) return;
    if (chosen(form)) clear(form);
    menu.open = false;
    menu.querySelector("summary").focus({ preventScroll: true });
  } else if (event.key === "Enter" && group && !event.target.closest("button")) {
    if (!event.repeat) document.dispatchEvent(new CustomEvent("countersign:press", { detail: { button: rejects(event.target.closest("form")), at: event.timeStamp } }));
  } else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

window.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches?.("[data-verdict]") || !chosen(form) || event.submitter === rejects(form) || event.submitter?.value === "discard") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  hint("A reject reason is chosen. Press Esc to clear it, or press Reject.");
}, true);

const drawAll = () => document.querySelectorAll("form:has([data-presets])").forEach(draw);
drawAll();
window.addEventListener("pageshow", drawAll);
document.addEventListener("htmx:after:swap", drawAll);
