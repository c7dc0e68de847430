// A part of the page that a person is filling in is never swapped away. When its
// fresh form differs (data-state), a line says so and offers to reload.
const filled = (field) => {
  if (field.type === "hidden" || field.disabled) return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field instanceof HTMLSelectElement) return [...field.options].some((o) => o.selected !== o.defaultSelected);
  return field.value !== field.defaultValue;
};

// What answers a form that was sent (data-kept) is kept as well: what was typed is
// no change to its own page.
function busy(region) {
  if (region.hasAttribute("data-kept")) return true;
  const active = document.activeElement;
  if (region.contains(active) && active.matches("textarea, input:not([type=hidden]), select")) return true;
  return [...region.querySelectorAll("input, textarea, select")].some(filled);
}

function state(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return parsed.querySelector("[data-state]")?.dataset.state;
}

document.addEventListener("htmx:before:swap", (event) => {
  const ctx = event.detail?.ctx;
  const region = ctx?.target;
  if (!(region instanceof Element) || !region.hasAttribute("data-guard")) return;
  if (ctx.sourceElement !== region || !busy(region)) return;
  event.preventDefault();
  if (state(ctx.text ?? "") === region.dataset.state) return;
  const note = region.querySelector("[data-guard-note]");
  if (note) note.hidden = false;
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-reload]")) {
    event.preventDefault();
    location.reload();
  }
});
