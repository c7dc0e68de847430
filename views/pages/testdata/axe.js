// Runs axe over the page, with everything folded and with everything open, and
// lists what it finds: theme, rule, selector, why. Of the dark theme only colours
// are looked at, for it changes nothing else, and with everything open.
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
  const look = async (theme, runOnly) => {
    document.documentElement.dataset.theme = theme;
    for (const running of document.getAnimations()) running.finish();
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"], rules: { "target-size": { enabled: runOnly === everything } } });
    for (const { id, nodes } of violations) {
      for (const { target, failureSummary } of nodes) found.add(`${theme}: ${id}: ${target.join(" ")}: ${failureSummary.replaceAll(/\s+/g, " ")}`);
    }
  };
  await look("light", everything);
  const folded = document.querySelectorAll("main details:not([open])");
  for (const fold of folded) fold.open = true;
  if (folded.length) await look("light", everything);
  await look("dark", colours);
  return [...found].map((line) => "\n" + line).join("");
})()
