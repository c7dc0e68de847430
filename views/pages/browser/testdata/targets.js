// Gives the page targets(), which lists what is too small to hit (24 px; 44 px by touch),
// what reaches over the right edge, and headings that lie over the cells that they name. Links within a sentence are as high as its lines,
// which WCAG allows; those in rows are not.
(() => {
  const whole = (one) => { // the box by which a target is hit: its label and what lies over it count
    const boxes = [one.getBoundingClientRect()];
    const label = one.closest("label") ?? (one.id ? document.querySelector(`label[for="${CSS.escape(one.id)}"]`) : null);
    if (label) boxes.push(label.getBoundingClientRect());
    for (const part of ["::before", "::after"]) {
      const style = getComputedStyle(one, part);
      if (style.content !== "none" && style.position === "absolute") {
        let box = one;
        while (getComputedStyle(box).position === "static" && box.parentElement) box = box.parentElement;
        boxes.push(box.getBoundingClientRect());
      }
    }
    return boxes;
  };
  window.targets = () => {
    const least = matchMedia("(pointer: coarse)").matches ? 44 : 24;
    const found = new Set();
    for (const running of document.getAnimations()) running.finish();
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth) {
      const wide = [...document.querySelectorAll("main *")].findLast((one) => one.getBoundingClientRect().right > page.clientWidth + 1);
      found.add(`scrolls sideways: ${page.scrollWidth} px of ${page.clientWidth}, by ${wide?.outerHTML.slice(0, 120)}`);
    }
    const targets = ":is(.row, .bulk-row, .batch-row, .panel, td) :is(a, button, label:has(input), summary), button, select, summary, .btn, input:not([type=hidden])";
    for (const one of document.querySelectorAll(`main :is(${targets})`)) {
      if (!one.checkVisibility({ visibilityProperty: true }) || one.closest(".sr-only, [aria-hidden=true]") || !one.getClientRects().length) continue;
      if (one.matches("td p a, td .untrusted a")) continue;
      const [own, ...more] = whole(one);
      const fits = ({ width, height }) => width >= least - 0.01 && height >= least - 0.01;
      if (least === 24 && one.matches(".row-link") && own.height < 24) found.add(`a row's link is ${own.height.toFixed(1)} px high`);
      if (![own, ...more].some(fits)) found.add(`${one.tagName.toLowerCase()}.${one.className} ${one.type ?? ""} is ${own.width.toFixed(1)} by ${own.height.toFixed(1)} px`);
    }
    const pen = document.createElement("canvas").getContext("2d");
    for (const cell of document.querySelectorAll("td[data-label]:not(:empty)")) {
      const heading = getComputedStyle(cell, "::before");
      if (heading.content === "none" || !cell.getClientRects().length) continue;
      if (heading.position === "static" && heading.display === "inline" && heading.float === "none") continue; // in the line, before its cell's text
      pen.font = `${heading.fontWeight} ${heading.fontSize} ${heading.fontFamily}`;
      const whole = heading.position === "absolute" || heading.whiteSpace === "nowrap"; // else it wraps between its words
      const needs = Math.max(...(whole ? [cell.dataset.label] : cell.dataset.label.split(" ")).map((part) => pen.measureText(part).width));
      const room = Number.parseFloat(getComputedStyle(cell).paddingLeft);
      if (needs > room) found.add(`the heading ${cell.dataset.label} lies over its cell: ${needs.toFixed(1)} in ${room} px`);
    }
    return [...found];
  };
  return "";
})()
