// Gives the page signatures(): the texts that are shown, by a hash of all that their
// contrast comes of. Those with the same signature look the same, on whatever page; the
// map holds the first of each.
(() => {
  const properties = ["color", "-webkit-text-fill-color", "text-shadow", "font-size", "font-weight", "background-color", "background-image", "opacity", "filter", "mix-blend-mode", "position", "z-index", "display"];
  const fields = "input:not([type=hidden], [type=range], [type=color], [type=checkbox], [type=radio], [type=image]), select, textarea";
  const off = ":disabled, [aria-disabled=true], [inert], [aria-hidden=true]";

  const hash = (text) => { // cyrb53
    let a = 0xdeadbeef, b = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      a = Math.imul(a ^ c, 2654435761);
      b = Math.imul(b ^ c, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
  };
  const written = (element) => [...element.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.nodeValue : "")).join("").trim();

  window.signatures = () => {
    const unnamed = new Set([...document.querySelectorAll("[aria-labelledby]:disabled")].flatMap((one) => one.getAttribute("aria-labelledby").split(/\s+/)));
    const looks = new Map();
    const look = (element) => { // of an element and all around it
      if (!element) return "";
      if (!looks.has(element)) {
        const style = getComputedStyle(element);
        const muted = element.matches(off) || element.control?.disabled || unnamed.has(element.id);
        looks.set(element, hash([look(element.parentElement), element.localName, element.getAttribute("class"), muted, ...properties.map((name) => style.getPropertyValue(name))].join(";")));
      }
      return looks.get(element);
    };
    const shown = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility({ visibilityProperty: true }));
    const painted = shown.filter((one) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(one);
      return backgroundColor !== "rgba(0, 0, 0, 0)" || backgroundImage !== "none";
    }).map((box) => [box, box.getBoundingClientRect()]);
    const texts = new Map();
    for (const one of shown) {
      const isField = one.matches(fields), text = isField ? one.value : written(one);
      if (!text && !isField) continue;
      const at = one.getBoundingClientRect();
      // What is behind or over it, how much of it, and which of the two comes later.
      const layers = painted
        .filter(([box, by]) => box !== one && by.left < at.right && by.right > at.left && by.top < at.bottom && by.bottom > at.top && !one.contains(box))
        .map(([box, by]) => [look(box), by.left <= at.left && by.right >= at.right && by.top <= at.top && by.bottom >= at.bottom, one.compareDocumentPosition(box)].join());
      const words = /[\p{L}\p{N}]{2}/u.test(text) ? "words" : text; // a single sign is not judged
      const signature = hash([look(one), words, ...new Set(layers)].join(";"));
      if (!texts.has(signature)) texts.set(signature, one);
    }
    return texts;
  };
  return "";
})()
