// The list is one stop of the tabulator, however long it is. Up, Down, Home and End go from row to row, Left and Right
// to what else a row has, and the space bar ticks it. Without script each of them is a stop.
const side = document.querySelector(".desk-side");
const parts = (li) => [...li.querySelectorAll(":scope > .row-pick input, :scope > .row-link, :scope > .row-undo button, :scope > details > summary, :scope > .group-stop a")];
const main = (li) => li.querySelector(":scope > .row-link, :scope > details > summary");
const lines = () => [...side.querySelectorAll("#inbox li[data-id], #inbox li[data-group]")].filter((li) => main(li)?.checkVisibility());
let stop = null;

function settle() {
  if (!stop?.isConnected || !stop.checkVisibility()) {
    const shown = lines();
    const current = side.querySelector("#inbox li[aria-current=true]");
    const line = shown.find((li) => li === current) ?? shown.find((li) => li.contains(current)) ?? shown[0];
    stop = line ? main(line) : null;
  }
  for (const li of side.querySelectorAll("#inbox li[data-id], #inbox li[data-group]")) {
    for (const part of parts(li)) {
      const index = part === stop ? 0 : -1;
      if (part.tabIndex !== index) part.tabIndex = index;
    }
  }
}

function go(event) {
  const at = event.target;
  const li = at.closest("li");
  if (!li || !parts(li).includes(at)) return null;
  const all = lines();
  const other = { ArrowDown: 1, ArrowUp: -1, Home: -all.length, End: all.length }[event.key];
  if (other) {
    const to = all[Math.min(Math.max(all.indexOf(li) + other, 0), all.length - 1)];
    return at.matches("input") ? to.querySelector(":scope > .row-pick input") ?? main(to) : main(to);
  }
  const beside = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (beside) return parts(li)[parts(li).indexOf(at) + beside] ?? at;
  return null;
}

if (side) {
  new MutationObserver(settle).observe(side, { subtree: true, childList: true, attributes: true, attributeFilter: ["tabindex", "open"] });
  side.addEventListener("focusin", ({ target }) => {
    if (!target.closest("#inbox ol.rows")) return;
    stop = target;
    settle();
  });
  side.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return;
    const tick = event.key === " " && event.target.matches("#inbox .row-link") ? event.target.closest("li").querySelector(".row-pick input") : null;
    const to = go(event);
    if (!tick && !to) return;
    event.preventDefault();
    tick?.click();
    to?.focus();
    to?.closest("li").scrollIntoView({ block: "nearest" });
  });
  settle();
}
