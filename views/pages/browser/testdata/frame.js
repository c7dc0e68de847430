// Gives the page frame: what is around main and the same on many pages, with a key of how
// it is made and drawn. Where it was looked at on another page, it is taken out, which
// halves the page; put brings it back.
(() => {
  const parts = document.querySelector("body > main") ? [...document.body.children].filter((part) => !part.matches("main, script, dialog:not([open])")) : [];
  const made = (element) => {
    const { display, position, color, backgroundColor, fontSize } = getComputedStyle(element);
    const attributes = element.matches("#live, #live *, [role=status], time") ? [] : [...element.attributes].map(({ name, value }) => `${name}=${value}`);
    return [element.localName, ...attributes, display, position, color, backgroundColor, fontSize].join();
  };
  const places = new Map();
  window.frame = {
    key: [document.documentElement, document.body, ...parts.flatMap((part) => [part, ...part.querySelectorAll(":not(svg *)")])].map(made).join(";"),
    known: false,
    take() {
      for (const part of parts.filter((part) => this.known && part.isConnected)) {
        places.set(part, new Comment());
        part.replaceWith(places.get(part));
      }
      return "";
    },
    put() {
      for (const [part, place] of places) place.replaceWith(part);
      places.clear();
      return "";
    },
  };
  return parts.length ? frame.key : "";
})()
