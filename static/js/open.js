// A link to something folded opens it, and goes to what can be filled in there.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-opens]");
  const fold = link && document.getElementById(link.dataset.opens);
  if (!(fold instanceof HTMLDetailsElement)) return;
  event.preventDefault();
  fold.open = true;
  const field = fold.querySelector("textarea, input:not([type=hidden]), select");
  fold.scrollIntoView({ block: "nearest" });
  (field ?? fold.querySelector("summary"))?.focus({ preventScroll: true });
  field?.scrollIntoView({ block: "nearest" });
});

// A field is scrolled clear of the bar at the bottom, whatever the bar's height.
const bar = () => [...document.querySelectorAll(".decide-bar, .decide")].find((part) => getComputedStyle(part).position === "sticky" && part.checkVisibility());
const sizes = new ResizeObserver(measure);
let measured;
let height = -1;

function measure() {
  const now = bar();
  if (now !== measured) {
    sizes.disconnect();
    measured = now;
    if (now) sizes.observe(now);
  }
  const before = height;
  height = now?.offsetHeight ?? 0;
  // The whole page is styled again for it.
  if (height !== before) document.documentElement.style.setProperty("--bar", `${height}px`);
  // A bar that grows does not hide the field that is being edited.
  const field = document.activeElement;
  if (height > before && field?.matches(".edit-body :is(textarea, input, select)")) field.scrollIntoView({ block: "nearest" });
}

// An editor that is opened by its own summary is scrolled clear of the bar too.
document.addEventListener("click", (event) => {
  const editor = event.target.closest(".editor > summary")?.parentElement;
  if (!editor || editor.open) return; // it opens after the click
  editor.addEventListener("toggle", () => editor.querySelector(".edit-body :is(textarea, input:not([type=hidden]), select)")?.scrollIntoView({ block: "nearest" }), { once: true });
});

measure();
window.addEventListener("resize", measure);
document.addEventListener("htmx:after:swap", measure);
