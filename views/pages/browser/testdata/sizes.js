// Gives the page fits(themes, fonts, next): what contrast() and targets() find at this
// size, in these themes, with script and without ("js", "no"), and in these fonts; with
// everything folded and with everything open. Each change has the whole page styled and
// laid out anew, so a call begins with the folds and the font that the last has left, and
// ends with the theme that comes next, before the page has another size.
(() => {
  const page = document.documentElement;
  const folds = document.querySelectorAll("main details:not([open])");
  let worn, open = false;
  const wear = ([theme, script]) => {
    page.dataset.theme = theme;
    page.className = script;
  };
  const put = (font) => {
    if (font === worn) return;
    for (const name of ["--sans", "--font-sans"]) page.style.setProperty(name, `"${font}"`);
    worn = getComputedStyle(document.body).fontFamily.slice(1, -1);
    if (worn !== font) throw new Error(`the page is in ${worn}, not in ${font}`);
  };
  window.fits = (themes, fonts, next) => {
    const found = new Set();
    const note = (name, lines) => lines.forEach((line) => found.add(`${name}, ${open ? "open" : "folded"}: ${line}`));
    const look = () => {
      if (themes.length) note(themes.at(-1).join(", "), contrast());
      for (const font of fonts.toSorted((a, b) => (b === worn) - (a === worn))) {
        put(font);
        note(font, targets());
      }
    };
    for (const theme of themes) {
      wear(theme);
      if (theme !== themes.at(-1)) note(theme.join(", "), contrast());
    }
    look();
    if (folds.length && (themes.length || fonts.length)) {
      open = !open;
      for (const fold of folds) fold.open = open;
      look();
    }
    if (next) wear(next);
    return [...found].join("\n");
  };
  window.refused = () => new Promise((resolve) => {
    const list = (reports) => resolve(reports.map(({ body }) => `\nrefused: ${body.effectiveDirective} ${body.blockedURL}`).join(""));
    const observer = new ReportingObserver(list, { types: ["csp-violation"], buffered: true });
    observer.observe();
    setTimeout(() => list(observer.takeRecords()), 20);
  });
  return "";
})()
