// Focuses every element that the keyboard reaches, and lists those whose focus is
// not seen: no outline and no shadow comes with it, neither of the element nor of
// what stands for it, its pseudo-elements and the three boxes around it.
(() => {
  const reached = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]:not([tabindex='-1']), [contenteditable]";
  const one = (element, part) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow } = getComputedStyle(element, part);
    const outline = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 && !/\/ 0\)|, 0\)|transparent/.test(outlineColor) ? `${outlineStyle} ${outlineWidth} ${outlineColor}` : "";
    return `${outline}|${boxShadow === "none" ? "" : boxShadow}`;
  };
  const look = (element) => {
    const around = [element.parentElement, element.parentElement?.parentElement, element.parentElement?.parentElement?.parentElement];
    return [one(element, null), one(element, "::before"), one(element, "::after"), ...around.map((box) => (box ? one(box, null) : ""))].join(";");
  };
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  const found = [];
  let seen = 0;
  for (const element of document.querySelectorAll(reached)) {
    if (element.disabled || !element.checkVisibility({ visibilityProperty: true })) continue;
    document.activeElement?.blur();
    const before = look(element);
    element.focus({ focusVisible: true, preventScroll: true });
    seen++;
    const name = `${element.tagName.toLowerCase()}${element.id && "#" + element.id}.${element.className}`;
    if (document.activeElement !== element) found.push(`${name} cannot have the focus`);
    else if (look(element) === before) found.push(`${name} does not show its focus`);
  }
  if (!seen && document.querySelector("main") && document.querySelector("header.top")) found.push("nothing can have the focus");
  return [...new Set(found)].map((line) => "\n" + line).join("");
})()
