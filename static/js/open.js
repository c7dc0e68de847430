// A link to something folded opens it, and goes to what can be filled in there.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-opens]");
  const fold = link && document.getElementById(link.dataset.opens);
  if (!(fold instanceof HTMLDetailsElement)) return;
  event.preventDefault();
  fold.open = true;
  const field = fold.querySelector("textarea, input:not([type=hidden]), select");
  fold.scrollIntoView({ block: "nearest" });
  (field ?? fold.querySelector("summary"))?.focus({ preventScroll: field === null });
});
