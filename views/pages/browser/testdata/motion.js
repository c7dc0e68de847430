// Lists what moves although the reader asked for no motion.
(() => {
  const found = new Set();
  for (const element of document.querySelectorAll("*")) {
    for (const part of [null, "::before", "::after", "::details-content"]) {
      if (part === "::details-content" && element.tagName !== "DETAILS") continue;
      const { transitionProperty, transitionDuration, animationName, scrollBehavior } = getComputedStyle(element, part);
      const moves = transitionProperty !== "none" && /[1-9]/.test(transitionDuration);
      if (moves || animationName !== "none" || scrollBehavior === "smooth") found.add(`${element.tagName.toLowerCase()}.${element.className}${part ?? ""} moves`);
    }
  }
  return [...found].map((line) => "\n" + line).join("");
})()
