// htmx takes up what it has put on the page a moment after it can be seen. What is
// pressed in that moment would load a page of its own; so it is taken up first.
const uses = "[hx-get], [hx-post]";

for (const type of ["click", "submit"]) {
  window.addEventListener(type, (event) => {
    const used = event.target instanceof Element && event.target.closest(uses);
    if (used) globalThis.htmx?.process(used);
  }, true);
}
