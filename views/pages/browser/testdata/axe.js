// Loads axe, and has it look at the page, folded and open, light and dark. Where every
// text of every page would be judged for its colours, that would take longer than all
// the rest: they are judged once for each signature (signatures.js).
(async () => {
  await new Promise((resolve, reject) => {
    const loaded = document.createElement("script");
    Object.assign(loaded, { src: "/axe.js", onload: resolve, onerror: reject });
    document.head.append(loaded);
  });
  // Half of the page, of which axe says nothing: scripts, the lines of icons, and what is
  // closed. The keys have a state in which they are open.
  for (const element of document.querySelectorAll("script, svg[aria-hidden=true] > *, dialog:not([open])")) element.remove();
  axe.configure({ rules: [{ id: "color-contrast", selector: "[data-judge]" }] });

  const everything = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
  const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };
  const off = { enabled: false }, on = { enabled: true };
  const options = { selectors: false, elementRef: true, preload: false };
  const list = (violations) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `\n${id}: ${html.slice(0, 160)}: ${failureSummary.replaceAll(/\s+/g, " ")}`)).join("");
  const settle = (theme) => {
    document.documentElement.dataset.theme = theme;
    for (const running of document.getAnimations()) running.finish();
  };
  const folds = document.querySelectorAll("main details:not([open])");

  const folded = async () => {
    if (!folds.length) return "";
    settle("light");
    const rules = { "target-size": on, "color-contrast": off, "link-in-text-block": off };
    const found = list((await axe.run(document, { ...options, runOnly: everything, rules, resultTypes: ["violations"] })).violations);
    frame.take();
    return found;
  };

  let texts; // by signature
  const open = (theme) => {
    for (const fold of folds) fold.open = true;
    settle(theme);
    texts = signatures();
    return [...texts.keys()].join(" ");
  };

  // Everything, or in the dark, which changes nothing else, the colours: of the texts
  // with these signatures. Those that it is sure of need not be asked again; it is not of
  // what lies under something, and a page may differ a little from the next.
  const opened = async (theme, fresh) => {
    for (const signature of fresh) texts.get(signature).dataset.judge = "";
    const runOnly = theme === "dark" ? colours : everything, rules = { "target-size": theme === "dark" ? off : on };
    const { violations, passes } = await axe.run(document, { ...options, runOnly, rules, resultTypes: ["violations", "passes"] });
    for (const signature of fresh) delete texts.get(signature).dataset.judge;
    frame.take();
    const sure = new Set();
    for (const { id, nodes } of passes) {
      if (id !== "color-contrast") continue;
      for (const { element, any } of nodes) if (any[0].data?.contrastRatio > 1.1 * parseFloat(any[0].data.expectedContrastRatio)) sure.add(element);
    }
    return JSON.stringify({ found: list(violations), sure: fresh.filter((signature) => sure.has(texts.get(signature))) });
  };
  window.barriers = { folded, open, opened };
  return "";
})()
