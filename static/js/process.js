// htmx processes new content a moment after it can be seen. A press in that moment
// would load a separate page, so the pressed element is processed first.
const uses = "[hx-get], [hx-post]";

for (const type of ["click", "submit"]) {
  window.addEventListener(type, (event) => {
    const used = event.target instanceof Element && event.target.closest(uses);
    if (used) globalThis.htmx?.process(used);
  }, true);
}
