// Runs axe over the page, with everything folded and with everything open, and
// lists what it finds: theme, rule, selector, why. Colours are looked at with
// everything open, when all text is there; of the dark theme only they are, for it
// changes nothing else.
(async () => {
  await new Promise((resolve, reject) => {
    const loaded = document.createElement("script");
    Object.assign(loaded, { src: "/axe.js", onload: resolve, onerror: reject });
    document.head.append(loaded);
  });
  document.querySelector("script[src='/axe.js']").remove();
  const everything = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
  const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
  const found = new Set();
  const look = async (theme, runOnly, withColours = true) => {
    document.documentElement.dataset.theme = theme;
    for (const running of document.getAnimations()) running.finish();
    const rules = { "target-size": { enabled: runOnly === everything } };
    if (!withColours) for (const id of colours.values) rules[id] = { enabled: false };
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"], rules });
    for (const { id, nodes } of violations) {
      for (const { target, failureSummary } of nodes) found.add(`${theme}: ${id}: ${target.join(" ")}: ${failureSummary.replaceAll(/\s+/g, " ")}`);
    }
  };
  const folded = document.querySelectorAll("main details:not([open])");
  if (folded.length) await look("light", everything, false);
  for (const fold of folded) fold.open = true;
  await look("light", everything);
  await look("dark", colours);
  return [...found].map((line) => "\n" + line).join("");
})()
