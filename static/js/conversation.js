// A conversation opens at its end. It follows new entries while its reader is at the end and about to click nothing;
// otherwise a line says that there are new entries.
const page = document.getElementById("conversation");
const history = document.getElementById("history");
const end = document.getElementById("end");

if (page?.hasAttribute("data-live") && history && end) {
  const composer = document.getElementById("composer");
  const below = document.querySelector("[data-below]");
  let atEnd = false; // until it has been looked at
  let grown = false;

  // The composer covers the bottom of the page: the end counts as seen only above it.
  new IntersectionObserver(([entry]) => {
    atEnd = entry.isIntersecting;
    if (atEnd) grown = false;
    below.hidden = !grown;
  }, { rootMargin: `0px 0px -${Math.max(0, composer.offsetHeight - 40)}px 0px` }).observe(end);

  // The page must not move under a reader who decides, or is about to.
  const about = "a:hover, button:hover, summary:hover, label:hover, input:hover, textarea:hover, :focus";
  const choosing = (added) => history.querySelector(about) !== null || !getSelection()?.isCollapsed
    || [...history.querySelectorAll("form")].some((form) => !added.some((node) => node.contains(form)));

  const follow = () => end.scrollIntoView({ block: "end" });
  const trouble = history.querySelector(".entry[data-kept], .entry > .flash:not([hidden])");
  if (trouble) trouble.scrollIntoView({ block: "center" });
  else if (!location.hash && performance.getEntriesByType("navigation")[0]?.type !== "back_forward") follow();

  // What came is noted first; then, when it has its size and before it is drawn,
  // the page moves or does not.
  let fresh = [];
  new MutationObserver((records) => fresh.push(...records.flatMap((record) => [...record.addedNodes])))
    .observe(history, { childList: true });
  new ResizeObserver(() => {
    const added = fresh.splice(0);
    if (atEnd && !choosing(added)) return follow();
    if (!added.some((node) => node.classList?.contains("entry"))) return;
    grown = true;
    below.hidden = atEnd;
  }).observe(page);

  // An entry that has joined a batch while it was refetched brings the whole batch.
  document.addEventListener("htmx:after:request", (event) => {
    const ctx = event.detail?.ctx;
    if (ctx?.target?.matches(".batch-call") && ctx.target === ctx.sourceElement) ctx.target = ctx.target.closest(".batch");
  });

  // A tail that was replaced would bring entries that are on the page already.
  document.addEventListener("htmx:before:swap", (event) => {
    const source = event.detail?.ctx?.sourceElement;
    if (source?.id === "tail" && !source.isConnected) event.preventDefault();
  });
}
