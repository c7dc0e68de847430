// Lists what should not be on paper, and what should be and is not.
(() => {
  const found = [];
  for (const element of document.querySelectorAll("nav, form, button, input, select, textarea, dialog, .btn")) {
    if (element.checkVisibility()) found.push(`${element.tagName.toLowerCase()}.${element.className} is printed`);
  }
  for (const element of document.querySelectorAll("main details:not(.confirm, .menu) pre")) {
    if (element.closest("form, .confirm, .decide, .composer")) continue;
    if (!element.checkVisibility({ contentVisibilityAuto: true, opacityProperty: true }) || !element.getClientRects().length) found.push(`a folded ${element.className || "text"} is not printed`);
  }
  if (![...document.querySelectorAll("h1, h2")].some((title) => title.checkVisibility())) found.push("the page has no title");
  const dark = document.createElement("canvas").getContext("2d");
  dark.fillStyle = getComputedStyle(document.body).backgroundColor;
  if (dark.fillStyle !== "#ffffff") found.push(`it is printed on ${dark.fillStyle}`);
  return [...new Set(found)].map((line) => "\n" + line).join("");
})()
