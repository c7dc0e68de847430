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

// What is gone to is scrolled clear of the bar at the bottom, as high as that is.
const bar = () => [...document.querySelectorAll(".decide-bar, .decide")].find((part) => getComputedStyle(part).position === "sticky" && part.checkVisibility());
const sizes = new ResizeObserver(measure);
let measured = null;

function measure() {
  const now = bar() ?? null;
  if (now !== measured) {
    sizes.disconnect();
    measured = now;
    if (now) sizes.observe(now);
  }
  document.documentElement.style.setProperty("--bar", `${now?.offsetHeight ?? 0}px`);
}

measure();
window.addEventListener("resize", measure);
document.addEventListener("htmx:after:swap", measure);
